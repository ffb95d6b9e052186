import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../db/builder.ts'
import { isDatabaseUnavailable } from '../../db/errors.ts'
import { anyOfIds, type Rows } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { copyColumns, DEFAULT, insertFromSelect, uuid } from '../../db/writes.ts'
import { bisectBatch, type FailedItem, processEach, repeatBatch, throwFirstFailure } from '../concurrency/bisect.ts'
import { startTimeBudget } from '../concurrency/sweep-parts.ts'
import { type Context, enterOrganization, type KeyMode, type ServiceContext } from '../context.ts'
import { purgeMailEvents } from '../mails/mail-events.ts'
import { hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { daysAfter } from '../time/days.ts'
import { lockCollectedInvites } from './collect-invites.ts'
import { dueInvites, MODES, RETENTION_RULES, type RetentionDays, type RetentionRule, startOfDay } from './due-invites.ts'
import { deleteLockedInvites, eraseMediaOf } from './erase-invites.ts'
import { eraseArchives, eraseEventsOf, purgeMailJobs } from './erase-traces.ts'
import { type ErasureRef, eraseCounted } from './erasing.ts'
import type { ErasedCounts } from './erasures.ts'
import { toRetentionDays } from './retention.ts'
import { finishRetentionRun, runningRetentionRun, startRetentionRun } from './retention-runs.ts'

// Erases invites past their organization's retention: one erasure a night, with counts by rule. Each invite is erased in one transaction
// with its rows and events, so that the next run continues after a crash. Invites of a restored backup are due again, so no log is needed.

/** Invites of one transaction, which takes some tenths of a second and locks nothing that other requests write. */
const INVITES_AT_ONCE = 100
/** Organizations of one turn. */
const ORGANIZATIONS_AT_ONCE = 100
/** Pauses as long as each batch took, so that other work gets as much time; at most this long. */
const LONGEST_PAUSE_MS = 2_000
/** After a failure. */
const PUT_OFF_MS = 600_000
/** Days after which the queue no longer knows a mail's outcome. */
const MAIL_DAYS = 2

/**
 * Erases due invites of all organizations, longest waiting first. Suspended organizations are skipped: their retention may have been
 * changed by the person who suspended them.
 *
 * @returns the number of erased invites.
 */
export async function eraseDueInvites(system: ServiceContext): Promise<number> {
  const isOver = startTimeBudget()
  const dueRetentions = await system.db.organizationRetention.findMany({
    where: { nextAt: { lte: system.deps.clock() }, organization: { suspension: null } },
    orderBy: { nextAt: 'asc' },
    take: ORGANIZATIONS_AT_ONCE,
    include: { organization: true },
  })
  let erased = 0
  const failed = await processEach(dueRetentions, async (retention) => {
    if (isOver()) return
    const ctx = enterOrganization({ ...system, actor: { kind: 'system' } }, retention.organization)
    try {
      erased += await eraseDueOf(ctx, toRetentionDays(retention), isOver)
    } catch (error) {
      // An organization with a failing erasure must not delay the others every minute.
      if (!isDatabaseUnavailable(error)) await postpone(ctx)
      throw error
    }
  })
  throwFirstFailure(failed)
  return erased
}

async function postpone({ db, deps, organization }: Context): Promise<void> {
  const now = deps.clock()
  const where = { organizationId: organization.id, nextAt: { lte: now } }
  await db.organizationRetention.updateMany({ where, data: { nextAt: new Date(now.getTime() + PUT_OFF_MS) } })
}

/** True if the rule still applies: a change of the setting or a suspension takes effect before more is erased. */
async function isInForce({ db, deps, organization }: Context, { rule, days }: DueInvites): Promise<boolean> {
  const where = { organizationId: organization.id, nextAt: { lte: deps.clock() }, organization: { suspension: null } }
  const retention = await db.organizationRetention.findFirst({ where })
  return retention !== null && toRetentionDays(retention)[rule] === days
}

type DueInvites = { mode: KeyMode; rule: RetentionRule; days: number; day: Date }

async function eraseDueOf(ctx: Context, retentionDays: RetentionDays, isOver: () => boolean): Promise<number> {
  const day = startOfDay(ctx.deps.clock())
  const rules = RETENTION_RULES.flatMap((rule): DueInvites[] => {
    const days = retentionDays[rule]
    return days === null ? [] : MODES.map((mode) => ({ rule, mode, days, day }))
  })
  const failed: FailedItem<string>[] = []
  let erased = 0
  for (const rule of rules)
    for await (const batch of readDue(ctx, rule, failed)) {
      if (isOver()) {
        throwFirstFailure(failed)
        return erased
      }
      if (!(await isInForce(ctx, rule))) break
      const startedAt = performance.now()
      failed.push(...(await bisectBatch(batch, (ids) => eraseDueBatch(ctx, rule, ids))))
      erased += batch.length
      await sleep(Math.min(performance.now() - startedAt, LONGEST_PAUSE_MS))
    }
  throwFirstFailure(failed)
  await eraseMarkedBefore(ctx)
  await finishRetentionRun(ctx, daysAfter(day, 1))
  return erased
}

/** Due invites in batches, until only failed ones are left. */
async function* readDue(ctx: Context, rule: DueInvites, failed: readonly FailedItem<string>[]): AsyncGenerator<string[]> {
  for (;;) {
    const selection = dueInvites(ctx, rule).limit(INVITES_AT_ONCE + failed.length)
    const isFailed = new Set(failed.map(({ item }) => item))
    const ids = (await selection.select('invites.id').execute()).map(({ id }) => id).filter((id) => !isFailed.has(id))
    if (ids.length > 0) yield ids.slice(0, INVITES_AT_ONCE)
    if (ids.length < INVITES_AT_ONCE) return
  }
}

/** @throws errors of the store, the queue, or the database; the invites stay due. */
async function eraseDueBatch(ctx: Context, rule: DueInvites, ids: string[]): Promise<void> {
  const counting = await startRetentionRun(ctx)
  // Reactivated invites are no longer due. Marked invites can't be reactivated; those marked already belong to an erasure by address.
  const stillDue = dueInvites(ctx, rule).where('invites.id', '=', anyOfIds(ids)).forUpdate()
  const marking = insertFromSelect(ctx.db, 'erasedInvites', stillDue, (eb) => ({
    ...copyColumns(eb, 'organizationId', 'mode'),
    inviteId: eb.ref('invites.id'),
    erasureId: uuid(counting.id),
    relatedIds: DEFAULT,
  }))
  await marking.onConflict((conflict) => conflict.doNothing()).execute()
  await eraseMarked(counting, ids)
}

/** Erases the marked ones of these invites. @throws as {@link eraseDueBatch}. */
async function eraseMarked(counting: ErasureRef, ids: string[]): Promise<void> {
  const { ctx } = counting
  const markedOf = ({ db }: Context) => db.selectFrom('erasedInvites').where('inviteId', '=', anyOfIds(ids)).select('inviteId')
  const invitesOf = (context: Context) =>
    context.db
      .selectFrom('invites')
      .where('invites.id', 'in', markedOf(context))
      .where('invites.status', '=', sql<RetentionRule>`any(${RETENTION_RULES}::invite_status[])`)
  const marked = markedOf(ctx)
  await purgeRecentMails(ctx, marked)
  await eraseMediaOf(counting, (eb) => eb('submissions.inviteId', 'in', marked))
  await eraseArchivesOf(counting, await invitesOf(ctx).select('invites.recipientEmail').distinct().execute())
  await eraseCounted(counting, async (inside): Promise<ErasedCounts> => {
    const inviteColumns = [
      'invites.id',
      'invites.organizationId',
      'invites.mode',
      'invites.assessmentId',
      'invites.status',
    ] as const
    const lockedInvites = await invitesOf(inside).select(inviteColumns).orderBy('invites.id').forUpdate().execute()
    if (lockedInvites.length === 0) return {}
    const heldIds = lockedInvites.map(({ id }) => id)
    const repeats = await eraseRepeats(inside, heldIds)
    const { counts, relatedIds, listRows } = await deleteLockedInvites(inside, lockedInvites)
    const otherTraces = await purgeMailEvents(inside, relatedIds)
    const byRule = RETENTION_RULES.map((rule) => [rule, lockedInvites.filter(({ status }) => status === rule).length])
    return {
      ...counts,
      listRows: listRows + repeats,
      otherTraces,
      ...(await eraseEventsOf(inside, heldIds)),
      ...Object.fromEntries(byRule),
    }
  })
}

/** Deletes archives of the invites' candidates, which would exist for some more days. */
async function eraseArchivesOf(counting: ErasureRef, candidates: { recipientEmail: string }[]): Promise<void> {
  const { deps, organization, db } = counting.ctx
  const codes = candidates.flatMap(({ recipientEmail }) => hmacsOfAddress(deps.secretKeys, organization.id, recipientEmail))
  const withAddress = { addressHmac: { in: codes.map((code) => new Uint8Array(code)) } }
  if ((await db.archive.count({ where: { organizationId: organization.id, ...withAddress } })) > 0)
    await eraseArchives(counting, withAddress)
}

/** Also erases marked invites that are no longer due after a change of the setting, because their files may be deleted already. */
async function eraseMarkedBefore(ctx: Context): Promise<void> {
  const retentionRun = await runningRetentionRun(ctx).select('id').executeTakeFirst()
  if (!retentionRun) return
  await repeatBatch(INVITES_AT_ONCE, async (atMost) => {
    const ids = (await lockCollectedInvites(ctx, retentionRun.id, atMost)).map(({ id }) => id)
    await eraseMarked({ ctx, id: retentionRun.id }, ids)
    return ids.length
  })
}

/** Rows of lists that have the address of an invite created from the list. */
function eraseRepeats(inside: Context, inviteIds: string[]): Promise<number> {
  const repeats = inside.db
    .deleteFrom('inviteBatchRows')
    .using(
      inside.db.selectFrom('inviteBatchRows').where('inviteId', '=', anyOfIds(inviteIds)).select(['batchId', 'number']).as('its'),
    )
    .whereRef('inviteBatchRows.batchId', '=', 'its.batchId')
    .where('inviteBatchRows.state', '=', 'repeated')
    .whereRef('inviteBatchRows.repeats', '=', 'its.number')
  return affectedRows(repeats)
}

/** The queue retains jobs of sent emails for a day. */
async function purgeRecentMails(ctx: Context, inviteIds: Rows<'erasedInvites', { inviteId: string }>): Promise<void> {
  const recent = ctx.db
    .selectFrom('inviteEmails')
    .where((eb) => eb('inviteId', 'in', inviteIds))
    .where('updatedAt', '>', daysAfter(ctx.deps.clock(), -MAIL_DAYS))
  const emailIds = (await recent.select('id').execute()).map(({ id }) => id)
  if (emailIds.length > 0) await purgeMailJobs(ctx, emailIds, { pattern: emailIds.join('|'), patienceMs: 0 })
}
