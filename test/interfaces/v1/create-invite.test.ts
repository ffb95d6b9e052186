import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS, unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let organizationId: string
let assessmentId: string
let key: string
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  const organization = await service.make.organization()
  organizationId = organization.id
  key = organization.key
  assessmentId = (await service.make.assessment(organizationId, { name: 'Spoken English' })).id
})

const create = (fields: object = {}) =>
  service
    .v1(key)
    .post('/invites')
    .send({ assessmentId, recipientEmail: 'candidate@example.com', ...fields })
const readDetail = async (id: string) => (await service.v1(key).get(`/invites/${id}`)).body
const refuse = async (fields: object, status: number, error: string) => {
  const response = await create(fields)
  expect([response.status, response.body]).toEqual([status, { error }])
  expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
}

describe('a new invite', () => {
  it('is returned with 201 in exactly the summary form under the key invite, pending, with the defaults', async () => {
    const now = service.clock.now()
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body).toEqual({
      invite: {
        id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        assessmentId,
        assessmentName: 'Spoken English',
        recipientEmail: 'candidate@example.com',
        recipientName: null,
        status: 'pending',
        questionReplayLimit: 1,
        answerRecordLimit: 1,
        sentAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + 30 * DAY_MS).toISOString(),
        acceptedAt: null,
        startedAt: null,
        completedAt: null,
      },
    })
  })

  it('is read and listed as it was returned', async () => {
    const { body } = await create({ questionReplayLimit: 3 })
    const { assignedGrader, proctoringSettings, customMessage, revokedAt, ...summary } = await readDetail(body.invite.id)
    expect(summary).toEqual(body.invite)
    expect({ assignedGrader, proctoringSettings, customMessage, revokedAt }).toEqual({
      assignedGrader: null,
      proctoringSettings: { screenRecording: true, webcamMonitoring: true, requireIdCapture: true },
      customMessage: '',
      revokedAt: null,
    })
    expect((await service.v1(key).get('/invites')).body.invites).toEqual([body.invite])
  })

  it('ignores unknown and read-only fields', async () => {
    const { status, body } = await create({ status: 'completed', id: unknownId, sentAt: '1999-01-01T00:00:00Z', colour: 'red' })
    expect([status, body.invite.status, body.invite.sentAt]).toEqual([201, 'pending', service.clock.now().toISOString()])
    expect(body.invite.id).not.toBe(unknownId)
  })

  it('accepts an assessment id in upper case', async () => {
    const { status, body } = await create({ assessmentId: assessmentId.toUpperCase() })
    expect([status, body.invite.assessmentId]).toEqual([201, assessmentId])
  })
})

describe('rule 1: assessmentId', () => {
  it('is required', () => refuse({ assessmentId: undefined }, 400, 'assessmentId is required'))
  it.each([[null], [''], ['none'], [1], [[]], [{}], [`${unknownId} `]])('is rejected with 400 if it is %j', (assessmentId) =>
    refuse({ assessmentId }, 400, 'assessmentId must be a UUID'),
  )
})

describe('rule 2: recipientEmail', () => {
  it('is required', () => refuse({ recipientEmail: undefined }, 400, 'recipientEmail is required'))
  it.each([
    ...['', 'plain', 'a@b', '@example.com', 'a@', 'a@@example.com', 'a b@example.com', ' a@example.com', 'a@example.com '],
    ...['a@example..com', 'a@-example.com', 'a@example.com.', '.a@example.com', 'a..b@example.com', 'Sam <sam@example.com>'],
    ...[
      'a@example.com,b@example.com',
      'a@example.com\r\nBcc: b@example.com',
      'a@example.com\u0000',
      'ä@example',
      'a@exa\ud800mple.com',
    ],
    ...[`${'a'.repeat(65)}@example.com`, `a@${'b.'.repeat(125)}example.com`, 5, null, true, ['a@example.com'], { a: 1 }],
  ])('is rejected with 400 if it is %j', (recipientEmail) =>
    refuse({ recipientEmail }, 400, 'recipientEmail is not a valid email address'),
  )

  it.each([
    ...[
      'a@example.com',
      "o'brien+tests@example.co.uk",
      'UPPER.Case@Example.COM',
      'a@1.2.example',
      '!#$%&*/=?^_`{|}~-@example.com',
    ],
    ...[`${'a'.repeat(64)}@example.com`, 'a@xn--mnchen-3ya.example'],
  ])('accepts %s, and stores it as sent', async (recipientEmail) => {
    const { status, body } = await create({ recipientEmail })
    expect([status, body.invite.recipientEmail]).toEqual([201, recipientEmail])
  })
})

