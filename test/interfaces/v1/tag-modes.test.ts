import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { nameKeys } from '../../../src/domain/text/fold-text.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()
let organizationId: string
let live: ReturnType<typeof service.v1>
let test: ReturnType<typeof service.v1>
let testKey: string
let liveKey: string
beforeAll(async () => {
  const organization = await service.make.organization()
  organizationId = organization.id
  liveKey = organization.key
  testKey = (await createApiKey(service.system, { organizationId, name: 'test', mode: 'test' })).key
  live = service.v1(liveKey)
  test = service.v1(testKey)
})

const create = async (client: typeof live, name: string): Promise<string> => {
  const { status, body } = await client.post('/tags').send({ name })
  expect(status).toBe(201)
  return body.tag.id
}
const nameOf = async (id: string) => (await service.db.tag.findUniqueOrThrow({ where: { id } })).name

describe("a test key's tags", () => {
  it('are listed and used only by test keys', async () => {
    const [liveTag, testTag] = [await create(live, 'Engineering'), await create(test, 'Trial')]
    const ids = (body: { tags: { id: string }[] }) => body.tags.map(({ id }) => id)
    expect(ids((await live.get('/tags')).body)).toEqual([liveTag])
    expect(ids((await test.get('/tags?sort=name&order=asc')).body)).toEqual([liveTag, testTag])
    const alternate = async (key: string) => (await service.alternate(key).get('/tags')).body.count
    expect([await alternate(liveKey), await alternate(testKey)]).toEqual([1, 2])

    const assessment = await service.make.assessment(organizationId)
    const invite = (client: typeof live) =>
      client.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'kim@example.com', tagIds: [liveTag, testTag] })
    const refused = await invite(live)
    expect([refused.status, refused.body.error]).toEqual([400, `tagIds must be of this organization: ${testTag} is not`])
    expect((await invite(test)).body.invite.id).toBeDefined()
    const found = async (client: typeof live) => (await client.get(`/invites?tagId=${testTag}`)).body.pagination.total
    expect([await found(live), await found(test)]).toEqual([0, 1])
    expect((await live.get(`/tags/${testTag}`)).status).toBe(404)
    expect((await live.patch(`/tags/${testTag}`).send({ name: 'Mine' })).status).toBe(404)
    expect((await live.delete(`/tags/${testTag}`)).status).toBe(404)
  })

  it('are the only ones that test keys change and delete', async () => {
    const [liveTag, testTag] = [await create(live, 'Sales'), await create(test, 'Draft')]
    for (const answer of [await test.patch(`/tags/${liveTag}`).send({ name: 'Taken' }), await test.delete(`/tags/${liveTag}`)])
      expect([answer.status, answer.body, answer.headers['x-error-code']]).toEqual([
        400,
        { error: 'This tag is live: a test key changes test tags only' },
        'live_tag_read_only',
      ])
    expect(await nameOf(liveTag)).toBe('Sales')
    expect((await test.patch(`/tags/${testTag}`).send({ name: 'Second draft' })).body.tag.name).toBe('Second draft')
    expect((await test.delete(`/tags/${testTag}`)).status).toBe(200)
  })

  it('yield their name to a live tag that is created or renamed', async () => {
    const long = 'y'.repeat(100)
    const [first, second, third] = [await create(test, 'Nursing'), await create(test, 'nursing (test)'), await create(test, long)]
    const liveTag = await create(live, 'NURSING')
    expect([await nameOf(first), await nameOf(second)]).toEqual(['Nursing (test 2)', 'nursing (test)'])
    expect((await live.patch(`/tags/${liveTag}`).send({ name: long })).status).toBe(200)
    expect([await nameOf(liveTag), await nameOf(third)]).toEqual([long, `${'y'.repeat(93)} (test)`])
    expect((await test.post('/tags').send({ name: long })).status).toBe(409)
    expect((await test.patch(`/tags/${first}`).send({ name: long })).status).toBe(409)
  })

  it('yield their name to a live tag that is created at the same moment', async () => {
    const testTag = (name: string) => {
      const now = service.system.deps.clock()
      const times = { createdAt: now, updatedAt: now }
      return { id: uuidv7(), organizationId, mode: 'test' as const, name, ...nameKeys(name), color: '#6B7280', ...times }
    }
    const [named, suffixed] = [testTag('Parallel'), testTag('Parallel (test)')]
    const { sent } = await service.db.$transaction(async (db) => {
      await db.tag.createMany({ data: [named, suffixed] })
      const sent = live.post('/tags').send({ name: 'parallel' }).then()
      await waitUntil('the live tag to wait for the test tag', async () => {
        const waiting = await service.db.$queryRaw<object[]>`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return waiting.length > 0 || undefined
      })
      return { sent }
    })
    expect((await sent).status).toBe(201)
    expect([await nameOf(named.id), await nameOf(suffixed.id)]).toEqual(['Parallel (test 2)', 'Parallel (test)'])
  })

  it('are shown on pages of test data, next to live tags that can’t be edited there', async () => {
    const [liveTag, testTag] = [await create(live, 'Visible live'), await create(test, 'Visible test')]
    const admin = await signInAs(service, organizationId, ['admin'])
    const home = admin.home.replace('/portal/', '/portal/test/')
    expect((await admin.get(`${admin.home}tags`)).text).not.toContain('Visible test')
    const list = (await admin.get(`${home}tags`)).text
    expect(list).toContain('Visible live')
    expect(list).toContain('Visible test')
    expect((await admin.get(`${home}tags/${testTag}`)).text).toContain('Edit tag')
    const page = (await admin.get(`${home}tags/${liveTag}`)).text
    expect(page).not.toContain('Edit tag')
    expect(page).toContain(`href="${admin.home}tags/${liveTag}"`)
    const member = await service.make.member(organizationId)
    const form = (await admin.get(`${home}members/${member.id}`)).text
    expect([form.includes('Visible live'), form.includes('Visible test')]).toEqual([true, false])
    await admin.post(`${home}tags/${liveTag}`, { name: 'Changed', color: '#000000', description: '' })
    await admin.post(`${home}tags/${liveTag}/delete`)
    expect(await nameOf(liveTag)).toBe('Visible live')
  })

  it('are deleted with the other test data', async () => {
    const liveTag = await create(live, 'Kept')
    await create(test, 'Dropped')
    expect((await test.delete('/test-data')).status).toBe(200)
    const left = await service.db.tag.findMany({ where: { organizationId } })
    expect(left.map(({ mode }) => mode)).not.toContain('test')
    expect(left.map(({ id }) => id)).toContain(liveTag)
  })
})
