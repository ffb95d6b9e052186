import { sql } from '../../../db/builder.ts'
import { isNotSuspended, sameOrganization } from '../../../db/queries.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { type FailedItem, processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { startTimeBudget } from '../../concurrency/sweep-parts.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { DAY_MS } from '../../time/days.ts'
import { inTransaction } from '../../transaction.ts'
import { chooseAnswer } from '../choose-answer.ts'

/** Submissions of one statement. */
const FOUND_AT_ONCE = 100
/** So much later than the one before it each recording of an organization is due, so that organizations take turns. */
const TURN_MS = 30_000

type Found = Context['organization'] & { submissionId: string; mode: 'live' | 'test' }

/**
 * Queues recorded answers of submitted tests to be transcribed, of all organizations, for the scheduled sweep. Attempts that don't count
 * as the answer are not sent.
 *
 * @returns how many were queued.
 */
export async function queueTranscripts(system: ServiceContext): Promise<number> {
  if (!system.deps.transcriber) return 0
  let queued = 0
  const failed: FailedItem<Found>[] = []
  for (const isOver = startTimeBudget(); !isOver(); ) {
    const found = await findSubmitted(
      system,
      failed.map(({ item }) => item.submissionId),
    )
    const failedNow = await processEach(found, async ({ submissionId, mode, ...organization }) => {
      queued += await inTransaction(enterOrganization(system, organization), (inside) =>
        queueAnswers(inside, submissionId, mode === 'test'),
      )
    })
    failed.push(...failedNow)
    if (found.length < FOUND_AT_ONCE) break
  }
  throwFirstFailure(failed)
  return queued
}

/** Organizations that are suspended wait. */
function findSubmitted({ db }: ServiceContext, without: string[]): Promise<Found[]> {
  const submitted = unscoped(db)
    .selectFrom('transcripts')
    .innerJoin('mediaFiles', (join) =>
      join.on(sameOrganization('mediaFiles', 'transcripts')).onRef('mediaFiles.id', '=', 'transcripts.mediaId'),
    )
    .innerJoin('submissions', (join) =>
      join.on(sameOrganization('submissions', 'mediaFiles')).onRef('submissions.id', '=', 'mediaFiles.submissionId'),
    )
    .innerJoin('organizations', 'organizations.id', 'transcripts.organizationId')
    .where('transcripts.state', '=', sql.lit('waiting'))
    .where('submissions.state', 'in', ['submitted', 'released'])
    .where(isNotSuspended('transcripts'))
    .select(['organizations.id', 'organizations.name', 'organizations.tier'])
    .select(['submissions.id as submissionId', 'submissions.mode'])
    .distinct()
    .orderBy('submissions.id')
    .limit(FOUND_AT_ONCE)
  return (without.length > 0 ? submitted.where('submissions.id', 'not in', without) : submitted).execute()
}

async function queueAnswers({ db, deps, organization }: Context, submissionId: string, isTest: boolean): Promise<number> {
  const organizationId = organization.id
  const where = { organizationId, state: 'waiting', media: { submissionId } }
  const waiting = await db.transcript.findMany({ where, select: { mediaId: true } })
  const attempts = await db.answerAttempt.findMany({
    where: { organizationId, submissionId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const byQuestion = Map.groupBy(attempts, ({ questionNumber }) => questionNumber)
  const answers = new Set([...byQuestion.values()].map((attemptsOfQuestion) => chooseAnswer(attemptsOfQuestion)?.mediaId))
  const ids = waiting.map(({ mediaId }) => mediaId).filter((id) => answers.has(id))
  await db.transcript.deleteMany({ where: { ...where, mediaId: { notIn: ids } } })
  await db.transcript.updateMany({ where: { ...where, mediaId: { in: ids } }, data: { state: 'queued' } })
  const ahead = (await db.transcript.count({ where: { organizationId, state: 'queued' } })) - ids.length
  const now = deps.clock().getTime()
  for (const [i, mediaId] of ids.entries()) {
    // Test recordings come after the live ones of a day.
    const dueAt = new Date(now + (ahead + i) * TURN_MS + (isTest ? DAY_MS : 0))
    await deps.queue.enqueueTranscript(db, { mediaId, organizationId, dueAt })
  }
  return ids.length
}
