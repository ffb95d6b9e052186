import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../db/builder.ts'
import { among, into, own, ownDelete, ownUpdate, type Rows } from '../../db/own.ts'
import { all, first, one, run } from '../../db/statements.ts'
import { byDefault, insertForEach, same, uuid } from '../../db/writes.ts'
import { detailsOf } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { type Context, enterOrganization, type KeyMode, type ServiceContext } from '../context.ts'
import { isDatabaseAway } from '../errors.ts'
import { forgetMailEvents } from '../mails/mail-events.ts'
import { inTransaction } from '../transaction.ts'
import { daysAfter } from '../values/days.ts'
import { forgetAnswers, readAnswerKeys, readIdsInAnswers } from '../work/do-once.ts'
import { type FailedItem, refuseFailed, workInHalves, workOnEach } from '../work/in-halves.ts'
import { beginTurn } from '../work/sweep-parts.ts'
import { dueInvites, type KeptAfter, MODES, RETENTION_RULES, type RetentionRule, startOfDay } from './due-invites.ts'
import { eraseHeld, eraseMediaOf } from './erase-invites.ts'
import { eraseEventsOf, forgetMailJobs } from './erase-traces.ts'
import { type Counting, eraseCounted } from './erasing.ts'
import { type ErasedCounts, RETENTION } from './erasures.ts'
import { keptOf } from './retention.ts'

// What organizations keep no longer is erased as somebody's invites are: of a night one erasure, with what was erased by which rule. Each
// invite goes in one transaction with all that hangs on it and what its events say of it, so that whatever is killed, the next minute goes on
// with what is still there. A restored backup needs no log: what it brings back is due.

/** Of one transaction, which takes some tenths of a second and locks nothing that other requests write. */
const INVITES_AT_ONCE = 100
/** Organizations of one turn. */
const ORGANIZATIONS_AT_ONCE = 100
/** Answers whose ids one statement looks for: a list of many invites is one of them. */
const ANSWERS_AT_ONCE = 200
/** Whoever else works gets as much time as this does. */
const LONGEST_PAUSE_MS = 2_000
/** After a failure. */
const PUT_OFF_MS = 600_000
/** The queue has forgotten by then what became of a mail. */
const MAIL_DAYS = 2

/**
 * Organizations whose day has begun: what they keep no longer is erased, those that have waited for longest before the others. Those on hold
 * wait: whoever has put one on hold may have set it too, and nobody can take it back.
 *
 * @returns how many invites.
 */
export async function eraseDueInvites(system: ServiceContext): Promise<number> {
  const isOver = beginTurn()
  const due = await system.db.organizationRetention.findMany({
    where: { nextAt: { lte: system.deps.clock() }, organization: { hold: null } },
    orderBy: { nextAt: 'asc' },
    take: ORGANIZATIONS_AT_ONCE,
    include: { organization: true },
  })
  let erased = 0
  const failed = await workOnEach(due, async (retention) => {
    if (isOver()) return
    const ctx = enterOrganization({ ...system, actor: { kind: 'system' } }, retention.organization)
    try {
      erased += await eraseDueOf(ctx, keptOf(retention), isOver)
    } catch (error) {
      // What can't be erased here is not to be in the way of all others, minute by minute.
      if (!isDatabaseAway(error)) await putOff(ctx)
      throw error
    }
  })
  refuseFailed(failed)
  return erased
}

async function putOff({ db, deps, organization }: Context): Promise<void> {
  const now = deps.clock()
  const where = { organizationId: organization.id, nextAt: { lte: now } }
  await db.organizationRetention.updateMany({ where, data: { nextAt: new Date(now.getTime() + PUT_OFF_MS) } })
}

/** Whether it still is so: whoever has just set it otherwise, or put the organization on hold, is heard before more is erased. */
async function isInForce({ db, deps, organization }: Context, { rule, days }: Due): Promise<boolean> {
  const where = { organizationId: organization.id, nextAt: { lte: deps.clock() }, organization: { hold: null } }
  const retention = await db.organizationRetention.findFirst({ where })
  return retention !== null && keptOf(retention)[rule] === days
}

