import type { Context } from '../domain/context.ts'
import type { Decision } from '../domain/events/event.ts'
import { decide } from '../domain/invites/decisions/decide.ts'
import { findNeeds } from '../domain/submissions/find-needs.ts'
import { takeGraderSlot } from '../domain/submissions/grading/reassign-grader.ts'
import { releaseResult, reopenResult } from '../domain/submissions/grading/release-result.ts'
import { saveGrade } from '../domain/submissions/grading/save-grade.ts'
import { finishSubmission } from '../domain/submissions/taking/finish-submission.ts'
import { openQuestion } from '../domain/submissions/taking/open-question.ts'
import { closeQuestion } from '../domain/submissions/taking/paper.ts'
import { recordConsent } from '../domain/submissions/taking/record-consent.ts'
import { saveText } from '../domain/submissions/taking/save-text.ts'
import { type CandidateSession, enterSession, findOwnSubmission, requirePrepared } from '../domain/submissions/taking/session.ts'
import { startSubmission } from '../domain/submissions/taking/start-submission.ts'
import answers from './answers.json' with { type: 'json' }
import { type DemoStep, withClockAt } from './replay-steps.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Time for reading before the start, and for answering each question. */
const READING_MS = 2 * MINUTE_MS
const WRITING_MS = 6 * MINUTE_MS
/** Difference of two graders' points, out of ten, that an admin has to decide. */
const TOO_FAR_APART = 2.5
const RECOMMENDED = 'Worth a conversation.'
const THANKS = 'Thank you for the time that you have taken. We will write to you about the next step.'

type Answer = { text: string; points?: number; levels?: number[]; comment: string }
/** Answers with their points or levels of the rubric, and comments, by assessment and question, from best to worst. */
const ANSWERS: Record<string, Answer[][]> = answers
/** The demo has no recordings, so only these written assessments are taken. The second one has a second grader, the third one a rubric. */
export const [ONE_GRADER, TWO_GRADERS, RUBRIC] = [
  'Working remotely, in writing',
  'Backend engineering, written exercise',
  'Customer support in writing',
] as const
type WrittenAssessment = typeof ONE_GRADER | typeof TWO_GRADERS | typeof RUBRIC
/** Decisions about the candidates with a rubric, by their number. */
const DECISIONS: [Decision, note: string][] = [
  ['advance', 'Meets the team on Thursday.'],
  ['shortlist', ''],
  ['reject', 'Would need more practice in writing.'],
  ['hold', 'Perhaps for the team in the evening.'],
]

export type Grader = { id: string; userId: string; roles: string[] }
export type Graders = { admin: Grader; first: Grader; second: Grader }

/** Progress of grading. `byOne` to `decided` are for assessments with a second grader; `chosen` results have a decision about the candidate. */
export type GradingStage =
  | 'ungraded'
  | 'inPart'
  | 'graded'
  | 'reopened'
  | 'releasedAnew'
  | 'byOne'
  | 'undecided'
  | 'decided'
  | 'chosen'

/** A candidate's accepted invite. @property n number of the candidate, which selects the answers. */
export type AcceptedInvite = { inviteId: string; assessment: WrittenAssessment; n: number }

/** Gives consent. */
export async function giveDemoConsent(ctx: Context, inviteId: string): Promise<CandidateSession> {
  const session = await enterSession(ctx, { inviteId, linkVersion: 1 })
  await recordConsent(session, { needs: await findNeeds(session.ctx, session.invite, null), userAgent: '' })
  return { ...session, submission: await findOwnSubmission(session.ctx, session.invite) }
}

/** Takes the assessment after the consent. @param upTo number of answers to write. If it covers all, the test is submitted. */
export async function takeAssessment(
  ctx: Context,
  { inviteId, assessment, n }: AcceptedInvite,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  const session = await giveDemoConsent(ctx, inviteId)
  requirePrepared(session)
  const sessionAt = (time: number) => ({ ...session, ctx: withClockAt(session.ctx, time) })
  let now = ctx.deps.clock().getTime() + READING_MS
  await startSubmission(sessionAt(now))
  const last = ANSWERS[assessment]!.length
  for (let number = 1; number <= last; number++) {
    await openQuestion(sessionAt(now), number)
    if (number > upTo) return
    now += WRITING_MS
    await saveText(sessionAt(now), number, answerOf(assessment, n, number))
    if (number < last) await closeQuestion(sessionAt(now), number)
  }
  await finishSubmission(sessionAt(now))
}

