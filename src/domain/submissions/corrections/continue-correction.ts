import { anyOfIds, scopeWhere } from '../../../db/queries.ts'
import { insertRows } from '../../../db/writes.ts'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { readNewestKey } from '../../assessments/answer-keys.ts'
import { auditRows } from '../../audit/record-audit.ts'
import { type Context, enterOrganization, inMode, type ServiceContext } from '../../context.ts'
import { resultReleased } from '../../events/event.ts'
import { recordEvents } from '../../events/record-events.ts'
import { queueNotice } from '../../invites/queue-notice.ts'
import { inTransaction } from '../../transaction.ts'
import { exactPercentOf } from '../grading/grading-status.ts'
import { judgeResults } from '../grading/judge-result.ts'
import { gradesOf } from '../grading/results.ts'
import { insertScores, recordGradingNeeds } from '../scores.ts'
import { findAffected, findPapers } from './affected.ts'
import type { CorrectionProgress, ReleaseHandling } from './correct-key.ts'
import { addToCounts, type CorrectedVersion, type RescoredAnswer } from './rescore.ts'
import { needsNewRelease, rescoreBatch } from './rescore-batch.ts'

/** Papers of one transaction. */
const PAPERS_AT_ONCE = 200
/** Transactions of one job: a few seconds of work. */
const BATCHES_A_JOB = 10

const member = { select: { id: true, userId: true, roles: true, portalRoles: true } } as const

/**
 * Scores a batch of the remaining papers by a corrected key, and queues another job if papers are left. The transaction that scores also
 * locks and updates the progress in the key's row, so that each answer is scored once, even if a process is killed or two processes work on
 * it.
 */
export async function continueCorrection(
  service: ServiceContext,
  keyRef: { organizationId: string; versionId: string; number: number },
): Promise<void> {
  const include = {
    createdBy: member,
    version: { include: { organization: { select: { id: true, name: true, tier: true } } } },
  } as const
  const found = await service.db.answerKey.findUnique({ where: { organizationId_versionId_number: keyRef }, include })
  if (!found?.createdBy || found.appliedAt !== null) return
  const { id, userId, roles, portalRoles } = found.createdBy
  const actor = { kind: 'member', id, userId, roles, portalRoles } as const
  const ctx: Context = enterOrganization({ ...service, actor }, found.version.organization)
  const { versionId, number: keyNumber } = keyRef
  const { responseType, spec } = found.version
  const { key, effect } = await readNewestKey(ctx, versionId)
  const corrected = { versionId, responseType, spec, key, effect, keyNumber }
  for (let i = 0; i < BATCHES_A_JOB; i++)
    if (!(await inTransaction(ctx, (inside) => correctBatch(inside, corrected, found.releases as ReleaseHandling)))) return
  await service.deps.queue.enqueueAnswerKeyCorrection(service.db, keyRef)
}

/** @returns true if there may be more. */
async function correctBatch(ctx: Context, corrected: CorrectedVersion, releases: ReleaseHandling): Promise<boolean> {
  const { versionId, keyNumber } = corrected
  const progress = await lockProgress(ctx, corrected)
  if (!progress) return false
  const papers = await findPapers(ctx, versionId, progress.after, PAPERS_AT_ONCE)
  await lockCorrection(ctx, papers)
  const affected = (await findAffected(ctx, versionId, papers)).filter((answer) => (answer.keyNumber ?? 0) < keyNumber)
  const judged = rescoreBatch(ctx, affected, corrected, releases)
  await writeScores(ctx, judged, keyNumber, releases)
  const answersToRelease = Map.groupBy(
    judged.filter((rescored) => needsNewRelease(rescored, releases)),
    ({ answer }) => answer.submissionId,
  )
  await releaseAgain(ctx, answersToRelease, keyNumber)
  const counts = { live: { ...progress.counts.live }, test: { ...progress.counts.test } }
  for (const rescored of judged) addToCounts(counts[rescored.answer.mode], rescored)
  const hasMore = papers.length === PAPERS_AT_ONCE
  const next: CorrectionProgress = {
    ...progress,
    after: papers.at(-1) ?? progress.after,
    done: progress.done + papers.length,
    counts,
    releasedAnew: progress.releasedAnew + answersToRelease.size,
  }
  const where = { organizationId: ctx.organization.id, versionId, number: keyNumber }
  const completion = hasMore ? {} : { appliedAt: ctx.deps.clock() }
  await ctx.db.answerKey.updateMany({ where, data: { progress: next as unknown as Prisma.InputJsonObject, ...completion } })
  return hasMore
}