type Due = { mode: KeyMode; rule: RetentionRule; days: number; day: Date }

async function eraseDueOf(ctx: Context, kept: KeptAfter, isOver: () => boolean): Promise<number> {
  const day = startOfDay(ctx.deps.clock())
  const rules = RETENTION_RULES.flatMap((rule): Due[] => {
    const days = kept[rule]
    return days === null ? [] : MODES.map((mode) => ({ rule, mode, days, day }))
  })
  const failed: FailedItem<string>[] = []
  let erased = 0
  for (const due of rules)
    for await (const some of readDue(ctx, due, failed)) {
      if (isOver()) {
        refuseFailed(failed)
        return erased
      }
      if (!(await isInForce(ctx, due))) break
      const since = performance.now()
      failed.push(...(await workInHalves(some, (ids) => eraseSome(ctx, due, ids))))
      erased += some.length
      await sleep(Math.min(performance.now() - since, LONGEST_PAUSE_MS))
    }
  refuseFailed(failed)
  await endNight(ctx, daysAfter(day, 1))
  return erased
}

/** Those that are due, some at a time, as long as there are any besides those that have failed. */
async function* readDue(ctx: Context, due: Due, failed: readonly FailedItem<string>[]): AsyncGenerator<string[]> {
  for (;;) {
    const some = dueInvites(ctx, due).limit(INVITES_AT_ONCE + failed.length)
    const isFailed = new Set(failed.map(({ item }) => item))
    const ids = (await all(ctx.db, some.select('invites.id'))).map(({ id }) => id).filter((id) => !isFailed.has(id))
    if (ids.length > 0) yield ids.slice(0, INVITES_AT_ONCE)
    if (ids.length < INVITES_AT_ONCE) return
  }
}

/** Erases these as far as they still are due. @throws whatever the store, the queue or the database throws: they are due still. */
async function eraseSome(ctx: Context, due: Due, ids: string[]): Promise<void> {
  const counting = await beginNight(ctx)
  // One that was reactivated since it was read keeps both: the mail that goes out now, and what was recorded.
  const stillDue = dueInvites(ctx, due).clearOrderBy().where('invites.id', '=', among(ids)).select('invites.id')
  await forgetRecentMails(ctx, stillDue)
  await eraseMediaOf(counting, (eb) => eb('submissions.inviteId', 'in', stillDue))
  await eraseCounted(counting, async (inside): Promise<ErasedCounts> => {
    const its = dueInvites(inside, due).where('invites.id', '=', among(ids))
    const held = await all(
      inside.db,
      its.select(['invites.id', 'invites.organizationId', 'invites.mode', 'invites.assessmentId']).forUpdate(),
    )
    if (held.length === 0) return {}
    const heldIds = held.map(({ id }) => id)
    const collecting = insertForEach('erasedInvites', own(inside, 'invites').where('invites.id', '=', among(heldIds)), (eb) => ({
      ...same(eb, 'organizationId', 'mode'),
      inviteId: eb.ref('invites.id'),
      erasureId: uuid(counting.id),
      thingIds: byDefault,
    }))
    // One that somebody erases by its address at this moment is theirs.
    await run(
      inside.db,
      collecting.onConflict((conflict) => conflict.doNothing()),
    )
    const repeats = await eraseRepeats(inside, heldIds)
    const { counts, thingIds, listRows } = await eraseHeld(inside, held)
    const otherTraces = await forgetMailEvents(inside, thingIds)
    return {
      ...counts,
      listRows: listRows + repeats,
      otherTraces,
      ...(await eraseEventsOf(inside, heldIds)),
      [due.rule]: held.length,
    }
  })
}

/** Rows of lists that repeat the address of one that these were made of. */
function eraseRepeats(inside: Context, inviteIds: string[]): Promise<number> {
  const repeats = ownDelete(inside, 'inviteBatchRows')
    .using(own(inside, 'inviteBatchRows').where('inviteId', '=', among(inviteIds)).select(['batchId', 'number']).as('its'))
    .whereRef('inviteBatchRows.batchId', '=', 'its.batchId')
    .where('inviteBatchRows.state', '=', 'repeated')
    .whereRef('inviteBatchRows.repeats', '=', 'its.number')
  return run(inside.db, repeats)
}

