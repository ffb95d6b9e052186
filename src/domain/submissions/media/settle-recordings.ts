import { sql } from '../../../db/builder.ts'
import { type SqlBool, sameOrganization } from '../../../db/queries.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { type FailedItem, processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { UPLOAD_GRACE_SECONDS } from '../../limits.ts'
import { inTransaction } from '../../transaction.ts'
import { queueJoin } from './queue-join.ts'

// Closes recordings with the parts that have arrived.

export const countParts = ({ db, organization }: Context, mediaId: string): Promise<number> =>
  db.mediaFilePart.count({ where: { organizationId: organization.id, mediaId } })

/** Number of segments of which a part has arrived. */
export async function countSegments(
  { db, organization }: Pick<Context, 'db' | 'organization'>,
  mediaId: string,
): Promise<number> {
  const where = { organizationId: organization.id, mediaId }
  return (await db.mediaFilePart.findMany({ where, distinct: ['segment'], select: { segment: true } })).length
}

/**
 * Ends open recordings before a later attempt begins. Parts recorded in time may still arrive; {@link settleOverdueRecordings}
 * does the rest. Recordings that the candidate had not stopped count as cut off.
 */
export async function completeOpenRecordings(ctx: Context, submissionId: string, number?: number): Promise<void> {
  const openAttempts = ctx.db
    .updateTable('answerAttempts')
    .where('answerAttempts.submissionId', '=', submissionId)
    .where('answerAttempts.state', '=', 'recording')
  const ended = openAttempts.set((eb) => {
    const [at, state] = [eb.ref('answerAttempts.completedAt'), eb.ref('answerAttempts.state')]
    const parts = eb
      .selectFrom(ctx.db.table('mediaFileParts'))
      .select('mediaFileParts.number')
      .whereRef('mediaFileParts.mediaId', '=', 'answerAttempts.mediaId')
    return {
      completedAt: sql<Date>`coalesce(${at}, ${ctx.deps.clock()})`,
      wasInterrupted: sql<boolean>`${eb.ref('answerAttempts.wasInterrupted')} or ${at} is null`,
      state: sql<'complete'>`case when ${eb.exists(parts)} then 'complete'::answer_attempt_state else ${state} end`,
    }
  })
  await (number === undefined ? ended : ended.where('answerAttempts.questionNumber', '=', number)).execute()
}

/**
 * Ends a recording in the open transaction: queues joining it, or abandons it if nothing has arrived. A file is abandoned unless all of
 * it has.
 *
 * @param declaredParts number of parts per segment, if the browser has sent it. @param isStopped true if the candidate stopped it;
 *   otherwise it was interrupted, unless they stopped it earlier.
 */
export async function settleRecording(
  ctx: Context,
  mediaId: string,
  { declaredParts = [], isStopped = false }: { declaredParts?: number[]; isStopped?: boolean } = {},
): Promise<void> {
  const { db, deps, organization } = ctx
  const organizationId = organization.id
  const file = await lockRecording(ctx, mediaId)
  const isFile = file?.attemptId != null
  if (!(await hasArrived(ctx, mediaId, isFile ? file.declaredParts[0]! : null))) return discardRecording(ctx, mediaId)
  const completedAt = deps.clock()
  const [settled] = await db.mediaFile.updateManyAndReturn({
    where: { organizationId, id: mediaId, state: 'uploading' },
    data: { state: 'joining', completedAt, ...(!isFile && { declaredParts }) },
    select: { key: true },
  })
  if (!settled) return
  const complete = ctx.db
    .updateTable('answerAttempts')
    .where('answerAttempts.mediaId', '=', mediaId)
    .where('answerAttempts.state', '<>', 'abandoned')
    .set(({ ref }) => ({
      state: 'complete',
      completedAt: sql<Date>`coalesce(${ref('answerAttempts.completedAt')}, ${completedAt})`,
      wasInterrupted: isStopped
        ? false
        : sql<boolean>`${ref('answerAttempts.wasInterrupted')} or ${ref('answerAttempts.completedAt')} is null`,
    }))
  await (isFile ? recordFiles(ctx, file.attemptId!) : complete.execute())
  await queueJoin(ctx, { id: mediaId, organizationId, key: settled.key })
}

/** Something has arrived of a recording, or everything of a file. @param declared number of parts of a file; null for a recording. */
async function hasArrived({ db, organization }: Context, mediaId: string, declared: number | null): Promise<boolean> {
  const where = { organizationId: organization.id, mediaId }
  if (declared === null) return (await db.mediaFilePart.count({ where })) > 0
  const whole = { ...where, segment: 0, number: { lt: declared } }
  return (await db.mediaFilePart.count({ where: whole })) === declared
}

/**
 * Records the files that have arrived as the answer. The caller has locked one of them.
 *
 * @param attemptId of the answer.
 */
