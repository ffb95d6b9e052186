import { describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const createdAt = new Date('2026-02-01T10:00:00.123Z')
const updatedAt = new Date('2026-02-20T16:45:00.000Z')

/** Creates an assessment with a distinct value in every field. */
async function makeAssessment() {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId, {
    name: 'Spoken English ✓',
    defaultQuestionFormat: 'audio',
    defaultAnswerFormat: 'mixed',
    timeLimit: 60,
    createdAt,
    updatedAt,
  })
  for (const [position, code] of ['fr', 'de', 'en'].entries()) {
    const language = await service.make.language(code)
    await service.db.assessmentLanguage.create({
      data: { assessmentId: assessment.id, languageId: language.id, organizationId, position },
    })
  }
  for (const points of [7, 0, 5]) await service.make.question(assessment, { points })
  for (const status of ['pending', 'revoked', 'completed', 'expired'] as const) await service.make.invite(assessment, { status })
  return { organizationId, key, assessment }
}

const listForm = (id: string) => ({
  id,
  name: 'Spoken English ✓',
  defaultQuestionFormat: 'audio',
  defaultAnswerFormat: 'mixed',
  languages: ['fr', 'de', 'en'],
  questionCount: 3,
  inviteCount: 4,
  createdAt: '2026-02-01T10:00:00.123Z',
  updatedAt: '2026-02-20T16:45:00.000Z',
})

describe('GET /assessments', () => {
  it('shows exactly the fields of the list form, without totalPoints', async () => {
    const { key, assessment } = await makeAssessment()
    const { status, body } = await service.v1(key).get('/assessments')
    expect(status).toBe(200)
    expect(body).toEqual({ assessments: [listForm(assessment.id)], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } })
  })

  it('shows an unused assessment with empty languages and zero counts', async () => {
    const { id, key } = await service.make.organization()
    await service.make.assessment(id)
    const { body } = await service.v1(key).get('/assessments')
    expect(body.assessments[0]).toMatchObject({
      languages: [],
      questionCount: 0,
      inviteCount: 0,
      defaultQuestionFormat: 'text',
      defaultAnswerFormat: 'text',
    })
  })

  it('counts each invite as soon as it is created', async () => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const readCount = async () => (await service.v1(key).get('/assessments')).body.assessments[0].inviteCount
    await service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'one@example.com' })
    expect(await readCount()).toBe(1)
    await service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'one@example.com' })
    await service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'two@example.com' })
    expect(await readCount()).toBe(2)
  })
})

describe('GET /assessments/{assessmentId}', () => {
  it('shows the list form and totalPoints, unwrapped', async () => {
    const { key, assessment } = await makeAssessment()
    const { status, body } = await service.v1(key).get(`/assessments/${assessment.id}`)
    expect([status, body]).toEqual([200, { ...listForm(assessment.id), totalPoints: 12 }])
  })

  it.each(['text', 'audio', 'video', 'mixed'] as const)('shows the format %s', async (format) => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id, { defaultQuestionFormat: format, defaultAnswerFormat: format })
    const { body } = await service.v1(key).get(`/assessments/${assessment.id}`)
    expect([body.defaultQuestionFormat, body.defaultAnswerFormat]).toEqual([format, format])
  })

  it('accepts an id in upper case', async () => {
    const { key, assessment } = await makeAssessment()
    const { status, body } = await service.v1(key).get(`/assessments/${assessment.id.toUpperCase()}`)
    expect([status, body.id]).toEqual([200, assessment.id])
  })
})

describe.each(['', '/questions'])('GET /assessments/{assessmentId}%s', (suffix) => {
  it.each([
    unknownId,
    'none',
    '1',
    `${unknownId}0`,
    `{${unknownId}}`,
    unknownId.replaceAll('-', ''),
    '%00',
    "'",
    'x'.repeat(200),
  ])('answers 404 "Assessment not found" for the id %s', async (id) => {
    const { key } = await service.make.organization()
    const { status, body } = await service.v1(key).get(`/assessments/${id}${suffix}`)
    expect([status, body]).toEqual([404, { error: 'Assessment not found' }])
  })
})

describe('GET /assessments/{assessmentId}/questions', () => {
  it('shows exactly the documented fields of a question', async () => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    for (const code of ['en', 'de']) await service.make.language(code)
    const question = await service.make.question(assessment, {
      order: 4,
      inputType: 'video',
      script: 'What do you say?\n✓',
      audioUrl: 'https://media.example.com/a.mp3',
      videoUrl: 'https://media.example.com/v.mp4',
      responseType: 'audio',
      points: 10,
      timeLimit: 90,
      sourceLanguage: 'en',
      targetLanguage: 'de',
      createdAt,
      updatedAt,
    })
    const { status, body } = await service.v1(key).get(`/assessments/${assessment.id}/questions`)
    expect(status).toBe(200)
    expect(body).toEqual({
      questions: [
        {
          id: question.id,
          order: 4,
          inputType: 'video',
          script: 'What do you say?\n✓',
          audioUrl: 'https://media.example.com/a.mp3',
          videoUrl: 'https://media.example.com/v.mp4',
          responseType: 'audio',
          points: 10,
          timeLimit: 90,
          sourceLanguage: 'en',
          targetLanguage: 'de',
          createdAt: '2026-02-01T10:00:00.123Z',
          updatedAt: '2026-02-20T16:45:00.000Z',
        },
      ],
      pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
    })
  })

  it('shows empty text and 0, never null, for missing values of a question', async () => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    await service.make.question(assessment)
    const { body } = await service.v1(key).get(`/assessments/${assessment.id}/questions`)
    const nothing = { script: '', audioUrl: '', videoUrl: '', points: 0, timeLimit: 0, sourceLanguage: '', targetLanguage: '' }
    expect(body.questions[0]).toMatchObject(nothing)
  })

  it("does not show another assessment's questions", async () => {
    const { id, key } = await service.make.organization()
    const [one, other] = [await service.make.assessment(id), await service.make.assessment(id)]
    const question = await service.make.question(one)
    await service.make.question(other)
    const { body } = await service.v1(key).get(`/assessments/${one.id}/questions`)
    expect(body.questions.map(({ id }: { id: string }) => id)).toEqual([question.id])
    expect(body.pagination.total).toBe(1)
  })
})
