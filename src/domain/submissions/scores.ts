import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expressions, type SqlBool } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import { copyColumns, givenRows, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import type { QuestionScore } from '../../generated/prisma/client.ts'
import { type KeyEffect, newestKeys } from '../assessments/answer-keys.ts'
import type { Context } from '../context.ts'
import type { AnswerPart, AnswerScoring, QuestionKind } from '../ports/question-kind.ts'
import { penaltyFor, pointsFor } from './points.ts'

// Scores by answer keys. A person's grade takes precedence.

/**
 * Scores submitted answers to questions of a kind by their current keys, once per key. Answers that the kind can't score, or fails on
 * (which is logged), are left to graders: nothing may prevent submitting.
 *
 * @param versionId only answers to this version; undefined: all. @returns true if there was anything to score.
 */
export async function scoreAnswers(ctx: Context, submissionId: string, versionId?: string): Promise<boolean> {
  const answered = await findAnswered(ctx, submissionId, versionId)
  const scores = answered.flatMap((answer) => {
    const score = scoreAnswer(ctx, answer)
    return score ? [{ submissionId, questionNumber: answer.number, keyNumber: answer.keyNumber, ...score }] : []
  })
  if (scores.length === 0) return false
  await insertScores(ctx, scores)
  await recordGradingNeeds(ctx, [submissionId])
  return true
}

type NewScore = AnswerScore &
  Pick<QuestionScore, 'submissionId' | 'questionNumber' | 'keyNumber'> & { outcome?: QuestionScore['outcome'] }

/** Inserts scores of answers. A score that exists already for the same key stays. */
export async function insertScores({ db, organization, deps }: Context, scores: NewScore[]): Promise<void> {
  const insertion = insertFromSelect(
    db,
    'questionScores',
    db.selectFrom(givenRows('questionScores', scores).as('score')),
    (eb) => ({
      organizationId: uuid(organization.id),
      ...copyColumns(eb, 'submissionId', 'questionNumber', 'keyNumber', 'points', 'parts', 'dropped', 'outcome'),
      createdAt: timestamp(deps.clock()),
    }),
  )
  await insertion.onConflict((conflict) => conflict.doNothing()).execute()
}

/** Answer to score. @property value null: no answer. @property penaltyPercent of the points. */
export type AnswerToScore = {
  points: number
  penaltyPercent: number
  versionId: string
  responseType: string
  spec: unknown
  key: unknown
  effect: KeyEffect
  value: unknown
}

/** @property points null: a person has to grade, or the question is dropped and does not count. */
export type AnswerScore = { points: number | null; dropped: boolean; parts: AnswerPart[] }

/** @returns null if the kind does not exist (any more). */
export function scoreAnswer(ctx: Context, answered: AnswerToScore): AnswerScore | null {
  const { points, effect, responseType, penaltyPercent, value } = answered
  const kind = ctx.deps.kinds.get(responseType)
  if (!kind) return null
  const isEmpty = value === null || isTriedEmpty(kind, value)
  const score = tryToScore(ctx, kind, answered, isEmpty)
  const parts = score.state === 'scored' ? score.parts : []
  if (effect === 'none') return { points: null, dropped: true, parts }
  if (effect === 'full') return { points, dropped: false, parts }
  if (score.state === 'people') return { points: null, dropped: false, parts }
  const isWrong = score.got === 0 && !isEmpty && kind.penalizes
  return { points: isWrong ? -penaltyFor(penaltyPercent, points) : pointsFor(score, points), dropped: false, parts }
}

function tryToScore({ deps }: Context, kind: QuestionKind, answered: AnswerToScore, isEmpty: boolean): AnswerScoring {
  const { spec, key, value, versionId } = answered
  if (kind.files) return { state: 'people' } // a file that is still on its way may arrive later
  try {
    // No answer is nothing wrong: it gives no points.
    return isEmpty ? { state: 'scored', got: 0, of: 1, parts: [] } : kind.score(spec, key, value)
  } catch (err) {
    deps.log.error({ err, versionId }, 'an answer could not be scored: it is left to graders')
    return { state: 'people' }
  }
}

/** A value in another form is not empty, and fails when it is scored. */
function isTriedEmpty(kind: QuestionKind, value: unknown): boolean {
  try {
    return kind.isEmpty(value)
  } catch {
    return false
  }
}

/** Questions of a kind in the paper, with the newest key and the answer. */
function findAnswered(ctx: Context, submissionId: string, versionId: string | undefined) {
  const answeredQuestions = ctx.db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submissionId)
    .$if(versionId !== undefined, (query) => query.where('submissionQuestions.versionId', '=', versionId!))
    .innerJoin(ctx.db.table('submissions'), 'submissions.id', 'submissionQuestions.submissionId')
    .innerJoin(ctx.db.table('questionVersions'), 'questionVersions.id', 'submissionQuestions.versionId')
    .innerJoinLateral(
      (eb) =>
        newestKeys(ctx.db).whereRef('answerKeys.versionId', '=', eb.ref('submissionQuestions.versionId').$notNull()).as('newest'),
      (join) => join.onTrue(),
    )
    .leftJoin(ctx.db.table('answerAttempts'), (join) =>
      join
        .onRef('answerAttempts.submissionId', '=', 'submissionQuestions.submissionId')
        .onRef('answerAttempts.questionNumber', '=', 'submissionQuestions.number')
        .on('answerAttempts.kind', '=', 'text'),
    )
    .select([
      'submissionQuestions.number',
      'submissionQuestions.points',
      'submissions.penaltyPercent',
      'questionVersions.id as versionId',
      'questionVersions.responseType',
    ])
    .select(['questionVersions.spec', 'newest.key', 'newest.effect', 'newest.keyNumber', 'answerAttempts.value'])
  return answeredQuestions.execute()
}