export async function recordFiles(ctx: Context, attemptId: string): Promise<void> {
  const { db, deps, organization } = ctx
  const where = { organizationId: organization.id, id: attemptId }
  const { submissionId, question } = await db.answerAttempt.findFirstOrThrow({
    where,
    select: { submissionId: true, question: { select: { version: { select: { responseType: true, spec: true } } } } },
  })
  await ctx.db.selectFrom('submissions').select('id').where('id', '=', submissionId).forNoKeyUpdate().execute()
  const files = await db.mediaFile.findMany({
    where: { organizationId: organization.id, attemptId, state: { in: ['joining', 'ready', 'failed'] } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const value = files.map(({ id, fileName, bytes, contentType }) => ({
    id,
    name: fileName!,
    bytes: Number(bytes),
    type: contentType,
  }))
  const { responseType, spec } = question.version!
  const text = deps.kinds.get(responseType)!.describe(spec, value)
  await db.answerAttempt.updateMany({ where, data: { value, text, revision: { increment: 1 }, completedAt: deps.clock() } })
}

/** Locks a recording: a part that is being taken is known by then, or is refused. */
export const lockRecording = (ctx: Context, mediaId: string) =>
  ctx.db
    .selectFrom('mediaFiles')
    .select(['id', 'attemptId', 'declaredParts'])
    .where('id', '=', mediaId)
    .forNoKeyUpdate()
    .executeTakeFirst()

/** Its files go with the next sweep. */
export async function discardRecording({ db, deps, organization }: Context, mediaId: string): Promise<void> {
  const organizationId = organization.id
  const deleted = { state: 'deleted', deletedAt: deps.clock() } as const
  const { count } = await db.mediaFile.updateMany({ where: { organizationId, id: mediaId, state: 'uploading' }, data: deleted })
  if (count > 0)
    await db.answerAttempt.updateMany({ where: { organizationId, mediaId }, data: { state: 'abandoned', completedAt: null } })
}

/** Time that an unfinished recording stays open, because the candidate may come back and upload the parts that the browser kept. */
const REST_MS = 24 * 3_600_000
const SETTLED_AT_ONCE = 200

type Overdue = { mediaId: string; createdAt: Date } & Context['organization']

/**
 * Ends recordings of all organizations that accept no more uploads: the grace period is over, or nothing has arrived for a day. For the
 * scheduled sweep.
 *
 * @returns the number of recordings.
 */
export async function settleOverdueRecordings(system: ServiceContext): Promise<number> {
  let settled = 0
  const failed: FailedItem<Overdue>[] = []
  for (let after: Overdue | undefined; ; ) {
    const overdue = await findOverdue(system, after)
    const failedNow = await processEach(overdue, ({ mediaId, createdAt: _, ...organization }) =>
      inTransaction(enterOrganization(system, organization), (inside) => settleRecording(inside, mediaId)),
    )
    settled += overdue.length - failedNow.length
    failed.push(...failedNow)
    if (overdue.length < SETTLED_AT_ONCE) break
    after = overdue.at(-1)
  }
  throwFirstFailure(failed)
  return settled
}

function findOverdue({ db, deps }: ServiceContext, after: Overdue | undefined): Promise<Overdue[]> {
  const now = deps.clock().getTime()
  const ended = new Date(now - UPLOAD_GRACE_SECONDS * 1_000)
  const rested = new Date(now - REST_MS)
  const overdue = unscoped(db)
    .selectFrom('mediaFiles')
    .innerJoin('organizations', 'organizations.id', 'mediaFiles.organizationId')
    .innerJoin('submissions', (join) =>
      join.on(sameOrganization('submissions', 'mediaFiles')).onRef('submissions.id', '=', 'mediaFiles.submissionId'),
    )
    .leftJoin('answerAttempts', (join) =>
      join.on(sameOrganization('answerAttempts', 'mediaFiles')).onRef('answerAttempts.mediaId', '=', 'mediaFiles.id'),
    )
    .leftJoin('answerAttempts as fileAttempts', (join) =>
      join.on(sameOrganization('fileAttempts', 'mediaFiles')).onRef('fileAttempts.id', '=', 'mediaFiles.attemptId'),
    )
    .leftJoin('submissionQuestions', (join) =>
      join
        .on(sameOrganization('submissionQuestions', 'submissions'))
        .onRef('submissionQuestions.submissionId', '=', 'submissions.id')
        .on(({ eb, fn, ref }) =>
          eb(
            'submissionQuestions.number',
            '=',
            fn.coalesce(ref('answerAttempts.questionNumber'), ref('fileAttempts.questionNumber')),
          ),
        ),
    )
    .where('mediaFiles.state', '=', sql.lit('uploading'))
    .where(({ ref }) => sql<SqlBool>`${ref('mediaFiles.kind')} in ('answer', 'webcam', 'screen')`)
    .where(({ and, eb, exists, not, or, ref, selectFrom }) => {
      const ends = [ref('submissionQuestions.closedAt'), ref('submissionQuestions.closesAt'), ref('submissions.submittedAt')]
      const arriving = selectFrom('mediaFileParts')
        .select('mediaFileParts.number')
        .where(sameOrganization('mediaFileParts', 'mediaFiles'))
        .whereRef('mediaFileParts.mediaId', '=', 'mediaFiles.id')
        .where('mediaFileParts.createdAt', '>', rested)
      return or([
        sql<SqlBool>`least(${sql.join([...ends, ref('submissions.deadlineAt')])}) <= ${ended}`,
        and([eb('mediaFiles.createdAt', '<=', rested), not(exists(arriving))]),
      ])
    })
    .select(['mediaFiles.id as mediaId', 'mediaFiles.createdAt', 'organizations.id', 'organizations.name', 'organizations.tier'])
    .orderBy('mediaFiles.createdAt')
    .orderBy('mediaFiles.id')
    .limit(SETTLED_AT_ONCE)
  const further = after
    ? overdue.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('mediaFiles.createdAt', 'mediaFiles.id'), '>', tuple(after.createdAt, after.mediaId)),
      )
    : overdue
  return further.execute()
}
