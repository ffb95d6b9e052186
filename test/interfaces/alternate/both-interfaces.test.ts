import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let v1: ReturnType<Service['v1']>
let alternate: ReturnType<Service['alternate']>
let own: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  own = await setUp()
  v1 = service.v1(own.key)
  alternate = service.alternate(own.key)
})

async function setUp() {
  const { id, key, apiKeyId } = await service.make.organization()
  const grader = await service.make.member(id, { firstName: 'Grace', lastName: 'Grader', avatarUrl: 'https://example.com/g' })
  const assessment = await service.make.assessment(id, {
    name: 'Spoken English',
    defaultQuestionFormat: 'video',
    defaultAnswerFormat: 'audio',
  })
  const tag = await service.make.tag(id)
  return { id, key, apiKeyId, assessment, grader, tag }
}

const readHere = async (path: string) => {
  const { status, body } = await alternate.get(path)
  expect(status).toBe(200)
  return body
}
const readThere = async (path: string) => {
  const { status, body } = await v1.get(path)
  expect(status).toBe(200)
  return body
}

describe('an invite created in v1', () => {
  const create = async (fields: object = {}) => {
    const { status, body } = await v1
      .post('/invites')
      .send({ assessmentId: own.assessment.id, recipientEmail: 'Sam@Example.com', ...fields })
    expect(status).toBe(201)
    return body.invite
  }

  it('has the same value in each field of the alternate interface', async () => {
    const tags = [await service.make.tag(own.id), own.tag]
    const invite = await create({
      recipientName: 'Sam Rivera',
      questionReplayLimit: 4,
      answerRecordLimit: 3,
      expiresInDays: 7,
      proctoringSettings: { screenRecording: false, webcamMonitoring: false, requireIdCapture: false },
      customMessage: 'Good luck',
      assignedGraderId: own.grader.id,
      tagIds: tags.map(({ id }) => id),
    })
    expect(await readHere(`/assessment_invites/${invite.id}`)).toEqual({
      id: invite.id,
      assessment_session: null,
      deleted: false,
      created_at: invite.sentAt,
      updated_at: invite.sentAt,
      email: 'Sam@Example.com',
      status: 'pending',
      face_photo_required: false,
      id_photo_required: false,
      question_play_limit: 4,
      answer_record_limit: 3,
      expires_at: new Date(service.clock.now().getTime() + 7 * DAY_MS).toISOString(),
      organization: own.id,
      assessment: own.assessment.id,
      user: null,
      created_by: own.apiKeyId,
      assigned_grader: own.grader.id,
      tags: tags.map(({ id }) => id),
    })
  })

  it('has the defaults of v1 in the alternate interface', async () => {
    const { id, expiresAt } = await create()
    expect(await readHere(`/assessment_invites/${id}`)).toMatchObject({
      face_photo_required: true,
      id_photo_required: true,
      question_play_limit: 1,
      answer_record_limit: 1,
      expires_at: expiresAt,
      assigned_grader: null,
      tags: [],
    })
  })

  it.each([true, false])('requires both photos, or neither, for requireIdCapture %s', async (requireIdCapture) => {
    const { id } = await create({ proctoringSettings: { requireIdCapture } })
    const { id_photo_required, face_photo_required } = await readHere(`/assessment_invites/${id}`)
    expect([id_photo_required, face_photo_required]).toEqual([requireIdCapture, requireIdCapture])
  })

  it('is revoked in the alternate interface after its revocation in v1', async () => {
    const { id } = await create()
    service.clock.advance(1_000)
    expect((await v1.post(`/invites/${id}/revoke`)).status).toBe(200)
    const { status, updated_at } = await readHere(`/assessment_invites/${id}`)
    expect([status, updated_at]).toEqual(['revoked', service.clock.now().toISOString()])
  })
})