/** @returns how far it is, which nobody changes until the transaction ends; undefined: it is done. */
async function lockProgress(ctx: Context, { versionId, keyNumber }: CorrectedVersion): Promise<CorrectionProgress | undefined> {
  const unfinished = ctx.db
    .selectFrom('answerKeys')
    .where('versionId', '=', versionId)
    .where('number', '=', keyNumber)
    .where('appliedAt', 'is', null)
    .select('progress')
  const row = await unfinished.forNoKeyUpdate().executeTakeFirst()
  return row?.progress as CorrectionProgress | undefined
}

/**
 * Locks submissions against grading, releasing, and submitting, which read the new key afterwards. Invites are locked first, as everywhere.
 */
async function lockCorrection(ctx: Context, submissionIds: string[]): Promise<void> {
  const inviteIds = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', anyOfIds(submissionIds))
    .select('submissions.inviteId')
  await ctx.db.selectFrom('invites').select('id').where('id', 'in', inviteIds).orderBy('id').forNoKeyUpdate().execute()
  const lockedSubmissions = ctx.db.selectFrom('submissions').select('id').where('id', '=', anyOfIds(submissionIds))
  await lockedSubmissions.orderBy('id').forNoKeyUpdate().execute()
}

async function writeScores(ctx: Context, judged: RescoredAnswer[], keyNumber: number, releases: ReleaseHandling): Promise<void> {
  if (judged.length === 0) return
  const scores = judged.map((rescored) => {
    const { submissionId, number: questionNumber } = rescored.answer
    return { submissionId, questionNumber, keyNumber, ...rescored.score, outcome: outcomeOf(rescored, releases) }
  })
  await insertScores(ctx, scores)
  await recordGradingNeeds(ctx, [...new Set(judged.map(({ answer }) => answer.submissionId))])
}

function outcomeOf(judged: RescoredAnswer, releases: ReleaseHandling): 'decided' | 'kept' | null {
  const { verdict, answer } = judged
  if (verdict === 'decided') return 'decided'
  const isLower = answer.released !== null && (verdict === 'less' || verdict === 'open')
  return isLower && !needsNewRelease(judged, releases) ? 'kept' : null
}

/** Releases results again to the same readers, in the name of the member who corrected the key. @param answersToRelease by submission. */
async function releaseAgain(ctx: Context, answersToRelease: Map<string, RescoredAnswer[]>, keyNumber: number): Promise<void> {
  if (answersToRelease.size === 0) return
  const { db, deps, organization, actor } = ctx
  const organizationId = organization.id
  const now = deps.clock()
  const include = { invite: true, releases: { orderBy: { version: 'desc' }, take: 1 } } as const
  const found = await db.submission.findMany({ where: { ...scopeWhere(ctx), id: { in: [...answersToRelease.keys()] } }, include })
  const newReleases = found.flatMap(({ id: submissionId, invite, releases: [before] }) => {
    const judged = answersToRelease.get(submissionId)!
    const last = judged.at(-1)!.release!
    const grades = gradesOf(before!).map(
      (grade) => judged.find(({ answer }) => answer.number === grade.number)?.release?.grade ?? grade,
    )
    const points = Math.max(0, last.sum)
    const { comment, message, toCandidate } = before!
    const version = before!.version + 1
    const head = { id: deps.newId(), organizationId, submissionId, version, releasedById: 'id' in actor ? actor.id : '' }
    const release = { ...head, points, ofPoints: last.ofPoints, comment, message, toCandidate, grades, createdAt: now }
    const reportUrl = deps.links.resultUrl({ organization, mode: invite.mode, submissionId })
    const event = resultReleased(invite, submissionId, { percent: exactPercentOf(points, last.ofPoints), reportUrl })
    const audit = {
      action: 'released_result',
      target: { kind: 'invite', id: invite.id },
      details: { version, toCandidate, keyNumber },
    } as const
    return [{ release, event, inviteId: invite.id, audit: auditRows(inMode(ctx, invite.mode), [audit]) }]
  })
  const judged = await judgeResults(
    ctx,
    newReleases.map(({ release }) => release),
  )
  await db.release.createMany({ data: newReleases.map(({ release }) => ({ ...release, ...judged.get(release.submissionId) })) })
  for (const { release, inviteId } of newReleases)
    if (release.toCandidate) await queueNotice(ctx, inviteId, 'released', `${release.submissionId}:${release.version}`)
  const released = ctx.db
    .updateTable('submissions')
    .where('submissions.id', '=', anyOfIds([...answersToRelease.keys()]))
    .set({ releasedAt: now, updatedAt: now })
  await released.execute()
  await insertRows(db, { auditEntries: newReleases.flatMap(({ audit }) => audit) }).execute()
  await recordEvents(
    ctx,
    newReleases.map(({ event }) => event),
  )
}
