import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { checkSize, checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { listQueue, type QueuedSubmission, visibleQueues } from './queue.ts'
import { releaseResult } from './release-result.ts'

/** Results of one request. */
export const MAX_RELEASED_AT_ONCE = 100
/** Submissions that are checked for ready results, longest waiting first. */
const MAX_LOOKED_AT = 1_000

/** Submission that is ready to release. */
export type ReadyResult = QueuedSubmission & { progress: NonNullable<QueuedSubmission['progress']> }

/** The results that can be released now, longest waiting first. @throws DomainError not_permitted. */
export async function listReady(ctx: Context, assessmentId: string | undefined): Promise<ReadyResult[]> {
  authorize(ctx, 'release_results')
  const ready: ReadyResult[] = []
  for (const queueName of visibleQueues(ctx).filter((name) => name === 'release' || name === 'all'))
    for (let number = 1; number <= MAX_LOOKED_AT / MAX_RELEASED_AT_ONCE && ready.length < MAX_RELEASED_AT_ONCE; number++) {
      const { items, total } = await listQueue(ctx, { queue: queueName, assessmentId }, { number, size: MAX_RELEASED_AT_ONCE })
      ready.push(...items.filter(isReady))
      if (number * MAX_RELEASED_AT_ONCE >= total) break
    }
  return ready.slice(0, MAX_RELEASED_AT_ONCE)
}

const isReady = (queued: QueuedSubmission): queued is ReadyResult =>
  queued.progress !== null &&
  !queued.progress.isOwnPart &&
  queued.progress.ungraded.length + queued.progress.undecided.length === 0

type ReleaseRequest = { results: { submissionId: string; seenPoints: number }[]; message: string; toCandidate: boolean }

/**
 * Releases these results one by one. Skips those that changed since they were shown.
 *
 * @returns the numbers of released and skipped results. @throws DomainError not_permitted; invalid.
 */
export async function releaseMany(
  ctx: Context,
  { results, message, toCandidate }: ReleaseRequest,
): Promise<{ released: number; kept: number }> {
  authorize(ctx, 'release_results')
  throwIfIssues(
    findIssues([
      ['results', results.length === 0 ? { rule: 'required' } : checkSize('maxItems', results.length, MAX_RELEASED_AT_ONCE)],
      ['message', checkText(message, MAX_COMMENT_LENGTH)],
    ]),
  )
  let released = 0
  // In one order, so that two requests in transactions do not wait for each other.
  const inOrder = results.toSorted((a, b) => (a.submissionId < b.submissionId ? -1 : 1))
  for (const result of inOrder) {
    const release = (inside: Context) => releaseResult(inside, { ...result, comment: '', message, toCandidate })
    await inTransaction(ctx, release).then(() => released++, ignoreChangedResult)
  }
  return { released, kept: results.length - released }
}

/** Ignores results that were graded, reopened, or released in the meantime. */
function ignoreChangedResult(error: unknown): void {
  if (!(error instanceof DomainError)) throw error
}
