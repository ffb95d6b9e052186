import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { DAY_MS } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'
import { PATIENT } from '../../support/wait-until.ts'

const PATH = '/assessment_invites'

let service: Service
let smtp: SmtpListener
let own: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})
beforeEach(async () => {
  own = await setUp()
})

async function setUp() {
  const { id, key, apiKeyId } = await service.make.organization()
  const assessment = await service.make.assessment(id, { name: 'Spoken English' })
  return { id, key, apiKeyId, assessment, grader: await service.make.member(id), tag: await service.make.tag(id) }
}

const goodBody = (more: object = {}) => ({
  email: 'candidate@example.com',
  assessment: own.assessment.id,
  question_play_limit: 2,
  answer_record_limit: 1,
  face_photo_required: true,
  id_photo_required: false,
  tags: [],
  assigned_grader: null,
  ...more,
})
const post = (body: object) => service.alternate(own.key).post(PATH).send(body)
const create = async (more: object = {}) => {
  const { status, body } = await post(goodBody(more))
  expect(status).toBe(201)
  return body
}

describe('POST /assessment_invites', () => {
  it('answers 201 with exactly the created invite, unwrapped, pending, and with expires_at null', async () => {
    const now = service.clock.now().toISOString()
    const { status, body } = await post(goodBody({ tags: [own.tag.id], assigned_grader: own.grader.id }))
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        assessment_session: null,
        deleted: false,
        created_at: now,
        updated_at: now,
        email: 'candidate@example.com',
        status: 'pending',
        face_photo_required: true,
        id_photo_required: false,
        question_play_limit: 2,
        answer_record_limit: 1,
        expires_at: null,
        organization: own.id,
        assessment: own.assessment.id,
        user: null,
        created_by: own.apiKeyId,
        assigned_grader: own.grader.id,
        tags: [own.tag.id],
      },
    ])
  })

  it('creates an invite that later reads the same, with its expiry date', async () => {
    const created = await create({ tags: [own.tag.id], assigned_grader: own.grader.id })
    const expires_at = new Date(service.clock.now().getTime() + 30 * DAY_MS).toISOString()
    expect((await service.alternate(own.key).get(`${PATH}/${created.id}`)).body).toEqual({ ...created, expires_at })
    expect((await service.alternate(own.key).get(PATH)).body.results).toEqual([{ ...created, expires_at }])
  })

  it('creates the same invite below the organization', async () => {
    const { status, body } = await service.alternate(own.key).post(`/organizations/${own.id}${PATH}`).send(goodBody())
    expect([status, body.organization, body.expires_at]).toEqual([201, own.id, null])
    expect((await service.alternate(own.key).get(`${PATH}/${body.id}`)).status).toBe(200)
  })

  const mailsTo = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))
  /** Waits until the invite's mail is sent or has failed. */
  const waitForOutcome = (inviteId: string) =>
    vi.waitFor(async () => {
      const { state } = await service.db.inviteEmail.findFirstOrThrow({ where: { inviteId } })
      expect(state).not.toBe('queued')
      return state
    }, PATIENT)

  it('sends the candidate one mail, about the assessment', async () => {
    const { id } = await create({ email: 'mailed@example.com' })
    expect(await waitForOutcome(id)).toBe('sent')
    const [mail, ...more] = mailsTo('mailed@example.com')
    expect(more).toEqual([])
    expect(mail!.parsed.text).toContain('Spoken English')
  })

  it('captures the mail of an invite created with a test key', async () => {
    const test = await createApiKey(service.system, { organizationId: own.id, name: 'Sandbox', mode: 'test' })
    const { body } = await service
      .alternate(test.key)
      .post(PATH)
      .send(goodBody({ email: 'sandbox@example.com' }))
    expect(await waitForOutcome(body.id)).toBe('captured')
    expect(mailsTo('sandbox@example.com')).toEqual([])
    expect((await service.alternate(test.key).get(`${PATH}/${body.id}`)).body.created_by).toBe(test.apiKey.id)
  })

  it('sends no mail for a rejected body', async () => {
    expect((await post(goodBody({ question_play_limit: 0 }))).status).toBe(400)
    expect(await service.db.inviteEmail.count({ where: { organizationId: own.id } })).toBe(0)
  })
})

