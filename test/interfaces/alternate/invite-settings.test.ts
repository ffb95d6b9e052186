import { expect, it } from 'vitest'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForTest } from '../../support/service.ts'

const PATH = '/assessment_invites'

/** Starts a service with these settings, and returns a valid body that a test changes. */
async function setUp(env: Record<string, string>) {
  const service = await startServiceForTest(env)
  const { id, key } = await service.make.organization()
  const [assessment, grader] = [await service.make.assessment(id), await service.make.member(id)]
  const body = {
    email: 'candidate@example.com',
    assessment: assessment.id,
    question_play_limit: 2,
    answer_record_limit: 1,
    face_photo_required: true,
    id_photo_required: false,
    tags: [],
    assigned_grader: null,
  }
  return { service, client: service.alternate(key), body, grader }
}

it('requires a grader with ALTERNATE_GRADER_REQUIRED=true', async () => {
  const { client, body, grader } = await setUp({ ALTERNATE_GRADER_REQUIRED: 'true' })
  for (const assigned_grader of [null, '']) {
    const response = await client.post(PATH).send({ ...body, assigned_grader })
    expect([response.status, response.body]).toEqual([400, { assigned_grader: ['This field may not be null.'] }])
  }
  const response = await client.post(PATH).send({ ...body, assigned_grader: grader.id })
  expect([response.status, response.body.assigned_grader]).toEqual([201, grader.id])
})

it('expires an invite exactly ALTERNATE_EXPIRES_IN_DAYS days after its creation', async () => {
  const { service, client, body } = await setUp({ ALTERNATE_EXPIRES_IN_DAYS: '2' })
  const created = await client.post(PATH).send(body)
  expect([created.status, created.body.expires_at]).toEqual([201, null])
  const expiresAt = service.clock.now().getTime() + 2 * DAY_MS
  const read = async () => (await client.get(`${PATH}/${created.body.id}`)).body
  expect((await read()).expires_at).toBe(new Date(expiresAt).toISOString())
  service.clock.set(new Date(expiresAt - 1))
  expect((await read()).status).toBe('pending')
  service.clock.set(new Date(expiresAt))
  expect((await read()).status).toBe('expired')
})
