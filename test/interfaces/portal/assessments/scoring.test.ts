import { describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { EMPTY_QUESTION } from '../../../../src/domain/assessments/question-input.ts'
import { addDefinedQuestion, hashDefinition, updateDefinedQuestion } from '../../../../src/domain/assessments/write-question.ts'
import { consent } from '../../../support/candidate.ts'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { examplesOf, makeDefined } from '../../../support/kinds.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const [ONE, NUMBER] = examplesOf('single_choice', 'number')

/** Creates an assessment, and saves its settings with these changes as an admin. */
async function makeSet(definitions: (typeof ONE)[], texts: number, changed: Record<string, string>) {
  const made = await makeDefined(service, definitions as NonNullable<typeof ONE>[], { texts })
  const admin = await signInAs(service, made.organization.id, ['admin'])
  const path = `${admin.home}assessments/${made.assessment.id}/edit`
  const set = async (values: Record<string, string>) => {
    const fields = fieldsIn(await admin.get(path))
    return admin.post(path, { ...fields, ...values })
  }
  expect((await set(changed)).status).toBe(303)
  const releases = () => service.db.release.findMany({ where: { organizationId: made.organization.id } })
  return { ...made, admin, path, set, releases }
}

describe('automatic release of results', () => {
  it('releases on submission, in the name of the member who enabled it, if nothing needs a grader', async () => {
    const made = await makeSet([ONE!, NUMBER!], 0, { releaseAutomatically: 'yes', releaseToCandidate: 'yes' })
    await made.take([ONE!.right, NUMBER!.right])
    expect(await made.releases()).toMatchObject([
      {
        version: 1,
        releasedById: made.admin.member.id,
        toCandidate: true,
        grades: [
          { points: 10, by: 'key' },
          { points: 10, by: 'key' },
        ],
      },
    ])
    expect((await made.submission()).state).toBe('released')
    expect((await made.candidate.open()).text).toContain('20 of 20')
    const where = { organizationId: made.organization.id, action: 'released_result' }
    expect(await service.db.auditEntry.findMany({ where })).toMatchObject([{ actorId: made.admin.member.id }])
    expect(await service.db.event.count({ where: { organizationId: made.organization.id, type: 'submission.released' } })).toBe(1)
  })

  it('waits if a grader is needed, if it is off, or if the member who enabled it has left', async () => {
    const left = await makeSet([ONE!], 1, { releaseAutomatically: 'yes' })
    await left.take([ONE!.right])
    const off = await makeSet([ONE!], 0, {})
    await off.take([ONE!.right])
    const gone = await makeSet([ONE!], 0, { releaseAutomatically: 'yes' })
    await service.db.member.update({ where: { id: gone.admin.member.id }, data: { status: 'inactive' } })
    await gone.take([ONE!.right])
    for (const made of [left, off, gone]) {
      expect(await made.releases()).toEqual([])
      expect((await made.submission()).state).toBe('submitted')
    }
  })

  it('can be disabled over v1, and enabled by members only', async () => {
    const made = await makeSet([ONE!], 0, { releaseAutomatically: 'yes', penaltyPercent: '20' })
    const { key, apiKey } = await createApiKey(service.system, { organizationId: made.organization.id, name: 'm', mode: 'live' })
    await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
    const v1 = service.v1(key)
    const path = `/assessments/${made.assessment.id}`
    const { body } = await v1.get(`${path}/settings`).expect(200)
    expect(body.settings).toMatchObject({ releaseAutomatically: true, releaseToCandidate: false, penaltyPercent: 20 })
    await v1.patch(path).send({ name: 'Another' }).expect(200)
    await v1.patch(path).send({ releaseAutomatically: false, penaltyPercent: 0 }).expect(200)
    const refused = await v1.patch(path).send({ releaseAutomatically: true })
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('releaseAutomatically')])
    await v1.patch(path).send({ penaltyPercent: 101 }).expect(400)
  })
})

/** Opens the page before the start. */
async function prepared({ candidate }: Awaited<ReturnType<typeof makeSet>>) {
  await consent(candidate)
  return candidate.open()
}

it('records in exports if the key or a person gave the points', async () => {
  const made = await makeSet([ONE!], 1, {})
  await made.take([ONE!.right])
  const { text } = await made.admin.post(`${made.admin.home}results/assessments/${made.assessment.id}/export`)
  const [heads, row] = text.split('\r\n').map((line) => line.split(','))
  const of = Object.fromEntries(heads!.map((head, i) => [head, row![i]]))
  expect(of).toMatchObject({ question_1: '10', question_1_given_by: 'key', question_2: '', question_2_given_by: '' })
})

it('writes one audit entry with the definition', async () => {
  const made = await makeDefined(service, [ONE!])
  const input = { ...EMPTY_QUESTION, script: 'Which?', responseType: ONE!.responseType, points: 1 }
  const { spec, key, responseType } = ONE!
  const written = { input, definition: { responseType, spec, key }, faults: [] }
  const id = await addDefinedQuestion(made.ctx, made.assessment.id, written)
  const entries = () => service.db.auditEntry.findMany({ where: { targetId: id }, orderBy: { id: 'asc' } })
  expect((await entries()).map(({ action }) => action)).toEqual(['added_question'])
  const changed = { ...written, definition: { ...written.definition, spec: { ...(spec as object), shuffle: true } } }
  const { updatedAt } = await service.db.question.findFirstOrThrow({ where: { id } })
  const seen = { question: updatedAt, definition: hashDefinition(written.definition) }
  await updateDefinedQuestion(made.ctx, { assessmentId: made.assessment.id, questionId: id }, changed, seen)
  expect((await entries()).map(({ action }) => action)).toEqual(['added_question', 'updated_question'])
})

describe('the penalty of a wrong choice', () => {
  it('is shown before the start and at each question with a choice', async () => {
    const made = await makeSet([ONE!, NUMBER!], 0, { penaltyPercent: '25' })
    const { candidate } = made
    await made.start()
    await candidate.press('open', { number: '1' })
    expect((await candidate.open()).text).toContain('A wrong choice costs 25 % of the points.')
    await candidate.press('next', { number: '1' })
    await candidate.press('open', { number: '2' })
    expect((await candidate.open()).text).not.toContain('A wrong choice')
    const before = await makeSet([ONE!], 0, { penaltyPercent: '25' })
    const penaltyText = 'A wrong choice costs 25 % of the points of its question.'
    expect((await prepared(before)).text).toContain(penaltyText)
    const without = await makeSet([NUMBER!], 0, { penaltyPercent: '25' })
    expect((await prepared(without)).text).not.toContain('A wrong choice')
  })

  it('is a whole percentage from 0 to 100', async () => {
    const made = await makeSet([ONE!], 0, {})
    for (const penaltyPercent of ['-1', '101', '1.5', 'x']) {
      const { status, text } = await made.set({ penaltyPercent })
      expect([penaltyPercent, status, mistakesIn({ text }).length]).toEqual([penaltyPercent, 422, 1])
    }
    await made.set({ penaltyPercent: '' })
    expect((await service.db.assessment.findUniqueOrThrow({ where: { id: made.assessment.id } })).penaltyPercent).toBe(0)
  })
})
