import { describe, expect, it } from 'vitest'
import { follow, readDocument } from '../support/openapi.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

describe('the Ignored-Parameters header', () => {
  it.each([
    ['/tags?nmae=x&page=1&Limit=2', 'nmae, Limit'],
    ['/events?type=invite.created&kind=a&kind=b', 'kind'],
    ['/webhooks?x%20y=1&%0d%0aset-cookie=1&%F0%9F%8E%93=1', 'x%20y, %0D%0Aset-cookie, %F0%9F%8E%93'],
    ['/members?limit=5', undefined],
    [`/tags?${Array.from({ length: 20 }, (_, i) => `p${i}`).join('&')}`, 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9'],
    [`/tags?a=1&${'x'.repeat(300)}=1&b=1`, 'a, b'],
    [`/tags?${'x'.repeat(200)}=1`, 'x'.repeat(200)],
    [`/tags?${'x'.repeat(201)}=1`, undefined],
  ])('lists the unknown parameters of %s', async (path, ignored) => {
    const { key } = await service.make.organization()
    const { status, headers } = await service.v1(key).get(path)
    expect([status, headers['ignored-parameters']]).toEqual([200, ignored])
  })

  it('is sent for a single record, and in the alternate interface', async () => {
    const organization = await service.make.organization()
    const { id } = await service.make.tag(organization.id)
    const one = await service.v1(organization.key).get(`/tags/${id}?verbose=1`)
    expect(one.headers['ignored-parameters']).toBe('verbose')
    const list = await service.alternate(organization.key).get('/tags?pagesize=5&depth=1')
    expect([list.status, list.headers['ignored-parameters']]).toEqual([200, 'pagesize'])
  })

  it('is documented for every list and for the feed', async () => {
    const document = await readDocument(service, 'v1')
    const answers = Object.entries(document.paths).flatMap(([path, { get }]) =>
      get?.responses[200] ? [{ path, headers: Object.keys(follow(document, get.responses[200]).headers ?? {}) }] : [],
    )
    const lists = answers.filter(({ path, headers }) => headers.includes('Link') || path.endsWith('/events'))
    expect(lists.length).toBeGreaterThan(8)
    for (const { path, headers } of lists) expect([path, headers.includes('Ignored-Parameters')]).toEqual([path, true])
  })
})

describe('the Ignored-Fields header', () => {
  it('lists unknown and read-only fields at every depth, and the invite is created without them', async () => {
    const { key, assessment } = await makeAssessment()
    const body = {
      ...{ assessmentId: assessment.id, recipientEmail: 'sam@example.com', metadata: { anything: 'goes' } },
      ...{ sendemail: false, expires_in_days: 3, status: 'completed', proctoringSettings: { webcam: true }, 'é\r\n': 1 },
    }
    const { status, headers } = await service.v1(key).post('/invites').send(body)
    const ignored = 'sendemail, expires_in_days, status, proctoringSettings.webcam, %C3%A9%0D%0A'
    expect([status, headers['ignored-fields']]).toEqual([201, ignored])
  })

  it('lists a field once for all rows of a batch, and every field of a request that accepts none', async () => {
    const { key, assessment } = await makeAssessment()
    const api = service.v1(key)
    const rows = ['a', 'b'].map((name) => ({ recipientEmail: `${name}@example.com`, first_name: name }))
    const batch = await api.post('/invite-batches').send({ assessmentId: assessment.id, invites: rows })
    expect([batch.status, batch.headers['ignored-fields']]).toEqual([202, 'invites.first_name'])
    const { invite } = (await api.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'c@example.com' })).body
    const revoked = await api.post(`/invites/${invite.id}/revoke`).send({ reason: 'withdrawn' })
    expect([revoked.status, revoked.headers['ignored-fields']]).toEqual([200, 'reason'])
  })

  it('accompanies the error that a misspelled field causes, and is sent in the alternate interface', async () => {
    const { key, assessment } = await makeAssessment()
    const refused = await service.v1(key).post('/invites').send({ assessment_id: assessment.id })
    expect([refused.status, refused.body.error]).toEqual([400, 'assessmentId is required'])
    expect(refused.headers['ignored-fields']).toBe('assessment_id')
    const alternate = await service.alternate(key).post('/assessment_invites').send(alternateBody(assessment))
    expect([alternate.status, alternate.headers['ignored-fields']]).toEqual([201, 'status, external-id'])
  })
})

