import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ImportFormat } from '../../src/import/format.ts'
import { NewInviteBody } from '../../src/interfaces/v1/invites.view.ts'
import { NewQuestionBody } from '../../src/interfaces/v1/question-editing.view.ts'
import { assessmentEffects } from '../support/field-effects/assessments.ts'
import { createFieldWorld, type Effects, UNWRITTEN } from '../support/field-effects/effect.ts'
import { inviteEffects } from '../support/field-effects/invites.ts'
import { memberEffects } from '../support/field-effects/members.ts'
import { otherEffects } from '../support/field-effects/others.ts'
import { questionEffects } from '../support/field-effects/questions.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile({ RATE_LIMIT_ENTERPRISE: '2000000' })
const world = await createFieldWorld(service)
const { organizations, apiKeys, tags } = otherEffects(world)

/** Fields of an object, or of the objects in a list, of a schema. */
type Schema = { properties?: Record<string, object>; items?: Schema }
function fieldsOf(schema: object): Record<string, object> {
  const { properties, items } = schema as Schema
  return properties ?? items?.properties ?? {}
}
const imported = fieldsOf(ImportFormat.properties.organizations)
const importedAssessment = fieldsOf(imported.assessments!)
const { proctoringSettings, ...importedInvite } = fieldsOf(imported.invites!)
const { proctoringSettings: _, sendEmail, expiresInDays, ...invitedByApi } = NewInviteBody.properties

/** An organization's lists hold its other rows. A member's duties are stored as portal roles. */
const ENTITIES: [name: string, effects: Effects<string>, written: string[]][] = [
  ['an invite', inviteEffects(world), Object.keys({ ...importedInvite, ...fieldsOf(proctoringSettings!), ...invitedByApi })],
  ['a member', memberEffects(world), Object.keys(fieldsOf(imported.members!)).filter((field) => field !== 'duties')],
  ['an assessment', assessmentEffects(world), Object.keys(importedAssessment).filter((field) => field !== 'questions')],
  [
    'a question',
    questionEffects(world),
    Object.keys({ ...fieldsOf(importedAssessment.questions!), ...NewQuestionBody.properties }),
  ],
  ['an organization', organizations, Object.keys(imported).filter((field) => !fieldsOf(imported[field]!).id)],
  ['an API key', apiKeys, Object.keys(fieldsOf(imported.apiKeys!))],
  ['a tag', tags, Object.keys(fieldsOf(imported.tags!))],
]

describe.each(ENTITIES)('a field of %s', (_, effects, writable) => {
  const written = Object.entries(effects).flatMap(([field, effect]) =>
    typeof effect === 'object' && 'observe' in effect ? [[field, effect] as const] : [],
  )
  it.each(written)('%s changes what somebody sees', async (_, { observe, cases }) => {
    for (const [value, seen] of cases) expect(await observe(value as never)).toEqual(seen)
  })

  it('has an effect if the import or the API writes it', () => {
    expect(writable).not.toEqual([])
    expect(writable.filter((field) => (effects[field] ?? UNWRITTEN) === UNWRITTEN)).toEqual([])
  })

  it('is tested in the file that its effect names', () => {
    const elsewhere = Object.values(effects).flatMap((effect) => (typeof effect === 'object' && 'file' in effect ? [effect] : []))
    for (const { file, word } of elsewhere)
      expect([file, existsSync(file) && readFileSync(file, 'utf8').includes(word)]).toEqual([file, true])
  })
})
