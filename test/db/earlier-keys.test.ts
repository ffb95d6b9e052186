import { expect, it, onTestFinished } from 'vitest'
import { besideEarlierKey } from '../../src/db/earlier-keys.ts'
import { violatedConstraint } from '../../src/db/errors.ts'
import { openTestDatabase } from '../support/processes.ts'

it('is done once more when the earlier key refuses it, and not for any other', async () => {
  const { db, make } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const { id } = await make.organization()
  const name = 'Said twice'
  const insert = () => db.tag.create({ data: { ...(tag as object), id: crypto.randomUUID() } as never })
  const tag = await make.tag(id, { name })
  let tries = 0
  const statement = () => (tries++ === 0 ? insert() : db.tag.findFirstOrThrow({ where: { organizationId: id, name } }))
  expect(await besideEarlierKey('tags_name_key', statement)).toMatchObject({ id: tag.id })
  expect(tries).toBe(2)
  tries = 0
  const refused = await besideEarlierKey('takes_text_key', statement).catch((error) => error)
  expect([violatedConstraint(refused), tries]).toEqual(['tags_name_key', 1])
})