describe('rule 3: the limits', () => {
  const limits = ['questionReplayLimit', 'answerRecordLimit', 'expiresInDays'] as const
  const notPositive = [0, -1, 1.5, '1', '', null, true, [], [1], {}, -2147483649]
  it.each(limits.flatMap((name) => notPositive.map((value) => [name, value] as const)))(
    'are rejected with 400 if %s is %j',
    (name, value) => refuse({ [name]: value }, 400, `${name} must be a positive integer`),
  )

  it.each([
    ['questionReplayLimit', 2147483648, 2147483647],
    ['answerRecordLimit', 2147483648, 2147483647],
    ['expiresInDays', 3651, 3650],
    ['expiresInDays', 1e300, 3650],
  ])('are rejected with 400 if %s is %d, above %d', (name, value, maximum) =>
    refuse({ [name]: value }, 400, `${name} must be an integer between 1 and ${maximum}`),
  )

  it.each(['questionReplayLimit', 'answerRecordLimit'])('accept 1 to 2147483647 for %s', async (name) => {
    for (const value of [1, 2, 2147483647]) {
      const { status, body } = await create({ [name]: value, recipientEmail: `candidate-${value}@example.com` })
      expect([status, body.invite[name]]).toEqual([201, value])
    }
  })

  it.each([1, 30, 3650])('expire the invite exactly %i days after it was sent', async (expiresInDays) => {
    const { body } = await create({ expiresInDays })
    expect(Date.parse(body.invite.expiresAt) - Date.parse(body.invite.sentAt)).toBe(expiresInDays * DAY_MS)
  })
})

describe('rules 4 and 5', () => {
  it('answer 404 if the assessment does not exist', () => refuse({ assessmentId: unknownId }, 404, 'Assessment not found'))

  it.each(['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const)(
    'answer 409 to a second invite for the same email and assessment while the first is %s, with a link to it',
    async (status) => {
      const existing = await service.make.invite(
        { organizationId, id: assessmentId },
        { recipientEmail: 'candidate@example.com', status },
      )
      for (const recipientEmail of ['candidate@example.com', 'Candidate@EXAMPLE.com']) {
        const response = await create({ recipientEmail })
        expect([response.status, response.body]).toEqual([
          409,
          { error: 'An invite for this email and assessment already exists' },
        ])
        expect(response.headers.link).toMatch(new RegExp(`^<[^<>]*/api/v1/invites/${existing.id}>; rel="existing", `))
      }
      expect(await service.db.invite.count({ where: { organizationId } })).toBe(1)
      expect(await service.db.inviteEmail.count({ where: { organizationId } })).toBe(0)
    },
  )

  it('allow another assessment for the same email, and another email for the same assessment', async () => {
    const other = await service.make.assessment(organizationId)
    expect((await create()).status).toBe(201)
    expect((await create({ assessmentId: other.id })).status).toBe(201)
    expect((await create({ recipientEmail: 'candidates@example.com' })).status).toBe(201)
  })

  it('compare addresses literally, including _ and %', async () => {
    expect((await create({ recipientEmail: 'a1b@example.com' })).status).toBe(201)
    expect((await create({ recipientEmail: 'a_b@example.com' })).status).toBe(201)
    expect((await create({ recipientEmail: 'a%@example.com' })).status).toBe(201)
  })
})

describe('the precedence of the rules', () => {
  // Each body breaks one rule and all those after it.
  const broken = { recipientEmail: 'x', questionReplayLimit: 0, answerRecordLimit: 0, expiresInDays: 0, assessmentId: unknownId }
  it.each([
    [{ ...broken, assessmentId: undefined }, 400, 'assessmentId is required'],
    [broken, 400, 'recipientEmail is not a valid email address'],
    [{ ...broken, recipientEmail: 'a@example.com' }, 400, 'questionReplayLimit must be a positive integer'],
    [{ ...broken, recipientEmail: 'a@example.com', questionReplayLimit: 1 }, 400, 'answerRecordLimit must be a positive integer'],
    [
      { assessmentId: unknownId, recipientEmail: 'a@example.com', expiresInDays: 0 },
      400,
      'expiresInDays must be a positive integer',
    ],
    [{ assessmentId: unknownId, assignedGraderId: unknownId, tagIds: [unknownId] }, 404, 'Assessment not found'],
  ])('follows the documentation: %j', (body, status, error) => refuse(body, status, error))

  it('reports an invalid limit before an existing invite', async () => {
    await create()
    expect((await create({ answerRecordLimit: 0 })).body).toEqual({ error: 'answerRecordLimit must be a positive integer' })
  })

  it('does not depend on the order of the fields in the body', async () => {
    const body = '{"answerRecordLimit":0,"questionReplayLimit":0,"recipientEmail":"x"}'
    const response = await service.v1(key).post('/invites').set('content-type', 'application/json').send(body)
    expect(response.body).toEqual({ error: 'assessmentId is required' })
  })
})
