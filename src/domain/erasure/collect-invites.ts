import { sql } from '../../db/builder.ts'
import type { Condition, Expressions, SqlBool } from '../../db/queries.ts'
import { copyColumns, DEFAULT, insertFromSelect, uuid } from '../../db/writes.ts'
import type { Context } from '../context.ts'

// Collects the ids of an erasure's invites once. Later steps find rows by these ids, also after the invites are gone.

/** True if the invite was sent to the address in any case. @param address in lower case. */
export const isSentTo = ({ ref }: Expressions<'invites'>, address: string): Condition =>
  sql<SqlBool>`address_key(${ref('invites.recipientEmail')}) = ${address}`

/** Takes the invites of the address that were made until then. */
export async function collectInvites(
  ctx: Context,
  { id, address, until }: { id: string; address: string; until: Date },
): Promise<void> {
  await collect(ctx, id, (eb) => eb.and([isSentTo(eb, address), eb('invites.createdAt', '<=', until)]))
}

/** Adds invites that a running batch created while its rows were being erased. */
export async function collectListedInvites(
  inside: Context,
  { id, address }: { id: string; address: string },
  inviteIds: string[],
): Promise<void> {
  if (inviteIds.length > 0)
    await collect(inside, id, (eb) =>
      eb.and([isSentTo(eb, address), sql<SqlBool>`${eb.ref('invites.id')} = any(${inviteIds}::uuid[])`]),
    )
}

async function collect(inside: Context, id: string, condition: (eb: Expressions<'invites'>) => Condition): Promise<void> {
  const insertion = insertFromSelect(inside.db, 'erasedInvites', inside.db.selectFrom('invites').where(condition), (eb) => ({
    ...copyColumns(eb, 'organizationId', 'mode'),
    inviteId: eb.ref('invites.id'),
    erasureId: uuid(id),
    relatedIds: DEFAULT,
  }))
  // An invite that a retention run has marked, and not yet erased, becomes the candidate's: their receipt must not come before it is erased.
  await insertion
    .onConflict((conflict) =>
      conflict.columns(['organizationId', 'inviteId']).doUpdateSet(({ ref }) => ({ erasureId: ref('excluded.erasureId') })),
    )
    .execute()
}

/** Invites of the erasure that still exist. */
const collectedInvites = (ctx: Context, id: string) =>
  ctx.db
    .selectFrom('invites')
    .innerJoin(ctx.db.table('erasedInvites'), (join) =>
      join
        .onRef('invites.organizationId', '=', 'erasedInvites.organizationId')
        .onRef('invites.id', '=', 'erasedInvites.inviteId'),
    )
    .where('erasedInvites.erasureId', '=', id)

/** Collected invites that can be revoked. */
export const openCollectedInvites = (ctx: Context, id: string) =>
  collectedInvites(ctx, id).where('invites.status', 'in', ['pending', 'accepted', 'started']).select('invites.id').execute()

/** Locks some of the erasure's invites, in the order of their ids. */
export const lockCollectedInvites = (ctx: Context, id: string, atMost: number) =>
  collectedInvites(ctx, id)
    .select(['invites.id', 'invites.organizationId', 'invites.mode', 'invites.assessmentId', 'invites.status'])
    .orderBy('erasedInvites.inviteId')
    .limit(atMost)
    .forUpdate('invites')
    .execute()

/** The ids of the erasure's invites, and of the mails and submissions that they had, some at a time. */
export async function* readErasedIds(ctx: Context, id: string, atOnce: number) {
  for (let last: string | undefined; ; ) {
    let page = ctx.db.selectFrom('erasedInvites').where('erasureId', '=', id)
    if (last !== undefined) page = page.where('inviteId', '>', last)
    const rows = await page.select(['inviteId', 'relatedIds']).orderBy('inviteId').limit(atOnce).execute()
    if (rows.length > 0)
      yield { inviteIds: rows.map(({ inviteId }) => inviteId), relatedIds: rows.flatMap(({ relatedIds }) => relatedIds ?? []) }
    last = rows.at(-1)?.inviteId
    if (rows.length < atOnce) return
  }
}
