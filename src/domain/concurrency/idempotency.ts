import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { formatHmac, hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { EXPIRED_ROWS } from './expired-rows.ts'

/** Stored response of a request. Only the interface interprets code and text. A text with a secret is stored encrypted. */
export type StoredResponse = { code: number; text: string; isSecret?: boolean }

type IdempotentRequest = { key: string; fingerprint: Uint8Array<ArrayBuffer> }

/**
 * Does the work once for an idempotency key of the organization, and gives every later request with that key the first answer; one that
 * shows a secret only to the actor that was shown it first. The record
 * is committed in the same transaction as the work's changes. While the first request is in progress, the next one waits for it, because
 * it inserts the same primary key. Work that fails leaves no record.
 *
 * @param work must do all its writing through the context it is given.
 * @throws DomainError idempotency_key_reused when the key was used for another request, or its answer shows a secret to somebody else.
 */
export async function withIdempotencyKey(
  ctx: Context,
  request: IdempotentRequest,
  work: (ctx: Context) => Promise<StoredResponse>,
): Promise<StoredResponse & { replayed: boolean }> {
  const key = keyOf(ctx, request)
  return inTransaction(ctx, async (inside) => {
    await refuseErased(inside, key)
    const earlier = await claimKey(inside, { ...request, key })
    if (earlier) return { ...earlier, replayed: true }
    const answer = await work(inside)
    const id = { organizationId: ctx.organization.id, key }
    await inside.db.idempotencyRecord.update({ where: { organizationId_key: id }, data: toRecord(inside, id, answer) })
    return { ...answer, replayed: false }
  })
}

/**
 * Gives every later request with the key the first answer, as {@link withIdempotencyKey} does, of work that takes too long for a transaction and can be
 * done again without harm: two requests at the same moment may both do it.
 */
export async function withIdempotencyKeyForLongWork(
  ctx: Context,
  request: IdempotentRequest,
  work: (ctx: Context) => Promise<StoredResponse>,
): Promise<StoredResponse & { replayed: boolean }> {
  const key = keyOf(ctx, request)
  await refuseErased(ctx, key)
  const earlier = await findStoredResponse(ctx, { ...request, key }, ctx.deps.clock())
  if (earlier) return { ...earlier, replayed: true }
  const answer = await work(ctx)
  return withIdempotencyKey(ctx, request, async () => answer)
}

/** Live and test work have keys of their own. No header has a line break. */
const keyOf = ({ mode }: Context, { key }: IdempotentRequest): string => (mode === 'test' ? `test\n${key}` : key)

type Id = { organizationId: string; key: string }

function toRecord({ deps, actor }: Context, id: Id, { code, text, isSecret = false }: StoredResponse) {
  if (!isSecret) return { status: code, body: text }
  const body = Buffer.from(encrypt(deps.secretKeys, purposeOf(id), text)).toString('base64')
  return { status: code, body, encryptedFor: formatActor(actor) }
}

/** Kind and id of the actor. */
const formatActor = (actor: Context['actor']): string => ('id' in actor ? `${actor.kind} ${actor.id}` : actor.kind)

function decryptBody(
  { deps }: Context,
  id: Id,
  { body, encryptedFor }: { body: string | null; encryptedFor: string | null },
): string {
  if (encryptedFor === null) return body!
  const opened = decrypt(deps.secretKeys, purposeOf(id), Buffer.from(body!, 'base64'))
  if (opened === null) throw new Error('The answer to an earlier request is encrypted under a secret key that is not known')
  return opened
}

const purposeOf = ({ organizationId, key }: Id): string => `answer ${organizationId} ${key}`

/** @returns null when the key was free, and is now taken; otherwise the answer recorded for it. */
async function claimKey(ctx: Context, request: IdempotentRequest): Promise<StoredResponse | null> {
  const { organization, db, deps } = ctx
  const { key, fingerprint } = request
  const organizationId = organization.id
  const now = deps.clock()
  await db.idempotencyRecord.deleteMany({ where: { organizationId, key, createdAt: { lte: toCutoff(now) } } })
  const { count } = await db.idempotencyRecord.createMany({
    data: [{ organizationId, key, fingerprint, createdAt: now }],
    skipDuplicates: true,
  })
  return count === 1 ? null : findStoredResponse(ctx, request, now)
}

/** @returns null if there is no stored response, or it has expired. @throws DomainError idempotency_key_reused. */
async function findStoredResponse(
  ctx: Context,
  { key, fingerprint }: IdempotentRequest,
  now: Date,
): Promise<StoredResponse | null> {
  const id = { organizationId: ctx.organization.id, key }
  const where = { ...id, createdAt: { gt: toCutoff(now) } }
  const record = await ctx.db.idempotencyRecord.findFirst({ where })
  if (!record) return null
  if (!Buffer.from(record.fingerprint).equals(fingerprint)) throw new DomainError('idempotency_key_reused')
  // Its candidate was erased since. The request is not repeated.
  if (record.body === null) throw new DomainError('invite_not_found')
  // A secret is shown again only to the same actor, because other API keys may have chosen the same idempotency key.
  if (record.encryptedFor !== null && record.encryptedFor !== formatActor(ctx.actor))
    throw new DomainError('idempotency_key_reused')
  return { code: record.status!, text: decryptBody(ctx, id, record), isSecret: record.encryptedFor !== null }
}

/** Replacements of keys that named an erased person. */
const hmacsOf = ({ deps, organization }: Context, key: string): string[] =>
  hmacsOfAddress(deps.secretKeys, organization.id, key).map(formatHmac)

/** Only a key that names an address was ever replaced by its code. @throws DomainError invite_not_found. */
async function refuseErased(ctx: Context, key: string): Promise<void> {
  if (!/@|%40/i.test(key)) return
  const where = {
    organizationId: ctx.organization.id,
    key: { in: hmacsOf(ctx, key) },
    createdAt: { gt: toCutoff(ctx.deps.clock()) },
  }
  if (await ctx.db.idempotencyRecord.findFirst({ where, select: { key: true } })) throw new DomainError('invite_not_found')
}

/** Idempotency keys of all stored responses of the organization, in batches. */
export async function* readStoredResponseKeys(ctx: Context, atOnce: number): AsyncGenerator<string[]> {
  for (let last = ''; ; ) {
    const page = ctx.db.selectFrom('idempotencyRecords').select('key').where('key', '>', last).orderBy('key').limit(atOnce)
    const keys = (await page.execute()).map(({ key }) => key)
    if (keys.length > 0) yield keys
    last = keys.at(-1) ?? ''
    if (keys.length < atOnce) return
  }
}

/** UUIDs in stored responses and in their keys. */
export async function readIdsInStoredResponses(ctx: Context, keys: readonly string[]): Promise<string[]> {
  const rows = await ctx.db.idempotencyRecord.findMany({
    where: { organizationId: ctx.organization.id, key: { in: [...keys] } },
    select: { organizationId: true, key: true, body: true, encryptedFor: true },
  })
  const texts = rows.flatMap(({ body, encryptedFor, ...id }) => {
    if (body === null) return [id.key]
    const text = encryptedFor !== null ? decrypt(ctx.deps.secretKeys, purposeOf(id), Buffer.from(body, 'base64')) : body
    return [id.key, text ?? '']
  })
  return [...new Set(texts.flatMap((text) => text.toLowerCase().match(UUIDS) ?? []))]
}

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * Empties stored responses that match a pattern, ignoring case. A repeated request then gets the answer for a missing invite. Replaces keys
 * that match by their HMAC.
 *
 * @param ctx inside a transaction.
 * @param patterns regular expressions that PostgreSQL and JavaScript read alike.
 * @returns the number of changed records.
 */
export async function purgeIdempotencyRecords(
  ctx: Context,
  keys: readonly string[],
  { inKeys, inTexts: pattern }: { inKeys: string; inTexts: string },
): Promise<number> {
  const { db, deps, organization } = ctx
  let count = 0
  for (const key of keys.filter((storedKey) => new RegExp(inKeys, 'i').test(storedKey))) {
    const coded = { key: hmacsOf(ctx, key)[0]!, body: null, encryptedFor: null }
    count += await affectedRows(ctx.db.updateTable('idempotencyRecords').where('key', '=', key).set(coded))
  }
  const plainRecords = ctx.db
    .updateTable('idempotencyRecords')
    .where('key', '=', sql<string>`any(${keys}::text[])`)
    .where('encryptedFor', 'is', null)
    .where(({ ref }) => sql<SqlBool>`${ref('body')} ~* ${pattern}`)
  const where = { organizationId: organization.id, encryptedFor: { not: null }, key: { in: [...keys] } }
  const encryptedRecords = await db.idempotencyRecord.findMany({ where })
  const matching = encryptedRecords.filter(({ body, ...id }) => {
    // A body that no secret key decrypts is lost.
    const text = decrypt(deps.secretKeys, purposeOf(id), Buffer.from(body ?? '', 'base64')) ?? ''
    return new RegExp(pattern, 'i').test(text)
  })
  const matchingKeys = matching.map(({ key }) => key)
  const emptied = ctx.db.updateTable('idempotencyRecords').where('key', '=', sql<string>`any(${matchingKeys}::text[])`)
  for (const update of [plainRecords.set({ body: null }), emptied.set({ body: null, encryptedFor: null })])
    count += await affectedRows(update)
  return count
}

/** Answers are kept for retries after this time. */
const toCutoff = (now: Date): Date => daysAfter(now, -EXPIRED_ROWS.idempotencyRecords.days)
