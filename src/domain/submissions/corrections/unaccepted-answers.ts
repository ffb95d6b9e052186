import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import type { Context } from '../../context.ts'
import type { CorrectableVersion } from './correct-key.ts'

/** Different spellings that are looked at, the most frequent first. */
const MOST_SPELLINGS = 2_000
const MOST_LISTED = 50

/**
 * Answers that the key doesn't accept.
 *
 * @property answer in its most frequent spelling. @property canAccept true if the key could accept it alone.
 */
export type UnacceptedAnswer = { answer: string; count: number; canAccept: boolean }

/** Answers without points, or that need a grader, grouped by their normalized form, most frequent first. */
export async function listUnacceptedAnswers(ctx: Context, version: CorrectableVersion): Promise<UnacceptedAnswer[]> {
  const { responseType, spec, newest, versionId } = version
  const kind = ctx.deps.kinds.get(responseType)
  if (!kind?.accepts) return []
  const { accepts } = kind
  const answered = ctx.db
    .selectFrom('submissions')
    .where('submissions.state', 'in', [sql.lit('submitted' as const), sql.lit('released' as const)])
    .innerJoin(ctx.db.table('submissionQuestions'), (join) =>
      join.onRef('submissionQuestions.submissionId', '=', 'submissions.id').on('submissionQuestions.versionId', '=', versionId),
    )
    .innerJoin(ctx.db.table('answerAttempts'), (join) =>
      join
        .onRef('answerAttempts.submissionId', '=', 'submissionQuestions.submissionId')
        .onRef('answerAttempts.questionNumber', '=', 'submissionQuestions.number')
        .on('answerAttempts.kind', '=', 'text'),
    )
    .where(({ ref }) => sql<SqlBool>`jsonb_typeof(${ref('answerAttempts.value')}) = 'string'`)
    .select('answerAttempts.value')
    .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
    .groupBy('answerAttempts.value')
    .orderBy('count', 'desc')
    .orderBy('answerAttempts.value')
    .limit(MOST_SPELLINGS)
  const groups = new Map<string, UnacceptedAnswer>()
  for (const { value, count } of await answered.execute()) {
    if (kind.isEmpty(value)) continue
    const score = kind.score(spec, newest.key, value)
    if (score.state === 'scored' && score.got > 0) continue
    const group = accepts.group(newest.key, value)
    const found = groups.get(group)
    if (found) found.count += count
    else groups.set(group, { answer: String(value), count, canAccept: accepts.add(newest.key, value, 100) !== null })
  }
  return [...groups.values()].sort((one, other) => other.count - one.count).slice(0, MOST_LISTED)
}

/** The key that takes an answer, too. @returns undefined: no key can take it alone. */
export function acceptAnswer(ctx: Context, { responseType, newest }: CorrectableVersion, answer: string, share: number): unknown {
  const accepts = ctx.deps.kinds.get(responseType)?.accepts
  return accepts?.add(newest.key, answer, share) ?? undefined
}