/** Score by the newest key. @property keyedAt when the key was saved. */
export type ShownScore = {
  number: number
  keyNumber: number
  key: unknown
  effect: KeyEffect
  keyedAt: Date
  parts: AnswerPart[]
}

/** Scores of a submission with their keys, for graders. */
export async function findScores({ db, organization }: Context, submissionId: string): Promise<ShownScore[]> {
  const organizationId = organization.id
  const scores = await db.questionScore.findMany({
    where: { organizationId, submissionId },
    distinct: ['questionNumber'],
    orderBy: [{ questionNumber: 'asc' }, { keyNumber: 'desc' }],
    include: { question: { select: { versionId: true } } },
  })
  const versionIds = scores.flatMap(({ question }) => question.versionId ?? [])
  const keys = await db.answerKey.findMany({ where: { organizationId, versionId: anyOf(versionIds) } })
  return scores.flatMap(({ questionNumber: number, keyNumber, parts, question }) => {
    const used = keys.find((candidate) => candidate.versionId === question.versionId && candidate.number === keyNumber)
    if (!used) return []
    const { key, effect, createdAt: keyedAt } = used
    return [{ number, keyNumber, key, effect: effect as KeyEffect, keyedAt, parts: parts as AnswerPart[] }]
  })
}

/** The numbers of the newest keys that scored a submission, by the numbers of its questions. */
export async function findKeyNumbers({ db, organization }: Context, submissionId: string): Promise<Map<number, number>> {
  const where = { organizationId: organization.id, submissionId }
  const used = await db.questionScore.groupBy({ by: ['questionNumber'], where, _max: { keyNumber: true } })
  return new Map(used.flatMap(({ questionNumber, _max }) => (_max.keyNumber === null ? [] : [[questionNumber, _max.keyNumber]])))
}

/** Records which scored submissions still need graders: a question with points has none. Unchanged ones are not written. */
export async function recordGradingNeeds(ctx: Context, submissionIds: readonly string[]): Promise<void> {
  const questionsForGraders = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', anyOfIds(submissionIds))
    .select('submissions.id')
    .select((eb) => needsGrader(eb, ctx.db).as('needsGrading'))
  const update = ctx.db
    .updateTable('submissions')
    .from(questionsForGraders.as('left'))
    .whereRef('left.id', '=', 'submissions.id')
    .where(({ ref }) => sql<SqlBool>`${ref('submissions.needsGrading')} is distinct from ${ref('left.needsGrading')}`)
    .set(({ ref }) => ({ needsGrading: ref('left.needsGrading') }))
  await update.execute()
}

