import type { Context } from '../context.ts'
import type { Issue, Violation } from '../errors.ts'
import { listCandidateQuestions } from '../invites/candidate-moves.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { MAX_ANSWER_LENGTH, MAX_COMMENT_LENGTH } from '../limits.ts'
import { checkPoints } from '../submissions/grading/save-grade.ts'
import { isRecorded } from '../submissions/needs.ts'
import { checkChoice, checkText } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Answers and grades for a simulation, by question number from 1. The rest is generated. */
export type SimulatedAnswers = {
  answers: readonly { number: number; text: string }[]
  grades: readonly { number: number; points: number; comment?: string | undefined }[]
}

/** @throws DomainError invalid: for a question that there is not, a text where a recording is asked for, points that it does not give. */
export async function checkSimulatedAnswers(
  ctx: Context,
  invite: InviteDetail,
  { answers, grades }: SimulatedAnswers,
): Promise<void> {
  if (answers.length === 0 && grades.length === 0) return
  const paperQuestions = await listAsked(ctx, invite)
  const answerable = paperQuestions.filter((question) => !isRecorded(ctx.deps.kinds, question))
  const pointsOf = new Map(paperQuestions.map(({ number, points }) => [number, points]))
  throwIfIssues([
    ...answers.flatMap(({ number, text }, i) => [
      ...issueOf(`answers.${i}.number`, checkOneOf(number, answerable)),
      ...issueOf(`answers.${i}.text`, checkText(text, MAX_ANSWER_LENGTH)),
    ]),
    ...grades.flatMap(({ number, points, comment = '' }, i) => [
      ...issueOf(`grades.${i}.number`, checkOneOf(number, paperQuestions)),
      ...issueOf(`grades.${i}.points`, checkPoints(points, pointsOf.get(number) ?? points)),
      ...issueOf(`grades.${i}.comment`, checkText(comment, MAX_COMMENT_LENGTH)),
    ]),
  ])
}

type AskedQuestion = { number: number; points: number; responseType: string }

/** Questions of the candidate's paper or, before the start, of the assessment. */
async function listAsked(ctx: Context, invite: InviteDetail): Promise<AskedQuestion[]> {
  const { db, organization } = ctx
  const where = { organizationId: organization.id, submissionId: invite.assessmentSession ?? '' }
  const paper = invite.assessmentSession ? await db.submissionQuestion.findMany({ where, orderBy: { number: 'asc' } }) : []
  if (paper.length > 0) return paper
  return (await listCandidateQuestions(ctx, invite)).map((question, i) => ({ ...question, number: i + 1 }))
}

const checkOneOf = (number: number, questions: AskedQuestion[]): Violation | undefined =>
  checkChoice(
    String(number),
    questions.map((question) => String(question.number)),
  )

const issueOf = (field: string, violation: Violation | undefined): Issue[] => (violation ? [{ field, ...violation }] : [])