describe('the create endpoint', () => {
  it.each([
    ['question_play_limit', '3', 3],
    ['question_play_limit', ' 3 ', 3],
    ['question_play_limit', '3.0', 3],
    ['answer_record_limit', 2147483647, 2147483647],
    ['answer_record_limit', '2147483647', 2147483647],
    ['answer_record_limit', '007', 7],
    ['face_photo_required', 'true', true],
    ['face_photo_required', 'True', true],
    ['face_photo_required', 1, true],
    ['face_photo_required', '1', true],
    ['id_photo_required', 'false', false],
    ['id_photo_required', 'False', false],
    ['id_photo_required', 0, false],
    ['id_photo_required', '0', false],
    ['assigned_grader', null, null],
    ['assigned_grader', '', null],
    ['email', '  Spaced.Out@Example.com ', 'Spaced.Out@Example.com'],
    ['email', "o'brien+tests@example.co.uk", "o'brien+tests@example.co.uk"],
  ])('accepts for %s the value %j, shown as %j', async (field, given, shown) => {
    expect((await create({ [field]: given }))[field]).toBe(shown)
  })

  it('accepts 3.0 as an integer', async () => {
    const text = JSON.stringify(goodBody()).replace('"question_play_limit":2', '"question_play_limit":3.0')
    const { status, body } = await service.alternate(own.key).post(PATH).set('content-type', 'application/json').send(text)
    expect([status, body.question_play_limit]).toEqual([201, 3])
  })

  it('accepts a repeated tag, and stores it once', async () => {
    const other = await service.make.tag(own.id)
    const tags = [other.id, own.tag.id, other.id.toUpperCase(), other.id]
    expect((await create({ tags })).tags).toEqual([other.id, own.tag.id])
  })

  it('accepts ids in upper case', async () => {
    const { assessment, grader, tag } = own
    const ids = {
      assessment: assessment.id.toUpperCase(),
      assigned_grader: grader.id.toUpperCase(),
      tags: [tag.id.toUpperCase()],
    }
    expect(await create(ids)).toMatchObject({ assessment: assessment.id, assigned_grader: grader.id, tags: [tag.id] })
  })

  it.each([[['grader']], [['admin']], [['client', 'grader']]])('accepts a member with the roles %j as grader', async (roles) => {
    const { id } = await service.make.member(own.id, { roles })
    expect((await create({ assigned_grader: id })).assigned_grader).toBe(id)
  })

  it('shows a grader who has lost the role since', async () => {
    const { id } = await service.make.member(own.id)
    const invite = await create({ assigned_grader: id })
    await service.db.member.update({ where: { id }, data: { roles: ['client'], status: 'inactive' } })
    const { status, body } = await service.alternate(own.key).get(`/assessment_invites/${invite.id}`)
    expect([status, body.assigned_grader]).toEqual([200, id])
    const { body: detail } = await service.v1(own.key).get(`/invites/${invite.id}`)
    expect(detail.assignedGrader).toMatchObject({ id })
  })

  it('ignores unknown and read-only fields', async () => {
    const other = await service.make.organization()
    const readOnly = {
      id: other.id,
      status: 'completed',
      organization: other.id,
      created_by: other.id,
      user: other.id,
      deleted: true,
    }
    const times = { created_at: '1999-01-01T00:00:00Z', expires_at: '1999-01-01T00:00:00Z' }
    const body = await create({ ...readOnly, ...times, colour: 'red', constructor: 1, toString: null })
    const now = service.clock.now().toISOString()
    expect(body).toMatchObject({
      status: 'pending',
      organization: own.id,
      created_by: own.apiKeyId,
      user: null,
      deleted: false,
      created_at: now,
    })
    expect(body.id).not.toBe(other.id)
  })

  it.each(['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON'])(
    'accepts the content type %s',
    async (type) => {
      const response = await service.alternate(own.key).post(PATH).set('content-type', type).send(JSON.stringify(goodBody()))
      expect(response.status).toBe(201)
    },
  )

  it('accepts depth and ignores it, well-formed or not', async () => {
    for (const depth of ['2', 'abc']) {
      const { status, body } = await service
        .alternate(own.key)
        .post(`${PATH}?depth=${depth}`)
        .send(goodBody({ email: `${depth}@example.com` }))
      expect([status, body.assessment]).toEqual([201, own.assessment.id])
    }
  })
})

describe('a second invite for the same email and assessment', () => {
  const duplicate = { non_field_errors: ['An invite for this email and assessment already exists'] }

  it('is rejected with 400 in any case and for any status, with a link to the first', async () => {
    const { id } = await create({ email: 'Twice@Example.com' })
    for (const status of ['pending', 'revoked', 'completed'] as const) {
      await service.db.invite.update({ where: { id }, data: { status } })
      const { status: code, body, headers } = await post(goodBody({ email: 'tWICE@example.COM' }))
      expect([code, body]).toEqual([400, duplicate])
      expect(headers.link).toMatch(new RegExp(`/api/alternate/assessment_invites/${id}>; rel="existing", `))
    }
    expect(await service.db.invite.count({ where: { organizationId: own.id } })).toBe(1)
  })

  it('is rejected with 400 after one created in v1, and with 409 in v1 after one created here', async () => {
    const v1 = (recipientEmail: string) =>
      service.v1(own.key).post('/invites').send({ assessmentId: own.assessment.id, recipientEmail })
    expect((await v1('first@example.com')).status).toBe(201)
    expect((await post(goodBody({ email: 'FIRST@example.com' }))).body).toEqual(duplicate)
    await create({ email: 'second@example.com' })
    expect((await v1('SECOND@example.com')).status).toBe(409)
  })

  it('is rejected with 400 if both are sent at once, and one is created', async () => {
    const responses = await Promise.all([1, 2, 3, 4].map(() => post(goodBody())))
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400])
    for (const { status, body } of responses) if (status === 400) expect(body).toEqual(duplicate)
  })

  it('is created for another assessment, another address, or in another organization', async () => {
    await create()
    await create({ assessment: (await service.make.assessment(own.id)).id })
    await create({ email: 'other@example.com' })
    own = await setUp()
    await create()
  })
})
