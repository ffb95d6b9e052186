import { defineQuestion } from '../../src/domain/assessments/define-question.ts'
import { definedKinds, kinds } from '../../src/kinds/index.ts'
import { consent } from './candidate.ts'
import { asOperator } from './portal.ts'
import type { Service } from './service.ts'
import { makeAccepted, type Taken } from './taking.ts'

/** Returns the examples of these response types, or by default of all types that are answered with a form. */
export const examplesOf = (...words: string[]) =>
  definedKinds
    .filter(({ files }) => words.length > 0 || !files)
    .flatMap(({ examples }) => examples)
    .filter(({ responseType }) => words.length === 0 || words.includes(responseType))

type Defined = { responseType: string; spec: unknown; key: unknown }

/** Creates an accepted invite to an assessment with these questions, followed by `texts` text questions. Each has ten points by default. */
export async function makeDefined<D extends Defined>(
  service: Service,
  definitions: readonly D[],
  { texts = 0, points = 10, ...of }: { texts?: number; points?: number } & Taken = {},
) {
  const questions = Array.from({ length: definitions.length + texts }, () => ({ points }))
  const made = await makeAccepted(service, { questions, ...of })
  const { candidate, organization, assessment } = made
  const ctx = asOperator(service, organization)
  const asked = await service.db.question.findMany({ where: { assessmentId: assessment.id }, orderBy: { order: 'asc' } })
  for (const [i, { responseType, spec, key }] of definitions.entries()) {
    const ref = { assessmentId: assessment.id, questionId: asked[i]!.id }
    await defineQuestion(ctx, ref, { responseType, spec, key })
  }
  const start = async () => {
    await consent(candidate)
    await candidate.press('start')
  }
  /** Answers a question with the form of its page, as without scripts. `undefined` leaves it unanswered. */
  const answer = async (number: number, value: unknown) => {
    const { responseType } = definitions[number - 1]!
    const fields = value === undefined ? [] : kinds.get(responseType)!.toForm(value)
    await candidate.press('open', { number: String(number) })
    const form = new URLSearchParams([
      ['proof', candidate.proof],
      ['number', String(number)],
      ...fields.map((field): [string, string] => ['answer', field]),
      ['then', 'next'],
    ])
    await service.http().post(`${candidate.path}/answer`).type('form').send(form.toString())
  }
  return {
    ...made,
    ctx,
    asked,
    start,
    answer,
    /** Starts, answers all questions, and submits. @returns the submission's id. */
    take: async (answers: readonly unknown[]) => {
      await start()
      for (const [i, value] of answers.entries()) await answer(i + 1, value)
      for (let i = 0; i < texts; i++) {
        const number = String(definitions.length + i + 1)
        await candidate.press('open', { number })
        await candidate.answer(Number(number), `Answer ${number}`, 'next')
      }
      await candidate.press('finish')
      return (await made.submission()).id
    },
    scores: async () => {
      const { id: submissionId } = await made.submission()
      const scores = await service.db.questionScore.findMany({
        where: { submissionId },
        orderBy: [{ questionNumber: 'asc' }, { keyNumber: 'asc' }],
      })
      return scores.map(({ points }) => points && Number(points))
    },
  }
}