function answerOf(assessment: WrittenAssessment, n: number, number: number) {
  const variants = ANSWERS[assessment]![number - 1]!
  return { number, ...variants[(n + Math.floor(n / 3) * number) % variants.length]! }
}

/** First and second grader of a submission: graders alternate, and the admin takes every fourth. */
export function assignGraders({ admin, first, second }: Graders, n: number): [Grader, Grader] {
  if (n % 4 === 2) return [admin, first]
  return n % 4 === 3 ? [second, first] : [first, second]
}

/** Steps that graders take after the submission. @param startsAt time of the submission in milliseconds since 1970. */
export function gradingSteps(
  { inviteId, assessment, n }: AcceptedInvite,
  stage: GradingStage,
  graders: Graders,
  startsAt: number,
): DemoStep[] {
  const questions = ANSWERS[assessment]!.map((_, i) => answerOf(assessment, n, i + 1))
  const [first, second] = assignGraders(graders, n)
  const [decision, note] = DECISIONS[n % DECISIONS.length]!
  const stepBy = (grader: Grader, hours: number, work: (ctx: Context, submissionId: string) => Promise<unknown>): DemoStep => ({
    at: startsAt + hours * HOUR_MS,
    run: async (ctx) => {
      const where = { organizationId: ctx.organization.id, inviteId }
      const { id } = await ctx.db.submission.findFirstOrThrow({ where, select: { id: true } })
      await work({ ...ctx, actor: { kind: 'member', ...grader } }, id)
    },
  })
  const grade =
    (questionsToAnswer: typeof questions, fewer = 0) =>
    async (ctx: Context, submissionId: string) => {
      for (const { number, points = null, levels, comment } of questionsToAnswer)
        await saveGrade(ctx, {
          ...{ submissionId, number, levels, comment, seen: ctx.deps.clock() },
          points: points === null ? null : points - fewer,
        })
    }
  const release = (hours: number, grader = first): DemoStep =>
    stepBy(grader, hours, (ctx, submissionId) =>
      releaseResult(ctx, { submissionId, comment: RECOMMENDED, message: THANKS, toCandidate: true }),
    )
  const reopen = (hours: number): DemoStep => stepBy(first, hours, reopenResult)
  const firstGrades = stepBy(first, 18, grade(questions))
  const bothGrade = (fewer: number): DemoStep[] => [
    firstGrades,
    stepBy(second, 20, takeGraderSlot),
    stepBy(
      second,
      26,
      grade(
        questions.map((question) => ({ ...question, comment: '' })),
        fewer,
      ),
    ),
  ]
  const isSmall = ({ number }: { number: number }) => number > 2
  const steps: Record<GradingStage, () => DemoStep[]> = {
    ungraded: () => [],
    inPart: () => [stepBy(first, 18, grade(questions.slice(0, 2)))],
    graded: () => [firstGrades],
    reopened: () => [firstGrades, release(22), reopen(70)],
    releasedAnew: () => [firstGrades, release(22), reopen(70), stepBy(first, 71, grade(questions.slice(0, 1), 0.5)), release(72)],
    byOne: () => [firstGrades, stepBy(second, 20, takeGraderSlot)],
    undecided: () => bothGrade(TOO_FAR_APART),
    decided: () => [
      ...bothGrade(TOO_FAR_APART),
      stepBy(graders.admin, 40, grade(questions.filter(isSmall), 1)),
      release(41, graders.admin),
    ],
    chosen: () => [
      firstGrades,
      release(22),
      stepBy(graders.admin, 30, (ctx, submissionId) => decide(ctx, submissionId, { decision, note })),
    ],
  }
  return steps[stage]()
}