describe('the preference handling=strict', () => {
  it.each([
    [{ sendemail: false }, 'sendemail is not a field of this request. Did you mean sendEmail?'],
    [{ expires_in_days: 3 }, 'expires_in_days is not a field of this request. Did you mean expiresInDays?'],
    [{ email: 'a@example.com' }, 'email is not a field of this request. Did you mean recipientEmail?'],
    [
      { webcamMonitorin: true },
      'webcamMonitorin is not a field of this request. Did you mean proctoringSettings.webcamMonitoring?',
    ],
    [{ zzz: 1 }, expect.stringMatching(/^zzz is not a field of this request. Its fields are assessmentId, recipientEmail, /)],
    [{ ['x'.repeat(100)]: 1 }, expect.stringMatching(/^x{60} is not a field of this request/)],
  ])('rejects %j', async (mistake, error) => {
    const { key, assessment } = await makeAssessment()
    const body = { assessmentId: assessment.id, recipientEmail: 'sam@example.com', ...mistake }
    const answer = await service.v1(key).post('/invites').set('prefer', 'respond-async, handling=strict').send(body)
    expect([answer.status, answer.headers['x-error-code'], answer.body]).toEqual([400, 'invalid', { error }])
    expect(await service.db.invite.count({ where: { assessmentId: assessment.id } })).toBe(0)
  })

  it('rejects unknown parameters, and unknown fields in the alternate interface', async () => {
    const { key, assessment } = await makeAssessment()
    const filtered = await service.v1(key).get('/invites?asessmentId=1').set('prefer', 'handling=strict')
    const error = 'asessmentId is not a parameter of this request. Did you mean assessmentId?'
    expect([filtered.status, filtered.body]).toEqual([400, { error }])
    const invited = await service
      .alternate(key)
      .post('/assessment_invites')
      .set('prefer', 'handling=strict')
      .send(alternateBody(assessment))
    expect([invited.status, invited.body]).toEqual([400, { status: ['Unknown field "status".'] }])
  })

  it.each([
    ['constructor', 'constructor'],
    ['toString', 'to_string'],
    ['recipientEmail', 'email'],
  ])('reports the field %s as it was sent in the alternate interface', async (name, key) => {
    const { key: apiKey, assessment } = await makeAssessment()
    const body = { email: 'sam@example.com', assessment: assessment.id, [name]: 'x' }
    const answer = await service.alternate(apiKey).post('/assessment_invites').set('prefer', 'handling=strict').send(body)
    expect([answer.status, answer.body]).toEqual([400, { [key]: [`Unknown field "${name}".`] }])
  })

  it('treats a parameter named like an object property as unknown', async () => {
    const { key } = await makeAssessment()
    const answer = await service.alternate(key).get('/tags?__proto__=1').set('prefer', 'handling=strict')
    expect([answer.status, answer.text]).toEqual([400, '{"__proto__":["Unknown parameter \\"__proto__\\"."]}'])
  })

  it('accepts requests with known names only, and ignores other preferences', async () => {
    const { key, assessment } = await makeAssessment()
    const body = { assessmentId: assessment.id, recipientEmail: 'sam@example.com', metadata: { any: 'thing' } }
    expect((await service.v1(key).post('/invites').set('prefer', 'handling=strict').send(body)).status).toBe(201)
    expect((await service.v1(key).get('/tags?x=1').set('prefer', 'handling=lenient')).status).toBe(200)
  })
})

async function makeAssessment() {
  const { id, key } = await service.make.organization()
  return { key, assessment: await service.make.assessment(id) }
}

const alternateBody = (assessment: { id: string }) => ({
  ...{ email: 'sam@example.com', assessment: assessment.id, question_play_limit: 1, answer_record_limit: 1 },
  ...{ face_photo_required: false, id_photo_required: false, tags: [], assigned_grader: null },
  ...{ status: 'completed', 'external-id': 'x' },
})

it('accepts type and types as synonyms, for the feed and for webhooks', async () => {
  const organization = await service.make.organization()
  const api = service.v1(organization.key)
  await service.make.tag(organization.id)
  const asked = { url: 'https://hooks.example.com/in', type: ['invite.created'] }
  const { webhook } = (await api.post('/webhooks').send(asked)).body
  expect(webhook.types).toEqual(['invite.created'])
  const changed = await api.patch(`/webhooks/${webhook.id}`).send({ type: ['invite.expired'], types: ['invite.revoked'] })
  expect(changed.body.webhook.types).toEqual(['invite.expired', 'invite.revoked'])
  const assessment = await service.make.assessment(organization.id)
  await api.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com' })
  for (const name of ['type', 'types']) {
    const { events } = (await api.get(`/events?${name}=invite.revoked`)).body
    expect(events).toEqual([])
  }
})
