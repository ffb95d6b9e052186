import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expression, type Expressions, type RawBuilder, type SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { AuditAction } from '../audit/record-audit.ts'
import { purgeIdempotencyRecords, readStoredResponseKeys } from '../concurrency/idempotency.ts'
import { type Context, inMode } from '../context.ts'
import { CALLER_DATA_FIELDS } from '../events/event.ts'
import { folderOf } from '../files/media-keys.ts'
import { replaceInFilter } from '../invites/saved-filters.ts'
import { purgeMailEvents } from '../mails/mail-events.ts'
import { purgeOutageReason } from '../mails/mail-outage.ts'
import { formatHmac, hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { purgeSavedForms } from '../sign-in/saved-forms.ts'
import { readErasedIds } from './collect-invites.ts'
import {
  type AddressErasure,
  containsAddress,
  type ErasureRef,
  eraseCounted,
  replaceAddress,
  toAddressPattern,
} from './erasing.ts'
import type { ErasedCounts } from './erasures.ts'

// Erases a candidate's data outside of their invites. Texts in other candidates' rows are not searched.

/** Invites per statement. */
const INVITES_AT_ONCE = 50
/** Rows of one statement that scans a whole table. */
const ROWS_AT_ONCE = 2_000
/** Milliseconds to wait for a mail that is being sent, which takes seconds. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/** SQL condition: the text contains the address. */
export const textContainsAddress = (text: Expression<unknown>, address: string): RawBuilder<SqlBool> =>
  sql`${text}::text ~* ${toAddressPattern(address)}`

/**
 * Deletes reports of mail servers and queue entries of the candidate's mails. Waits for a mail that is being sent, because the
 * queue stores its server's reply.
 *
 * @throws Error while a mail is being sent for too long; it is retried.
 */
export async function eraseMails(erasing: AddressErasure): Promise<void> {
  const { ctx, address } = erasing
  for await (const { relatedIds } of readErasedIds(ctx, erasing.id, INVITES_AT_ONCE)) {
    await eraseCounted(erasing, async (inside) => ({ otherTraces: await purgeMailEvents(inside, relatedIds) }))
    await purgeJobs(erasing, relatedIds)
  }
  await purgeJobs(erasing, [])
  await purgeOutageReason(ctx, toAddressPattern(address))
}

const purgeJobs = ({ ctx, address }: AddressErasure, emailIds: readonly string[]): Promise<void> =>
  purgeMailJobs(ctx, emailIds, { pattern: toAddressPattern(address) })

/** @property patienceMs milliseconds to wait for mails that are being sent. */
type PurgeOptions = { pattern: string; patienceMs?: number }

/** Deletes queue entries of these mails, and others that match the pattern. @throws Error as {@link eraseMails}. */
export async function purgeMailJobs(
  { deps: { queue } }: Context,
  emailIds: readonly string[],
  { pattern, patienceMs = PATIENCE_MS }: PurgeOptions,
): Promise<void> {
  for (const until = performance.now() + patienceMs; ; await sleep(PAUSE_MS)) {
    const underWay = await queue.purgeMails(emailIds, pattern)
    if (underWay === 0) return
    if (performance.now() > until) throw new Error('A mail to the candidate is still being sent')
  }
}

/** Empties caller data in the invites' events, and receivers' replies to them. */
export async function eraseEvents(erasing: AddressErasure): Promise<void> {
  const { ctx, id } = erasing
  for await (const { inviteIds } of readErasedIds(ctx, id, INVITES_AT_ONCE))
    await eraseCounted(erasing, (inside) => eraseEventsOf(inside, inviteIds))
  await eraseOldReceiverReplies(erasing)
  await eraseCounted(erasing, async (inside) => {
    // Calls of a recruiting system before its order existed.
    const calls = inside.db
      .updateTable('atsCalls')
      .where('orderId', 'is', null)
      .where(({ or, ref }) =>
        or([textContainsAddress(ref('error'), erasing.address), textContainsAddress(ref('answer'), erasing.address)]),
      )
    return { otherTraces: await affectedRows(calls.set({ error: '', answer: '' })) }
  })
}

/** @param inside a transaction. */
export async function eraseEventsOf(inside: Context, inviteIds: readonly string[]): Promise<ErasedCounts> {
  const bothModes = inMode(inside, 'all')
  // Each half has its own index. Events numbered in between are found by the second.
  const emptying = (isNumbered: boolean) =>
    bothModes.db
      .updateTable('events')
      .where('inviteId', '=', anyOfIds(inviteIds))
      .where('position', isNumbered ? 'is not' : 'is', null)
      .where(({ ref }) => sql<SqlBool>`${ref('data')} ?| ${CALLER_DATA_FIELDS}::text[]`)
      .set(({ ref }) => ({ data: sql`${ref('data')} - ${CALLER_DATA_FIELDS}::text[]` }))
  const events = (await affectedRows(emptying(false))) + (await affectedRows(emptying(true)))
  const endpointIds = (await inside.db.selectFrom('webhookEndpoints').select('id').execute()).map((endpoint) => endpoint.id)
  if (endpointIds.length === 0) return { events }
  const sequencedEvents = bothModes.db
    .selectFrom('events')
    .select('id')
    .where('inviteId', '=', anyOfIds(inviteIds))
    .where('position', 'is not', null)
  const eventIds = (await sequencedEvents.execute()).map((event) => event.id)
  const answers = inside.db
    .updateTable('webhookAttempts')
    .where('endpointId', '=', anyOfIds(endpointIds))
    .where('eventId', '=', anyOfIds(eventIds))
    .where('answer', '<>', '')
  return { events, webhookAnswers: await affectedRows(answers.set({ answer: '' })) }
}

/** Replies to deliveries of deleted events: the invite is unknown, so the reply is emptied if it contains the address. */
async function eraseOldReceiverReplies(erasing: AddressErasure): Promise<void> {
  const { ctx, address } = erasing
  for (let last: { endpointId: string; eventId: string } | undefined; ; ) {
    let page = ctx.db.selectFrom('webhookDeliveries').select(['endpointId', 'eventId'])
    const { endpointId, eventId } = last ?? {}
    if (last)
      page = page.where(
        ({ ref }) => sql<SqlBool>`(${ref('endpointId')}, ${ref('eventId')}) > (${endpointId}::uuid, ${eventId}::uuid)`,
      )
    const deliveries = await page.orderBy('endpointId').orderBy('eventId').limit(ROWS_AT_ONCE).execute()
    const ids = [...new Set(deliveries.map((delivery) => delivery.eventId))]
    const remainingEvents = await inMode(ctx, 'all')
      .db.selectFrom('events')
      .select('id')
      .where('id', '=', anyOfIds(ids))
      .execute()
    const isKept = new Set(remainingEvents.map((event) => event.id))
    const orphans = deliveries.filter((delivery) => !isKept.has(delivery.eventId))
    if (orphans.length > 0)
      await eraseCounted(erasing, async (inside) => {
        const answers = inside.db
          .updateTable('webhookAttempts')
          .where('endpointId', '=', anyOfIds([...new Set(orphans.map((delivery) => delivery.endpointId))]))
          .where('eventId', '=', anyOfIds(orphans.map((delivery) => delivery.eventId)))
          .where(({ ref }) => textContainsAddress(ref('answer'), address))
        return { webhookAnswers: await affectedRows(answers.set({ answer: '' })) }
      })
    last = deliveries.at(-1)
    if (deliveries.length < ROWS_AT_ONCE) return
  }
}

/** Audit actions whose details may contain free text. All others contain ids, numbers, and fixed words. */
const ACTIONS_WITH_TEXT: readonly AuditAction[] = [
  'lifted_suppression',
  'reset_factors',
  'corrected_key',
  'exported_members',
  'exported_audit_log',
  'refused_sign_in',
]

/** Erases stored responses, archives, and other texts that contain the address. */
export async function eraseOtherTraces(erasing: AddressErasure): Promise<void> {
  const { ctx, id, address } = erasing
  await eraseStoredResponses(erasing, [])
  for await (const { inviteIds, relatedIds } of readErasedIds(ctx, id, INVITES_AT_ONCE))
    await eraseStoredResponses(erasing, [...inviteIds, ...relatedIds])
  const { deps, organization } = ctx
  const codes = hmacsOfAddress(deps.secretKeys, organization.id, address).map((code) => new Uint8Array(code))
  await eraseArchives(erasing, { OR: [{ addressHmac: { in: codes } }, ORGANIZATION_EXPORT] })
  // Registrations with an invite were deleted with it.
  await eraseCounted(erasing, async (inside) => {
    const registrations = inside.db
      .deleteFrom('registrations')
      .where(({ ref }) => sql<SqlBool>`address_key(${ref('email')}) = ${address}`)
      .where('createdAt', '<=', erasing.until)
    const deleted = (await registrations.returning('id').execute()).map(({ id: deletedId }) => deletedId)
    return { otherTraces: deleted.length + (await purgeMailEvents(inside, deleted)) }
  })
  await eraseText(erasing, address)
}

/**
 * Removes a text from saved forms, saved filters, and free text in the audit log.
 *
 * @param text an address or name. @param replacement replaces it in forms and filters; without one these are deleted.
 */
export async function eraseText(erasing: ErasureRef, text: string, replacement?: string): Promise<void> {
  const isInbound = (words: string) => containsAddress(text, words)
  const replace = replacement === undefined ? undefined : (words: string) => replaceAddress(text, words, replacement)
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await purgeSavedForms(inside, isInbound, replace) }))
  await eraseCounted(erasing, async (inside) => {
    const isAbout = ({ or, ref }: Expressions<'savedFilters'>) =>
      or([textContainsAddress(ref('query'), text), textContainsAddress(ref('name'), text)])
    if (!replace) return { otherTraces: await affectedRows(inside.db.deleteFrom('savedFilters').where(isAbout)) }
    const filters = await inside.db
      .selectFrom('savedFilters')
      .where(isAbout)
      .select(['id', 'memberId', 'name', 'query'])
      .execute()
    for (const filter of filters) await replaceInFilter(inside, filter, replace)
    return { otherTraces: filters.length }
  })
  await eraseCounted(erasing, async (inside) => {
    const matchingEntries = inside.db
      .selectFrom('auditEntries')
      .where('action', '=', sql<string>`any(${ACTIONS_WITH_TEXT})`)
      .where(({ ref }) => textContainsAddress(ref('details'), text))
    const entries = await matchingEntries.select(['id', 'details']).execute()
    for (const entry of entries) {
      const details = JSON.stringify(entry.details, (_, value) => (typeof value === 'string' && isInbound(value) ? '' : value))
      await inside.db
        .updateTable('auditEntries')
        .where('id', '=', entry.id)
        .set({ details: sql`${details}::jsonb` })
        .execute()
    }
    return { otherTraces: entries.length }
  })
}

