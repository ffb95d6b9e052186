import { expect, it } from 'vitest'
import { newMediaKey } from '../../../../src/domain/files/media-keys.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile({ ROLE: 'api' })

/** Signs in an admin who adds a question, and stores an uploaded audio file. */
async function setUp() {
  const { db, deps, clock } = service
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id)
  const [id, now] = [deps.newId(), clock.now()]
  const file = { kind: 'audio', state: 'ready', contentType: 'audio/webm', bytes: 3, key: newMediaKey(organization) }
  await db.asset.create({ data: { organizationId: organization.id, id, ...file, createdAt: now, checkedAt: now } })
  const path = `${admin.home}assessments/${assessment.id}/questions`
  const questions = () => db.question.findMany({ where: { assessmentId: assessment.id } })
  return { ...admin, path, questions, address: `/api/v1/question-media/${id}` }
}

const NEW = { inputType: 'audio', responseType: 'audio', simultaneous: 'yes' }
const REFUSED = expect.stringMatching(/^To record while the prompt plays, let candidates answer by audio or by video/)

it('is set in the form of a question, which shows it again', async () => {
  const { path, post, get, questions, address } = await setUp()
  expect((await post(path, { ...NEW, audioUrl: address })).status).toBe(303)
  const [question] = await questions()
  expect(question).toMatchObject({ simultaneous: true, audioUrl: address })
  expect((await get(`${path}/${question!.id}`)).text).toMatch(/name="simultaneous" value="yes" checked/)
  const { simultaneous: _, ...without } = NEW
  const seen = question!.updatedAt.toISOString()
  expect((await post(`${path}/${question!.id}`, { ...without, audioUrl: address, seen })).status).toBe(303)
  expect(await questions()).toMatchObject([{ simultaneous: false }])
})

it.each([
  ['a prompt on another website', { audioUrl: 'https://example.com/a.mp3' }],
  ['no prompt', { inputType: 'text', script: 'Interpret' }],
  ['an answer by text', { responseType: 'text' }],
  ['an answer by text or recording', { responseType: 'mixed' }],
  ['two prompts', { videoUrl: 'https://example.com/a.mp4' }],
])('is rejected with %s', async (_, change) => {
  const { path, post, questions, address } = await setUp()
  const refused = await post(path, { ...NEW, ...('inputType' in change ? {} : { audioUrl: address }), ...change })
  expect([refused.status, mistakesIn(refused)]).toEqual([422, [REFUSED]])
  expect(await questions()).toEqual([])
})

it('is rejected for a stored question whose prompt moves to another website', async () => {
  const { path, post, questions, address } = await setUp()
  await post(path, { ...NEW, audioUrl: address })
  const [question] = await questions()
  const moved = { ...NEW, audioUrl: 'https://example.com/a.mp3', seen: question!.updatedAt.toISOString() }
  const refused = await post(`${path}/${question!.id}`, moved)
  expect([refused.status, mistakesIn(refused)]).toEqual([422, [REFUSED]])
  expect(await questions()).toMatchObject([{ audioUrl: address }])
})
