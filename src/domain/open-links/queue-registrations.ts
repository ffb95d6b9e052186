import { sql } from '../../db/builder.ts'
import { anyOfIds, type SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { processEach, throwFirstFailure } from '../concurrency/bisect.ts'
import { lockOrganization } from '../concurrency/lock-organization.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { DAY_MS, HOUR_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { MAILS_PER_ADDRESS, REGISTRATION_MS, REPEAT_AFTER_MS, UNPROVEN_PER_HOUR } from './limits.ts'

const WAITING = sql.lit('waiting' as const)
/** Registrations per batch. A larger hourly budget takes several batches. */
const AT_ONCE = 500

/** Queues the mails of all organizations that may leave now. For the scheduled sweep. @returns the number of mails. */
export async function queueAllRegistrations(system: ServiceContext): Promise<number> {
  let queued = 0
  const waiting = unscoped(system.db).selectFrom('registrations').where('state', '=', WAITING).select('organizationId').distinct()
  const failed = await processEach(await waiting.execute(), async ({ organizationId }) => {
    queued += await queueRegistrations(system, organizationId)
  })
  throwFirstFailure(failed)
  return queued
}

/**
 * Queues the mails of waiting registrations, as far as the limits allow. Networks take turns: those with the fewest mails within the last day come
 * first, so that one of them can't use up the budget of the organization.
 *
 * @returns the number of mails.
 */
export async function queueRegistrations(system: ServiceContext, organizationId: string): Promise<number> {
  const organization = await system.db.organization.findUnique({ where: { id: organizationId, suspension: null } })
  if (!organization) return 0
  let queued = 0
  for (const mode of ['live', 'test'] as const)
    for (let isMore = true; isMore; ) {
      const ctx: Context = enterOrganization(system, organization, mode)
      const step = await inTransaction(ctx, queueSome)
      queued += step.queued
      system.deps.metrics.registered('mailed', step.queued)
      system.deps.metrics.registered('dropped', step.dropped)
      isMore = step.isMore
    }
  return queued
}

type Waiting = { id: string; openLinkId: string; email: string; address: string }

async function queueSome(ctx: Context): Promise<{ queued: number; dropped: number; isMore: boolean }> {
  await lockOrganization(ctx)
  const now = ctx.deps.clock()
  const recent = await readRecent(ctx, now)
  const room = roomOf(ctx, recent, now)
  if (room <= 0) return { queued: 0, dropped: 0, isMore: false }
  const waiting = await readInTurn(ctx, now)
  const isRefused = await findRefusals(ctx, waiting)
  const chosen: string[] = []
  const failed: string[] = []
  for (const registration of waiting) {
    if (chosen.length === room) break
    const toAddress = recent.filter(({ address }) => address === registration.address)
    const isTooSoon = toAddress.some(
      ({ openLinkId, queuedAt }) =>
        openLinkId === registration.openLinkId && now.getTime() - queuedAt.getTime() < REPEAT_AFTER_MS,
    )
    if (isRefused(registration) || isTooSoon || toAddress.length >= MAILS_PER_ADDRESS) failed.push(registration.id)
    else {
      chosen.push(registration.id)
      recent.push({ address: registration.address, openLinkId: registration.openLinkId, queuedAt: now })
    }
  }
  const { db, deps, organization } = ctx
  const their = (ids: string[]) => db.updateTable('registrations').where('id', '=', anyOfIds(ids)).where('state', '=', WAITING)
  // A visitor is not told that an address is over its limit: the registration ends without a mail.
  if (failed.length > 0)
    await their(failed)
      .set({ state: 'failed', failure: 'suppressed', expiresAt: new Date(now.getTime() + REGISTRATION_MS) })
      .execute()
  if (chosen.length > 0) {
    await affectedRows(their(chosen).set({ state: 'queued', queuedAt: now, expiresAt: null }))
    await deps.queue.enqueueRegistrationEmails(
      db,
      chosen.map((id) => ({ id, organizationId: organization.id })),
    )
  }
  const isMore = waiting.length === AT_ONCE && chosen.length + failed.length > 0
  return { queued: chosen.length, dropped: failed.length, isMore }
}

type Recent = { address: string; openLinkId: string; queuedAt: Date }

/** Mails of the last day. The daily budget limits their number. */
const readRecent = ({ db }: Context, now: Date): Promise<Recent[]> =>
  db
    .selectFrom('registrations')
    .where('queuedAt', '>', new Date(now.getTime() - DAY_MS))
    .select(({ ref }) => [
      'openLinkId',
      sql<string>`address_key(${ref('email')})`.as('address'),
      sql<Date>`${ref('queuedAt')}`.as('queuedAt'),
    ])
    .execute()

/** Mails that the organization's budget still allows. */
function roomOf({ deps: { openLinkMails } }: Context, recent: Recent[], now: Date): number {
  const inHour = recent.filter(({ queuedAt }) => now.getTime() - queuedAt.getTime() < HOUR_MS).length
  return Math.min(openLinkMails.perHour - inHour, openLinkMails.perDay - recent.length)
}

/**
 * The next registrations: the first of each network, then the second of each, and so on. Registrations without a proof of work stay within
 * their link's limit.
 */
async function readInTurn({ db }: Context, now: Date): Promise<Waiting[]> {
  const mailed = db
    .selectFrom('registrations')
    .where('queuedAt', '>', new Date(now.getTime() - DAY_MS))
    .select(({ fn }) => ['network', fn.countAll<number>().as('mails')])
    .groupBy('network')
  const unproven = db
    .selectFrom('registrations')
    .where('queuedAt', '>', new Date(now.getTime() - HOUR_MS))
    .where('proof', 'is', null)
    .select(({ fn }) => ['openLinkId', fn.countAll<number>().as('mails')])
    .groupBy('openLinkId')
  const openLinks = db
    .selectFrom('openLinks')
    .where('isOn', '=', true)
    .where(({ or, eb }) => or([eb('closesAt', 'is', null), eb('closesAt', '>', now)]))
    .where(({ or, eb, ref }) => or([eb('maxInvites', 'is', null), eb('maxInvites', '>', ref('invitesCreated'))]))
    .select('id')
  const waiting = db
    .selectFrom('registrations')
    .where('state', '=', WAITING)
    .where('openLinkId', 'in', openLinks)
    .select(({ ref }) => [
      'id',
      'openLinkId',
      'email',
      'createdAt',
      'network',
      sql<boolean>`${ref('proof')} is null`.as('isUnproven'),
      sql<number>`row_number() over (partition by ${ref('network')}, ${ref('proof')} is null order by ${ref('createdAt')}, ${ref('id')})`.as(
        'nth',
      ),
    ])
  const turns = db
    .selectFrom(waiting.as('waiting'))
    .leftJoin(mailed.as('mailed'), 'mailed.network', 'waiting.network')
    .leftJoin(unproven.as('unproven'), 'unproven.openLinkId', 'waiting.openLinkId')
    .select(({ ref }) => [
      'waiting.id as id',
      'waiting.openLinkId as openLinkId',
      'waiting.email as email',
      'waiting.createdAt as createdAt',
      'waiting.isUnproven as isUnproven',
      sql<number>`${ref('waiting.nth')} + coalesce(${ref('mailed.mails')}, 0)`.as('turn'),
      sql<number>`coalesce(${ref('unproven.mails')}, 0)`.as('unprovenMails'),
    ])
  const places = db
    .selectFrom(turns.as('turns'))
    .select(({ ref }) => [
      'turns.id as id',
      'turns.openLinkId as openLinkId',
      'turns.email as email',
      'turns.createdAt as createdAt',
      'turns.isUnproven as isUnproven',
      'turns.turn as turn',
      'turns.unprovenMails as unprovenMails',
      sql<number>`row_number() over (partition by ${ref('turns.openLinkId')}, ${ref('turns.isUnproven')} order by ${ref('turns.turn')}, ${ref('turns.createdAt')}, ${ref('turns.id')})`.as(
        'place',
      ),
    ])
  return db
    .selectFrom(places.as('places'))
    .where(
      ({ ref }) =>
        sql<SqlBool>`not ${ref('places.isUnproven')} or ${ref('places.place')} <= ${UNPROVEN_PER_HOUR}::int - ${ref('places.unprovenMails')}`,
    )
    .select(({ ref }) => [
      'places.id as id',
      'places.openLinkId as openLinkId',
      'places.email as email',
      sql<string>`address_key(${ref('places.email')})`.as('address'),
    ])
    .orderBy('places.turn')
    .orderBy('places.createdAt')
    .orderBy('places.id')
    .limit(AT_ONCE)
    .execute()
}

/** Finds addresses whose readers have pressed "This wasn't me". */
async function findRefusals(
  { db, deps, organization }: Context,
  waiting: Waiting[],
): Promise<(one: Pick<Waiting, 'openLinkId' | 'email'>) => boolean> {
  if (waiting.length === 0) return () => false
  const codesOf = (email: string) => hmacsOfAddress(deps.secretKeys, organization.id, email).map((code) => code.toString('hex'))
  const openLinkId = { in: [...new Set(waiting.map((registration) => registration.openLinkId))] }
  const addressHmac = {
    in: waiting.flatMap(({ email }) => codesOf(email)).map((code) => new Uint8Array(Buffer.from(code, 'hex'))),
  }
  const refusals = await db.openLinkRefusal.findMany({ where: { organizationId: organization.id, openLinkId, addressHmac } })
  const refused = new Set(refusals.map((refusal) => `${refusal.openLinkId} ${Buffer.from(refusal.addressHmac).toString('hex')}`))
  return ({ openLinkId: link, email }) => codesOf(email).some((code) => refused.has(`${link} ${code}`))
}