/** Exports of the organization have data of everybody. */
export const ORGANIZATION_EXPORT = { subject: 'organization' } as const

/** Deletes archives. A process that is building one notices that its row is gone. @throws errors of the store. */
export async function eraseArchives(erasing: ErasureRef, filter: Prisma.ArchiveWhereInput): Promise<void> {
  const { db, deps, organization } = erasing.ctx
  const where = { organizationId: organization.id, ...filter }
  for (const { key } of await db.archive.findMany({ where, select: { key: true } }))
    if (key !== null) await deps.media.deletePrefix(folderOf(key))
  await eraseCounted(erasing, async (inside) => ({ otherTraces: (await inside.db.archive.deleteMany({ where })).count }))
}

/** Deletes stored responses that contain the address or one of the ids. */
export async function eraseStoredResponses(erasing: ErasureRef & { address: string }, ids: readonly string[]): Promise<void> {
  const { ctx, address } = erasing
  const alternatives = ids.join('|')
  const patterns = alternatives
    ? { inKeys: alternatives, inTexts: alternatives }
    : { inKeys: toAddressPattern(address, { hyphenated: true }), inTexts: toAddressPattern(address) }
  for await (const keys of readStoredResponseKeys(ctx, ROWS_AT_ONCE))
    await eraseCounted(erasing, async (inside) => ({
      requestRecords: await purgeIdempotencyRecords(inside, keys, patterns),
    }))
}

/** Replaces the address of suppressions by its HMAC, so that they still apply. */
export const eraseSuppressions = (erasing: AddressErasure): Promise<number> =>
  eraseCounted(erasing, async (inside) => {
    const { db, deps, organization } = inside
    const { address } = erasing
    const codes = hmacsOfAddress(deps.secretKeys, organization.id, address).map(formatHmac)
    const tenant = { organizationId: organization.id }
    const plain = await db.suppression.findMany({ where: { ...tenant, address } })
    for (const { id, mode, scope, until } of plain) {
      // An earlier erasure's suppression stays if it is permanent or lasts longer.
      const coded = await db.suppression.findFirst({ where: { ...tenant, address: { in: codes }, mode, scope } })
      const isShorter = coded && (coded.until === null || (until !== null && until <= coded.until))
      if (coded) await db.suppression.delete({ where: { organizationId_id: { ...tenant, id: isShorter ? id : coded.id } } })
      const where = { organizationId_id: { ...tenant, id } }
      if (!isShorter) await db.suppression.update({ where, data: { address: codes[0]!, emailId: null } })
    }
    return { suppressions: plain.length }
  })
