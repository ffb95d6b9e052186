import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { codesOfAddress, wordCode } from '../secrets/address-hmacs.ts'
import { open, seal } from '../secrets/seal.ts'
import { daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { EXPIRED_ROWS } from './expired-rows.ts'

/** Stored response of a request. Only the interface interprets code and text. A text with a secret is stored encrypted. */
export type Answer = { code: number; text: string; isSecret?: boolean }

type Request = { key: string; fingerprint: Uint8Array<ArrayBuffer> }

/**
 * Does the work once for an idempotency key of the organization, and gives every later request with that key the first answer; one that
 * shows a secret only to the actor that was shown it first. The record
 * is committed in the same transaction as the work's changes. While the first request is in progress, the next one waits for it, because
 * it inserts the same primary key. Work that fails leaves no record.
 *
 * @param work must do all its writing through the context it is given.
 * @throws DomainError idempotency_key_reused when the key was used for another request, or its answer shows a secret to somebody else.
 */
export async function doOnce(
  ctx: Context,
  request: Request,
  work: (ctx: Context) => Promise<Answer>,
): Promise<Answer & { replayed: boolean }> {
  const key = keyOf(ctx, request)
  return inTransaction(ctx, async (inside) => {
    await refuseErased(inside, key)
    const earlier = await claim(inside, { ...request, key })
    if (earlier) return { ...earlier, replayed: true }
    const answer = await work(inside)
    const id = { organizationId: ctx.organization.id, key }
    await inside.db.idempotencyRecord.update({ where: { organizationId_key: id }, data: toRecord(inside, id, answer) })
    return { ...answer, replayed: false }
  })
}

/**
 * Gives every later request with the key the first answer, as {@link doOnce} does, of work that takes too long for a transaction and can be
 * done again without harm: two requests at the same moment may both do it.
 */
export async function doRepeatable(
  ctx: Context,
  request: Request,
  work: (ctx: Context) => Promise<Answer>,
): Promise<Answer & { replayed: boolean }> {
  const key = keyOf(ctx, request)
  await refuseErased(ctx, key)
  const earlier = await findAnswer(ctx, { ...request, key }, ctx.deps.clock())
  if (earlier) return { ...earlier, replayed: true }
  const answer = await work(ctx)
  return doOnce(ctx, request, async () => answer)
}

/** Live and test work have keys of their own. No header has a line break. */
const keyOf = ({ mode }: Context, { key }: Request): string => (mode === 'test' ? `test\n${key}` : key)

type Id = { organizationId: string; key: string }

function toRecord({ deps, actor }: Context, id: Id, { code, text, isSecret = false }: Answer) {
  if (!isSecret) return { status: code, body: text }
  const body = Buffer.from(seal(deps.secretKeys, purposeOf(id), text)).toString('base64')
  return { status: code, body, encryptedFor: nameOfActor(actor) }
}

/** Kind and id of the actor. */
const nameOfActor = (actor: Context['actor']): string => ('id' in actor ? `${actor.kind} ${actor.id}` : actor.kind)

function readText(
  { deps }: Context,
  id: Id,
  { body, encryptedFor }: { body: string | null; encryptedFor: string | null },
): string {
  if (encryptedFor === null) return body!
  const opened = open(deps.secretKeys, purposeOf(id), Buffer.from(body!, 'base64'))
  if (opened === null) throw new Error('The answer to an earlier request is encrypted under a secret key that is not known')
  return opened
}

const purposeOf = ({ organizationId, key }: Id): string => `answer ${organizationId} ${key}`

/** @returns null when the key was free, and is now taken; otherwise the answer recorded for it. */
async function claim(ctx: Context, request: Request): Promise<Answer | null> {
  const { organization, db, deps } = ctx
  const { key, fingerprint } = request
  const organizationId = organization.id
  const now = deps.clock()
  await db.idempotencyRecord.deleteMany({ where: { organizationId, key, createdAt: { lte: oldest(now) } } })
  const { count } = await db.idempotencyRecord.createMany({
    data: [{ organizationId, key, fingerprint, createdAt: now }],
    skipDuplicates: true,
  })
  return count === 1 ? null : findAnswer(ctx, request, now)
}

/** @returns null where there is none, or none any more. @throws DomainError idempotency_key_reused. */
async function findAnswer(ctx: Context, { key, fingerprint }: Request, now: Date): Promise<Answer | null> {
  const id = { organizationId: ctx.organization.id, key }
  const where = { ...id, createdAt: { gt: oldest(now) } }
  const record = await ctx.db.idempotencyRecord.findFirst({ where })
  if (!record) return null
  if (!Buffer.from(record.fingerprint).equals(fingerprint)) throw new DomainError('idempotency_key_reused')
  // Whom it was about is erased since: it is done no second time, and there is nothing to show.
  if (record.body === null) throw new DomainError('invite_not_found')
  // A secret is shown again only to who was shown it: other API keys of the organization may have chosen the same idempotency key.
  if (record.encryptedFor !== null && record.encryptedFor !== nameOfActor(ctx.actor))
    throw new DomainError('idempotency_key_reused')
  return { code: record.status!, text: readText(ctx, id, record), isSecret: record.encryptedFor !== null }
}

/** Replacements of keys that named an erased person. */
const codesOf = ({ deps, organization }: Context, key: string): string[] =>
  codesOfAddress(deps.secretKeys, organization.id, key).map(wordCode)

/** Only a key that names an address was ever replaced by its code. @throws DomainError invite_not_found. */
async function refuseErased(ctx: Context, key: string): Promise<void> {
  if (!/@|%40/i.test(key)) return
  const where = {
    organizationId: ctx.organization.id,
    key: { in: codesOf(ctx, key) },
    createdAt: { gt: oldest(ctx.deps.clock()) },
  }
  if (await ctx.db.idempotencyRecord.findFirst({ where, select: { key: true } })) throw new DomainError('invite_not_found')
}

/** The keys of all answers that the organization's requests got, some at a time. */
export async function* readAnswerKeys(ctx: Context, atOnce: number): AsyncGenerator<string[]> {
  for (let last = ''; ; ) {
    const page = ctx.db.selectFrom('idempotencyRecords').select('key').where('key', '>', last).orderBy('key').limit(atOnce)
    const keys = (await page.execute()).map(({ key }) => key)
    if (keys.length > 0) yield keys
    last = keys.at(-1) ?? ''
    if (keys.length < atOnce) return
  }
}

/** The ids that stand in what was answered, and in the keys themselves. */
export async function readIdsInAnswers(ctx: Context, keys: readonly string[]): Promise<string[]> {
  const rows = await ctx.db.idempotencyRecord.findMany({
    where: { organizationId: ctx.organization.id, key: { in: [...keys] } },
    select: { organizationId: true, key: true, body: true, encryptedFor: true },
  })
  const texts = rows.flatMap(({ body, encryptedFor, ...id }) => {
    if (body === null) return [id.key]
    const text = encryptedFor !== null ? open(ctx.deps.secretKeys, purposeOf(id), Buffer.from(body, 'base64')) : body
    return [id.key, text ?? '']
  })
  return [...new Set(texts.flatMap((text) => text.toLowerCase().match(IDS) ?? []))]
}

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * Forgets what was answered wherever something matches in it, in either case: whoever sends such a request again is told that there is no
 * such thing. Of a key that it stands in there is a code from then on.
 *
 * @param ctx inside a transaction. @param patterns regular expressions that PostgreSQL and JavaScript read alike. @returns how many.
 */
export async function purgeIdempotencyRecords(
  ctx: Context,
  keys: readonly string[],
  { inKeys, inTexts: pattern }: { inKeys: string; inTexts: string },
): Promise<number> {
  const { db, deps, organization } = ctx
  let count = 0
  for (const key of keys.filter((one) => new RegExp(inKeys, 'i').test(one))) {
    const coded = { key: codesOf(ctx, key)[0]!, body: null, encryptedFor: null }
    count += await affectedRows(ctx.db.updateTable('idempotencyRecords').where('key', '=', key).set(coded))
  }
  const said = ctx.db
    .updateTable('idempotencyRecords')
    .where('key', '=', sql<string>`any(${keys}::text[])`)
    .where('encryptedFor', 'is', null)
    .where(({ ref }) => sql<SqlBool>`${ref('body')} ~* ${pattern}`)
  const where = { organizationId: organization.id, encryptedFor: { not: null }, key: { in: [...keys] } }
  const sealed = await db.idempotencyRecord.findMany({ where })
  const saysIt = sealed.filter(({ body, ...id }) => {
    // A body that no secret key decrypts is lost.
    const text = open(deps.secretKeys, purposeOf(id), Buffer.from(body ?? '', 'base64')) ?? ''
    return new RegExp(pattern, 'i').test(text)
  })
  const theirs = saysIt.map(({ key }) => key)
  const emptied = ctx.db.updateTable('idempotencyRecords').where('key', '=', sql<string>`any(${theirs}::text[])`)
  for (const one of [said.set({ body: null }), emptied.set({ body: null, encryptedFor: null })]) count += await affectedRows(one)
  return count
}

/** Answers are kept for retries after this time. */
const oldest = (now: Date): Date => daysAfter(now, -EXPIRED_ROWS.idempotencyRecords.days)
