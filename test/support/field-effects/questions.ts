import type { QUESTION_FIELDS } from '../../../src/domain/assessments/question-fields.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../candidate.ts'
import { DAY_MS } from '../factories.ts'
import { makeSubmitted } from '../grading.ts'
import { signInAs } from '../portal.ts'
import { openTab } from '../taking.ts'
import { type Effects, effect, findIn, IDENTITY, testedIn, UNWRITTEN, type World } from './effect.ts'

type QuestionData = Partial<Prisma.QuestionUncheckedCreateInput>

export function questionEffects({
  service,
  organization,
  v1,
}: World): Effects<keyof typeof QUESTION_FIELDS | 'definition' | 'section' | 'pool'> {
  const { make, clock } = service
  const at = (days: number) => new Date(clock.now().getTime() + days * DAY_MS)
  /** Returns the page of the first question, opened by a candidate. */
  async function asked(...questions: QuestionData[]): Promise<string> {
    const of = await make.assessment(organization.id)
    for (const [i, question] of questions.entries()) await make.question(of, { order: i + 1, script: 'Hello', ...question })
    const invite = await make.invite(of, { ...NO_REQUIREMENTS, waivedChecks: ['microphone'], status: 'accepted' })
    const candidate = candidateOf(service, invite)
    await consent(candidate)
    await candidate.press('start')
    await openTab(service, candidate)
    await candidate.press('open', { number: '1' })
    return (await candidate.open()).text
  }
  const order = async (field: 'createdAt' | 'points', one: unknown, value: unknown, sort: string) => {
    const of = await make.assessment(organization.id)
    const first = await make.question(of, { [field]: one })
    const other = await make.question(of, { [field]: value })
    const { body } = await v1.get(`/assessments/${of.id}/questions?sort=${sort}&order=asc`)
    const ids = body.questions.map(({ id }: { id: string }) => id)
    return ids.indexOf(other.id) < ids.indexOf(first.id)
  }
  /** Returns the texts and attributes about the languages on the pages of a candidate and a grader. */
  async function directions(languages: { sourceLanguage: string; targetLanguage: string }): Promise<unknown> {
    for (const code of Object.values(languages)) await make.language(code)
    const page = await asked(languages)
    const { organization, submissionId } = await makeSubmitted(service, { questions: [languages, {}] })
    const grader = await signInAs(service, organization.id, ['grader'])
    const graded = (await grader.get(`${grader.home}grading/${submissionId}`)).text
    return [
      findIn(page, /data-direction>([^<]*)</),
      findIn(page, /lang="([^"]*)"[^>]*>(?:<p>)?Hello/),
      findIn(page, /<textarea[^>]* lang="([^"]*)"/),
      findIn(graded, /data-direction>.*?([^>]*)<\/p>/s),
    ]
  }

  return {
    id: IDENTITY,
    organizationId: IDENTITY,
    assessmentId: IDENTITY,
    order: effect(
      async (order: number) => /One!/.test(await asked({ order, script: 'One!' }, { order: 2, script: 'Two!' })),
      [1, true],
      [3, false],
    ),
    inputType: effect(
      async (inputType: string) => {
        const { id } = await make.assessment(organization.id)
        return (await v1.post(`/assessments/${id}/questions`).send({ inputType, script: 'Hello' })).status
      },
      ['text', 201],
      ['audio', 400],
    ),
    script: effect(
      async (script: string) => (await asked({ script })).includes('Good day'),
      ['Good day', true],
      ['Hello', false],
    ),
    scriptFormat: testedIn('test/interfaces/portal/assessments/pictures.test.ts', 'scriptFormat'),
    audioUrl: effect(
      async (audioUrl: string) => (await asked({ audioUrl })).includes('data-prompt="audio"'),
      ['https://media.example.com/a.mp3', true],
      ['', false],
    ),
    videoUrl: effect(
      async (videoUrl: string) => (await asked({ videoUrl })).includes('data-prompt="video"'),
      ['https://media.example.com/a.mp4', true],
      ['', false],
    ),
    responseType: effect(
      async (responseType: string) => findIn(await asked({ responseType }), /data-kinds="([^"]*)"/),
      ['text', 'text'],
      ['audio', 'audio'],
    ),
    points: effect((points: number) => order('points', 5, points, 'points'), [1, true], [9, false]),
    timeLimit: effect(
      async (timeLimit: number) => (await asked({ timeLimit })).includes('data-clock="question"'),
      [60, true],
      [0, false],
    ),
    preparationTime: testedIn('test/interfaces/candidate/preparation.test.ts', 'preparationTime'),
    requiredPercent: testedIn('test/interfaces/portal/assessments/bands.test.ts', 'required'),
    simultaneous: testedIn('test/interfaces/candidate/simultaneous.test.ts', 'simultaneous'),
    sourceLanguage: effect(
      (sourceLanguage: string) => directions({ sourceLanguage, targetLanguage: 'en' }),
      ['es', ['Translate from Spanish into English.', 'es', 'en', 'Spanish into English']],
      ['fr', ['Translate from French into English.', 'fr', 'en', 'French into English']],
    ),
    targetLanguage: effect(
      (targetLanguage: string) => directions({ sourceLanguage: 'es', targetLanguage }),
      ['en', ['Translate from Spanish into English.', 'es', 'en', 'Spanish into English']],
      ['ar', ['Translate from Spanish into Arabic.', 'es', 'ar', 'Spanish into Arabic']],
    ),
    section: testedIn('test/import/definitions.test.ts', 'loads sections and pools'),
    pool: testedIn('test/import/definitions.test.ts', 'loads sections and pools'),
    sectionId: testedIn('test/interfaces/portal/assessments/structure.test.ts', 'section'),
    poolId: testedIn('test/interfaces/portal/assessments/structure.test.ts', 'pool'),
    versionId: UNWRITTEN,
    definition: testedIn('test/import/definitions.test.ts', 'definition'),
    libraryQuestionId: UNWRITTEN,
    libraryNumber: UNWRITTEN,
    assetIds: UNWRITTEN,
    rubric: testedIn('test/interfaces/portal/grading/rubric.test.ts', 'rubric'),
    createdAt: effect((value: Date) => order('createdAt', at(-5), value, 'created_at'), [at(-6), true], [at(-4), false]),
    updatedAt: effect(
      async (days: number) => {
        const question = await make.question(await make.assessment(organization.id), { script: 'Hello', updatedAt: at(days) })
        const path = `/assessments/${question.assessmentId}/questions/${question.id}`
        return (await v1.patch(path).send({ script: 'Bye', updatedAt: at(-1).toISOString() })).status
      },
      [-1, 200],
      [-2, 409],
    ),
  }
}
