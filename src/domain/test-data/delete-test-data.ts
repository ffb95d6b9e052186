import { scopeWhere } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { type DeletedCounts, deleteInvites } from '../erasure/delete-invites.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'

// Deletes test invites with all rows that refer to them (emails, tags, submissions, grades, results, ATS orders) and the test suppressions.
// Events stay, because cursors and webhooks depend on them; keys, webhooks, and connections stay, because they are settings. Test tags are
// deleted last, when few invites have them.

/** Invites of one transaction, which takes a few tenths of a second and locks nothing that live requests write. */
const DELETED_AT_ONCE = 100
/** Lists of candidates of one transaction: each may have ten thousand rows. */
const LISTS_AT_ONCE = 3

/** Tags of one transaction. */
const TAGS_AT_ONCE = 100

/** Deleted rows, and the number of invites that a job still deletes. */
export type Deletion = DeletedCounts & { lists: number; remaining: number }

/**
 * Deletes the organization's present test data. The first part is deleted before it returns, the rest by a job, which continues after
 * interruptions.
 *
 * @throws DomainError not_permitted outside of test mode.
 */
export async function deleteTestData(ctx: Context): Promise<Deletion> {
  authorize(ctx, 'delete_test_data')
  if (ctx.mode !== 'test') throw new DomainError('not_permitted')
  const until = ctx.deps.clock()
  return inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const lists = await deleteLists(inside, until, LISTS_AT_ONCE)
    await inside.db.deleteFrom('suppressions').where('since', '<=', until).execute()
    // Counts of erased test invites.
    for (const counted of ['erasedInviteCounts', 'erasedResults'] as const) await inside.db.deleteFrom(counted).execute()
    const deletedCount = await deleteSome(inside, until, DELETED_AT_ONCE)
    const remaining = await db.invite.count({ where: { ...scopeWhere(inside), createdAt: { lte: until } } })
    const tags = remaining === 0 ? await deleteTags(inside, until, TAGS_AT_ONCE) : 0
    if (remaining > 0 || lists === LISTS_AT_ONCE || tags === TAGS_AT_ONCE)
      await deps.queue.enqueueTestDataDeletion(db, { organizationId: organization.id, until })
    if (deletedCount.invites + lists + tags > 0)
      await recordAudit(inside, { action: 'deleted_test_data', details: { invites: deletedCount.invites + remaining, lists } })
    return { ...deletedCount, lists, remaining }
  })
}

/** Deletes test data that was created before the request, part by part. Repeatable. */
export async function continueDeletion(
  service: ServiceContext,
  { organizationId, until }: { organizationId: string; until: Date },
): Promise<void> {
  const organization = await service.db.organization.findUnique({ where: { id: organizationId } })
  if (!organization) return
  const ctx: Context = enterOrganization(service, organization, 'test')
  await repeatBatch(LISTS_AT_ONCE, (atMost) => deleteLists(ctx, until, atMost))
  await repeatBatch(DELETED_AT_ONCE, async (atMost) => {
    const { invites } = await inTransaction(ctx, (inside) => deleteSome(inside, until, atMost))
    return invites
  })
  await repeatBatch(TAGS_AT_ONCE, (atMost) => deleteTags(ctx, until, atMost))
}

/** Deletes bulk changes, share links, and at most `atMost` lists of candidates. @returns the number of lists. */
async function deleteLists(ctx: Context, until: Date, atMost: number): Promise<number> {
  const batch = ctx.db.selectFrom('inviteBatches').where('createdAt', '<=', until).limit(atMost)
  // Rows of bulk changes go with their invites.
  await ctx.db.deleteFrom('bulkChanges').where('createdAt', '<=', until).execute()
  await ctx.db.deleteFrom('shareLinks').where('createdAt', '<=', until).execute()
  await ctx.db.deleteFrom('registrations').where('createdAt', '<=', until).execute()
  return affectedRows(ctx.db.deleteFrom('inviteBatches').where('id', 'in', batch.select('id')))
}

/** Deletes at most `atMost` test tags. @returns the number of deleted tags. */
function deleteTags(ctx: Context, until: Date, atMost: number): Promise<number> {
  const batch = ctx.db.selectFrom('tags').where('mode', '=', 'test').where('createdAt', '<=', until).limit(atMost)
  return affectedRows(ctx.db.deleteFrom('tags').where('id', 'in', batch.select('id')))
}

/** Deletes at most `atMost` of the oldest invites, with their dependent rows. @param ctx inside a transaction. */
async function deleteSome(ctx: Context, until: Date, atMost: number): Promise<DeletedCounts> {
  const oldest = ctx.db.selectFrom('invites').where('createdAt', '<=', until).orderBy('createdAt').orderBy('id').limit(atMost)
  const ids = (await oldest.select('id').forUpdate().execute()).map(({ id }) => id)
  return deleteInvites(ctx, ids)
}