describe('an invite created in the alternate interface', () => {
  const create = async (fields: object = {}) => {
    const body = {
      email: 'Sam@Example.com',
      assessment: own.assessment.id,
      question_play_limit: 4,
      answer_record_limit: 3,
      face_photo_required: true,
      id_photo_required: true,
      tags: [own.tag.id],
      assigned_grader: own.grader.id,
      ...fields,
    }
    const response = await alternate.post('/assessment_invites').send(body)
    expect(response.status).toBe(201)
    return response.body
  }

  it('has the same value in each field of v1', async () => {
    const invite = await create()
    const summary = {
      id: invite.id,
      assessmentId: own.assessment.id,
      assessmentName: 'Spoken English',
      recipientEmail: 'Sam@Example.com',
      recipientName: null,
      status: 'pending',
      questionReplayLimit: 4,
      answerRecordLimit: 3,
      sentAt: invite.created_at,
      expiresAt: new Date(service.clock.now().getTime() + 30 * DAY_MS).toISOString(),
      acceptedAt: null,
      startedAt: null,
      completedAt: null,
    }
    expect((await readThere('/invites')).invites).toEqual([summary])
    expect(await readThere(`/invites/${invite.id}`)).toEqual({
      ...summary,
      assignedGrader: { id: own.grader.id, firstName: 'Grace', lastName: 'Grader', email: own.grader.email },
      proctoringSettings: { screenRecording: false, webcamMonitoring: false, requireIdCapture: true },
      customMessage: '',
      revokedAt: null,
    })
  })

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('requires the ID photo in v1 for id photo %s and face photo %s', async (id_photo_required, face_photo_required) => {
    const { id } = await create({ id_photo_required, face_photo_required, assigned_grader: null })
    const { proctoringSettings, assignedGrader } = await readThere(`/invites/${id}`)
    expect([proctoringSettings.requireIdCapture, assignedGrader]).toEqual([id_photo_required, null])
    expect(await readHere(`/assessment_invites/${id}`)).toMatchObject({ id_photo_required, face_photo_required })
  })
})

it.each(['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const)(
  'shows an invite that is %s with that status in both interfaces',
  async (status) => {
    const { id } = await service.make.invite(own.assessment, { status })
    const [here, there] = [await readHere(`/assessment_invites/${id}`), await readThere(`/invites/${id}`)]
    expect([here.status, there.status]).toEqual([status, status])
    expect(here.expires_at).toBe(there.expiresAt)
  },
)

describe('a tag', () => {
  it('reads the same in the alternate interface after its creation and change in v1', async () => {
    const { body } = await v1.post('/tags').send({ name: 'Engineering', color: '#25a3eB', description: 'Only there' })
    const { id, createdAt } = body.tag
    const asMade = {
      id,
      name: 'Engineering',
      color: '#25a3eB',
      organization: own.id,
      created_by: null,
      created_at: createdAt,
      updated_at: createdAt,
      icon: null,
    }
    expect(await readHere(`/tags/${id}`)).toEqual(asMade)
    service.clock.advance(1_000)
    await v1.patch(`/tags/${id}`).send({ name: 'Sales', color: '#000000' })
    const updated_at = service.clock.now().toISOString()
    expect(await readHere(`/tags/${id}`)).toEqual({ ...asMade, name: 'Sales', color: '#000000', updated_at })
  })

  it('is removed from the alternate interface and from invites by its deletion in v1', async () => {
    const { body } = await v1
      .post('/invites')
      .send({ assessmentId: own.assessment.id, recipientEmail: 'a@example.com', tagIds: [own.tag.id] })
    await v1.delete(`/tags/${own.tag.id}`)
    expect((await alternate.get(`/tags/${own.tag.id}`)).status).toBe(404)
    expect((await readHere(`/assessment_invites/${body.invite.id}?depth=1`)).tags).toEqual([])
  })

  it('has the same values in both interfaces', async () => {
    const { id, name, color, created_at, updated_at } = await readHere(`/tags/${own.tag.id}`)
    expect((await readThere(`/tags/${id}`)).tag).toEqual({
      id,
      name,
      color,
      description: '',
      createdAt: created_at,
      updatedAt: updated_at,
    })
  })
})

it('shows the same assessment in both interfaces', async () => {
  await service.make.question(own.assessment)
  const [here, there] = [
    await readHere(`/assessments/${own.assessment.id}`),
    await readThere(`/assessments/${own.assessment.id}`),
  ]
  const { id, name, defaultQuestionFormat, defaultAnswerFormat, questionCount, createdAt, updatedAt } = there
  const same = { id, name, type: defaultQuestionFormat, answer_type: defaultAnswerFormat, question_count: questionCount }
  expect(here).toMatchObject({ ...same, created_at: createdAt, updated_at: updatedAt })
  expect(same).toMatchObject({ type: 'video', answer_type: 'audio', question_count: 1 })
})

it('shows a member of v1 as an organization user with the same id', async () => {
  const [here, there] = [await readHere(`/organization_users/${own.grader.id}?depth=1`), (await readThere('/members')).members[0]]
  expect([here.id, here.roles]).toEqual([there.id, there.roles])
  const { firstName: first_name, lastName: last_name, email } = there
  expect(here.user).toEqual({ id: own.grader.userId, first_name, last_name, email })
})
