import { type Expressions, own, sameOwner } from '../../db/own.ts'
import { all, run } from '../../db/statements.ts'
import { insertRows } from '../../db/writes.ts'
import type { Context } from '../context.ts'
import { pointsFor } from '../values/points-for.ts'
import type { QuestionKind, Score } from '../values/question-kind.ts'

// What the keys say of answers. A person's grade stands before it.

/**
 * Scores what is handed in, by the keys as they are now: of questions of a kind alone, and each once for a key. What a kind can't score is
 * left to people, also where it fails, which is logged: nothing stands in the way of handing in.
 */
export async function scoreAnswers(ctx: Context, submissionId: string): Promise<void> {
  const asked = await findAsked(ctx, submissionId)
  if (asked.length === 0) return
  const createdAt = ctx.deps.clock()
  const scores = asked.flatMap(({ number, points, responseType, spec, key, keyNumber, value, versionId }) => {
    const kind = ctx.deps.kinds.get(responseType)
    if (!kind) return []
    const score = tryToScore(ctx, kind, { spec, key, value }, versionId)
    const given =
      score.state === 'scored' ? { points: pointsFor(score, points), parts: score.parts } : { points: null, parts: [] }
    return [{ organizationId: ctx.organization.id, submissionId, questionNumber: number, keyNumber, ...given, createdAt }]
  })
  if (scores.length > 0) await run(ctx.db, insertRows({ questionScores: scores as never }))
}

type Answered = { spec: unknown; key: unknown; value: unknown }

function tryToScore({ deps }: Context, kind: QuestionKind, answered: Answered, versionId: string): Score {
  const { spec, key, value } = answered
  try {
    // No answer is nothing wrong: it gives no points.
    if (value === null || kind.isEmpty(value)) return { state: 'scored', got: 0, of: 1, parts: [] }
    return kind.score(spec, key, value)
  } catch (err) {
    deps.log.error({ err, versionId }, 'An answer could not be scored: it is left to people')
    return { state: 'people' }
  }
}

/** The questions of a kind that the paper has, with the newest key and what was answered. */
function findAsked(ctx: Context, submissionId: string) {
  const asked = own(ctx, 'paperQuestions')
    .innerJoin('questionVersions', (join) =>
      join.on(sameOwner('questionVersions', 'paperQuestions')).onRef('questionVersions.id', '=', 'paperQuestions.versionId'),
    )
    .innerJoinLateral(
      (eb) =>
        own(ctx, 'questionKeys')
          .whereRef('questionKeys.versionId', '=', eb.ref('paperQuestions.versionId').$notNull())
          .orderBy('questionKeys.number', 'desc')
          .limit(1)
          .select(['questionKeys.number as keyNumber', 'questionKeys.key'])
          .as('newest'),
      (join) => join.onTrue(),
    )
    .leftJoin('takes', (join) =>
      join
        .on(sameOwner('takes', 'paperQuestions'))
        .onRef('takes.submissionId', '=', 'paperQuestions.submissionId')
        .onRef('takes.questionNumber', '=', 'paperQuestions.number')
        .on('takes.kind', '=', 'text'),
    )
    .where('paperQuestions.submissionId', '=', submissionId)
    .select([
      'paperQuestions.number',
      'paperQuestions.points',
      'questionVersions.id as versionId',
      'questionVersions.responseType',
    ])
    .select(['questionVersions.spec', 'newest.key', 'newest.keyNumber', 'takes.value'])
  return all(ctx.db, asked)
}

/** A question of a paper. @property scored the points that its key gives the answer; null: it has none, or leaves it to people. */
export type Gradable = { number: number; points: number; scored: number | null }

/** The points that the newest key gives an answer; null where a person has to, or where nothing was scored. */
export const scoredPoints = (eb: Expressions<'paperQuestions'>) =>
  eb.cast<number | null>(
    eb
      .selectFrom('questionScores')
      .where(sameOwner('questionScores', 'paperQuestions'))
      .whereRef('questionScores.submissionId', '=', 'paperQuestions.submissionId')
      .whereRef('questionScores.questionNumber', '=', 'paperQuestions.number')
      .orderBy('questionScores.keyNumber', 'desc')
      .limit(1)
      .select('questionScores.points'),
    'float8',
  )
