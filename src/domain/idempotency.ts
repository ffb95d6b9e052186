import type { Context, ServiceContext } from './context.ts'
import { DomainError } from './errors.ts'
import { open, seal } from './seal.ts'
import { inTransaction } from './transaction.ts'

/** What a request was answered with; a body that shows a secret is encrypted where it is kept. */
export type Answer = { status: number; body: string; isSecret?: boolean }

type Request = { key: string; fingerprint: Uint8Array<ArrayBuffer> }

/** How long an answer is kept for a retry. */
const KEPT_FOR_MS = 24 * 3_600_000

/**
 * Does the work once for an idempotency key of the organization, and answers every later request with that key as the first. The record
 * is committed in the same transaction as what the work made. While the first is under way the next waits for it: its insert of the
 * same primary key does. Work that fails leaves no record.
 *
 * @param work must do all its writing through the context it is given.
 * @throws DomainError idempotency_key_reused when the key was used for another request.
 */
export async function doOnce(
  ctx: Context,
  request: Request,
  work: (ctx: Context) => Promise<Answer>,
): Promise<Answer & { replayed: boolean }> {
  return inTransaction(ctx, async (inside) => {
    const earlier = await claim(inside, request)
    if (earlier) return { ...earlier, replayed: true }
    const answer = await work(inside)
    const id = { organizationId: ctx.organization.id, key: request.key }
    await inside.db.idempotencyRecord.update({ where: { organizationId_key: id }, data: toRecord(inside, id, answer) })
    return { ...answer, replayed: false }
  })
}

type Id = { organizationId: string; key: string }

function toRecord({ deps }: Context, id: Id, { status, body, isSecret = false }: Answer) {
  if (!isSecret) return { status, body }
  return { status, body: Buffer.from(seal(deps.secretKeys, purposeOf(id), body)).toString('base64'), sealed: true }
}

function readBody({ deps }: Context, id: Id, { body, sealed }: { body: string | null; sealed: boolean }): string {
  if (!sealed) return body!
  const opened = open(deps.secretKeys, purposeOf(id), Buffer.from(body!, 'base64'))
  if (opened === null) throw new Error('The answer to an earlier request is encrypted under a secret key that is not known')
  return opened
}

const purposeOf = ({ organizationId, key }: Id): string => `answer ${organizationId} ${key}`

/** @returns null when the key is free, and now ours; otherwise the answer it stands for. */
async function claim(ctx: Context, { key, fingerprint }: Request): Promise<Answer | null> {
  const { organization, db, deps } = ctx
  const organizationId = organization.id
  const now = deps.clock()
  await db.idempotencyRecord.deleteMany({ where: { organizationId, key, createdAt: { lte: oldest(now) } } })
  const { count } = await db.idempotencyRecord.createMany({
    data: [{ organizationId, key, fingerprint, createdAt: now }],
    skipDuplicates: true,
  })
  if (count === 1) return null
  const record = await db.idempotencyRecord.findUniqueOrThrow({ where: { organizationId_key: { organizationId, key } } })
  if (!Buffer.from(record.fingerprint).equals(fingerprint)) throw new DomainError('idempotency_key_reused')
  return { status: record.status!, body: readBody(ctx, { organizationId, key }, record) }
}

/** Answers a statement: what has piled up while nobody swept is more than one statement has time for. */
const FORGOTTEN_AT_ONCE = 5_000

/** Forgets the answers that no retry may ask for any more; all but those that another transaction holds. */
export async function forgetOldAnswers({ db, deps }: ServiceContext): Promise<void> {
  const until = oldest(deps.clock())
  let count: number
  do {
    count = await db.$executeRaw`
      WITH old AS MATERIALIZED (
        SELECT organization_id, key FROM idempotency_records WHERE created_at <= ${until}
        LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED
      )
      DELETE FROM idempotency_records AS record USING old
      WHERE (record.organization_id, record.key) = (old.organization_id, old.key)`
  } while (count === FORGOTTEN_AT_ONCE)
}

const oldest = (now: Date) => new Date(now.getTime() - KEPT_FOR_MS)
