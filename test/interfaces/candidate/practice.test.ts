import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { consent } from '../../support/candidate.ts'
import { fieldsIn } from '../../support/forms.ts'
import { examplesOf, makeDefined } from '../../support/kinds.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const OFFER = 'Try the kinds of questions first'
/** Parts of a scoring key that would reveal the right answer. */
const KEY_PARTS = /"weights"|"policy":|"pairs":|"share":|data-score/

/** Creates an accepted invite to questions of these response types, with practice enabled. */
async function makePracticed(words: string[], more: object = {}) {
  const made = await makeDefined(service, examplesOf(...words), more)
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { practice: true } })
  const { candidate, organization } = made
  const look = (query = '') => service.http().get(`${candidate.path}/practice${query}`)
  const attempt = (number: number, answers: readonly string[], then?: string) => {
    const fields = answers.map((answer): [string, string] => ['answer', answer])
    const form = new URLSearchParams([['proof', candidate.proof], ['number', String(number)], ...fields])
    if (then) form.set('then', then)
    return service.http().post(`${candidate.path}/practice`).type('form').send(form.toString())
  }
  const leftBehind = async () => {
    const { submission, answerAttempt, event, questionScore, auditEntry, invite } = service.db
    const where = { organizationId: organization.id }
    return [
      await submission.count({ where }),
      await answerAttempt.count({ where }),
      await event.count({ where }),
      await questionScore.count({ where }),
      await auditEntry.count({ where }),
      await invite.findMany({ where }),
    ]
  }
  return { ...made, look, attempt, leftBehind }
}

const readIn = (text: string) => /data-read>([^<]*)/.exec(text)?.[1]

it('offers an example of each kind in use, shows how an answer was read, not its score, and stores nothing', async () => {
  const examples = examplesOf()
  const { candidate, look, attempt, leftBehind } = await makePracticed([])
  const before = await leftBehind()
  expect((await candidate.open()).text).toContain(OFFER)
  for (const [i, { responseType, script, spec, right, wrong }] of examples.entries()) {
    const kind = kinds.get(responseType)!
    const shown = await look(`?example=${i + 1}`)
    expect(shown.status).toBe(200)
    expect(shown.text).toContain(script)
    expect(shown.text).toContain(`Example ${i + 1} of ${examples.length}`)
    expect(readIn(shown.text)).toBeUndefined()
    const answered = []
    for (const answer of [right, wrong]) {
      const { status, text } = await attempt(i + 1, kind.toForm(answer))
      expect(status).toBe(200)
      expect(readIn(text)).toBe(kind.describe(spec, answer))
      expect(text).not.toMatch(KEY_PARTS)
      answered.push(text.replace(/<form[\s\S]*?<\/form>/g, '').replace(/data-read>[^<]*/, ''))
    }
    expect(answered[0]).toBe(answered[1])
    expect((await attempt(i + 1, [])).text).toContain('No answer was read.')
    expect((await attempt(i + 1, kind.toForm(right), 'clear')).text).toContain('No answer was read.')
  }
  expect((await attempt(1, ['nooption'])).text).toContain('This question does not take such an answer.')
  expect(await leftBehind()).toEqual(before)
})

it('offers each kind once, and refers to the device check for recordings', async () => {
  const { look, candidate, assessment } = await makePracticed(['single_choice', 'single_choice'], { texts: 1 })
  expect((await look()).text).toContain('Example 1 of 1')
  expect((await look()).text).not.toContain('Go to the check')
  await service.db.question.updateMany({ where: { assessmentId: assessment.id, order: 2 }, data: { responseType: 'audio' } })
  expect((await look()).text).toContain('Go to the check')
  for (const query of ['?example=2', '?example=0', '?example=x'])
    expect((await look(query)).headers.location, query).toBe(candidate.path)
})

it('is offered only before the start, if it is enabled and an example exists', async () => {
  const { candidate, look, attempt, assessment } = await makePracticed(['number'])
  await consent(candidate)
  expect((await candidate.open()).text).toContain(OFFER)
  await service.db.assessment.update({ where: { id: assessment.id }, data: { practice: false } })
  expect((await candidate.open()).text).not.toContain(OFFER)
  expect([(await look()).status, (await attempt(1, ['1'])).status]).toEqual([303, 303])
  await service.db.assessment.update({ where: { id: assessment.id }, data: { practice: true } })
  await candidate.press('start')
  expect([(await look()).status, (await attempt(1, ['1'])).status]).toEqual([303, 303])
  const texts = await makePracticed(['none'], { texts: 1 })
  expect((await texts.candidate.open()).text).not.toContain(OFFER)
  await service.http().post(`${candidate.path}/practice`).type('form').send('number=1').expect(400)
  await service.http().get('/i/nothing/practice').expect(404)
})

it('is enabled in the portal or by a key, and copied with the assessment', async () => {
  const { organization, assessment, candidate } = await makeDefined(service, examplesOf('number'))
  expect((await candidate.open()).text).not.toContain(OFFER)
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}assessments/${assessment.id}`
  await admin.post(`${path}/edit`, { ...fieldsIn(await admin.get(`${path}/edit`)), practice: 'yes' }).expect(303)
  expect((await candidate.open()).text).toContain(OFFER)
  expect((await admin.get(path)).text).toContain('an example of each kind')
  expect(fieldsIn(await admin.get(`${path}/edit`))).toMatchObject({ practice: 'yes' })
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'm', mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  const v1 = service.v1(key)
  const copy = (await v1.post(`/assessments/${assessment.id}/duplicate`).send({})).body as { assessment: { id: string } }
  expect((await v1.get(`/assessments/${copy.assessment.id}/settings`)).body).toMatchObject({ settings: { practice: true } })
  await v1.patch(`/assessments/${assessment.id}`).send({ practice: false }).expect(200)
  expect((await candidate.open()).text).not.toContain(OFFER)
})