const needsGrader = (eb: Expressions<'submissions'>, db: TenantDb) =>
  sql<boolean>`exists (${eb
    .selectFrom(db.table('submissionQuestions'))
    .whereRef('submissionQuestions.submissionId', '=', 'submissions.id')
    .where('submissionQuestions.points', '>', 0)
    .where((paper) => isUnscored(paper, db))
    .select('submissionQuestions.number')})`

/** SQL condition: no key has given points, or excluded the question. */
export const isUnscored = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  sql<SqlBool>`not coalesce((${newestScores(eb, db).select(({ ref }) =>
    sql<boolean>`${ref('questionScores.points')} is not null or ${ref('questionScores.dropped')}`.as('scored'),
  )}), false)`

/**
 * A question of a paper.
 *
 * @property scored the points that its key gives the answer; null: it has none, or leaves it to people. @property dropped whether its key
 *   says that the question is not counted. @property unanswered see {@link isUnanswered}.
 */
export type GradableQuestion = { number: number; points: number; scored: number | null; dropped: boolean; unanswered: boolean }

/** Facts of a question for grading. */
export const gradingFacts = (eb: Expressions<'submissionQuestions'>, db: TenantDb) => [
  scoredPoints(eb, db).as('scored'),
  isDropped(eb, db).as('dropped'),
  isUnanswered(eb, db).as('unanswered'),
]

/**
 * SQL condition: the question was not answered, and no further attempt is offered. A recording counts from its first part, also
 * if it could not be joined.
 */
export const isUnanswered = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  sql<boolean>`not exists (${eb
    .selectFrom(db.table('answerAttempts'))
    .whereRef('answerAttempts.submissionId', '=', 'submissionQuestions.submissionId')
    .whereRef('answerAttempts.questionNumber', '=', 'submissionQuestions.number')
    .where('answerAttempts.state', '<>', sql.lit('abandoned'))
    .where(({ ref }) => sql<SqlBool>`(${ref('answerAttempts.kind')} <> 'text' or ${ref('answerAttempts.text')} ~ '[^[:space:]]')`)
    .select('answerAttempts.id')}) and not exists (${openRetake(eb, db)})`

/** The retake of the invite that a question was asked for, unless that retake expired or was revoked. */
const openRetake = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('submissions'))
    .whereRef('submissions.id', '=', 'submissionQuestions.submissionId')
    .innerJoin(db.table('invites'), 'invites.id', 'submissions.inviteId')
    .innerJoin(db.table('invites as retake'), (join) =>
      join
        .onRef('retake.assessmentId', '=', 'invites.assessmentId')
        .onRef('retake.mode', '=', 'invites.mode')
        .on(sql<SqlBool>`address_key(retake.recipient_email) = address_key(invites.recipient_email)`)
        .on(sql<SqlBool>`retake.attempt = invites.attempt + 1`),
    )
    .where('retake.status', 'not in', [sql.lit('expired' as const), sql.lit('revoked' as const)])
    .select('retake.id')

/** SQL: points by the newest key; null if a person has to grade, or if nothing was scored. */
export const scoredPoints = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  eb.cast<number | null>(newestScores(eb, db).select('questionScores.points'), 'float8')

/** SQL condition: the newest key excludes the question. */
export const isDropped = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  sql<boolean>`coalesce(${newestScores(eb, db).select('questionScores.dropped')}, false)`

/** The score of the newest key. */
export const newestScores = (eb: Expressions<'submissionQuestions'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('questionScores'))
    .whereRef('questionScores.submissionId', '=', 'submissionQuestions.submissionId')
    .whereRef('questionScores.questionNumber', '=', 'submissionQuestions.number')
    .orderBy('questionScores.keyNumber', 'desc')
    .limit(1)