/** What the queue keeps for a day of mails that were sent, such as that of a result. */
async function forgetRecentMails(ctx: Context, inviteIds: Rows<'invites', { id: string }>): Promise<void> {
  const recent = own(ctx, 'inviteEmails')
    .where((eb) => eb('inviteId', 'in', inviteIds))
    .where('updatedAt', '>', daysAfter(ctx.deps.clock(), -MAIL_DAYS))
  const emailIds = (await all(ctx.db, recent.select('id'))).map(({ id }) => id)
  if (emailIds.length > 0) await forgetMailJobs(ctx, emailIds, { pattern: emailIds.join('|'), patienceMs: 0 })
}

const runningNight = (ctx: Context) =>
  own(ctx, 'erasures').where('addressCode', '=', RETENTION.code).where('finishedAt', 'is', null)

/** The erasure of this night: the one that runs, or a new one. */
async function beginNight(ctx: Context): Promise<Counting> {
  const running = await first(ctx.db, runningNight(ctx).select('id'))
  if (running) return { ctx, id: running.id }
  const { deps, organization, actor } = ctx
  const row = { organizationId: organization.id, id: deps.newId(), subject: RETENTION.subject, addressCode: RETENTION.code }
  const beginning = into('erasures').values({ ...row, actorKind: actor.kind, step: 'invites', createdAt: deps.clock() })
  await run(
    ctx.db,
    beginning.onConflict((conflict) => conflict.doNothing()),
  )
  return { ctx, id: (await one(ctx.db, runningNight(ctx).select('id'))).id }
}

/** Forgets what was answered of the night's invites, and says in the audit log how many there were. @param next when to look again. */
async function endNight(ctx: Context, next: Date): Promise<void> {
  const { deps, organization } = ctx
  const night = await first(ctx.db, runningNight(ctx).select('id'))
  if (night) await forgetAnswersOf({ ctx, id: night.id })
  await inTransaction(ctx, async (inside) => {
    const { db } = inside
    if (night) {
      const finishedAt = deps.clock()
      const backupsUntil = daysAfter(finishedAt, deps.backupsKeptDays)
      const ending = ownUpdate(inside, 'erasures').where('id', '=', night.id).where('finishedAt', 'is', null)
      const ended = await first(db, ending.set({ step: 'receipt', finishedAt, backupsUntil }).returning('counts'))
      const counts = (ended?.counts ?? {}) as ErasedCounts
      const details = detailsOf(RETENTION_RULES.map((rule) => [rule, counts[rule] ?? 0] as const))
      if (ended) await recordAudit(inside, { action: 'erased_ended_invites', target: { kind: 'erasure', id: night.id }, details })
    }
    // Unless somebody has just had it begin later.
    const where = { organizationId: organization.id, nextAt: { lt: next } }
    await db.organizationRetention.updateMany({ where, data: { nextAt: next } })
  })
}

/** Of the answers that are kept for retries those that name an invite of the night. */
async function forgetAnswersOf(counting: Counting): Promise<void> {
  const { ctx, id } = counting
  for await (const keys of readAnswerKeys(ctx, ANSWERS_AT_ONCE)) {
    const named = await readIdsInAnswers(ctx, keys)
    if (named.length === 0) continue
    const its = own(ctx, 'erasedInvites').where('erasureId', '=', id).where('inviteId', '=', sql<string>`any(${named}::uuid[])`)
    const ids = (await all(ctx.db, its.select('inviteId'))).map(({ inviteId }) => inviteId)
    if (ids.length === 0) continue
    const patterns = { inKeys: ids.join('|'), inTexts: ids.join('|') }
    await eraseCounted(counting, async (inside) => ({ requestRecords: await forgetAnswers(inside, keys, patterns) }))
  }
}
