import { sql } from '../../db/builder.ts'
import { anyOfIds, type Condition, type Expressions, type SqlBool } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { affectedRows } from '../../db/statements.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { givenRows, insertRows } from '../../db/writes.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Context, KeyMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inviteErased } from '../events/event.ts'
import { recordEvents } from '../events/record-events.ts'
import { folderOf } from '../files/media-keys.ts'
import { moveInvite } from '../invites/move-invite.ts'
import { collectInvites, collectListedInvites, lockCollectedInvites, openCollectedInvites } from './collect-invites.ts'
import { deleteInvites } from './delete-invites.ts'
import { type AddressErasure, type ErasureRef, eraseCounted } from './erasing.ts'
import type { ErasedCounts } from './erasures.ts'

// Erases the invites of an address, with their dependent rows.

/** Invites of one transaction. */
const INVITES_AT_ONCE = 10
const MEDIA_AT_ONCE = 20
/** Each may have ten thousand rows. */
const LISTS_AT_ONCE = 10

/** Revokes open invites first, so that the candidate's page explains why it closes. */
export async function revokeOpenInvites({ ctx, id }: Pick<AddressErasure, 'ctx' | 'id'>): Promise<void> {
  for (const { id: inviteId } of await openCollectedInvites(ctx, id)) {
    await moveInvite(ctx, 'revoke', { inviteId }).catch((error) => {
      // Meanwhile it was submitted, or deleted as test data.
      if (!(error instanceof DomainError && ['move_not_allowed', 'invite_not_found'].includes(error.kind))) throw error
    })
  }
}

/** The rows of lists with an address, of the lists that were there by then, some lists at a time. */
export async function* readListIds(ctx: Context, until: Date) {
  for (let last: string | undefined; ; ) {
    let page = tenantDb(ctx.db, { ...ctx, mode: 'all' })
      .selectFrom('inviteBatches')
      .where('createdAt', '<=', until)
    if (last !== undefined) page = page.where('id', '>', last)
    const ids = (await page.select('id').orderBy('id').limit(LISTS_AT_ONCE).execute()).map(({ id }) => id)
    if (ids.length > 0) yield ids
    last = ids.at(-1)
    if (ids.length < LISTS_AT_ONCE) return
  }
}

/** Counts rows of lists with the address. @param address in lower case. */
export async function countListRows(ctx: Context, address: string, until: Date): Promise<number> {
  let count = 0
  for await (const ids of readListIds(ctx, until)) {
    const rows = ctx.db
      .selectFrom('inviteBatchRows')
      .where('batchId', '=', anyOfIds(ids))
      .where(({ ref }) => sql<SqlBool>`address_key(trim(${ref('email')})) = ${address}`)
    count += Number((await rows.select(({ fn }) => fn.countAll<string>().as('count')).executeTakeFirst())!.count)
  }
  return count
}

/** Before the invites, so that no list makes another. */
export async function eraseListRows(erasing: AddressErasure): Promise<void> {
  const { ctx, address, until } = erasing
  for await (const ids of readListIds(ctx, until))
    await eraseCounted(erasing, async (inside) => {
      const deletion = inside.db
        .deleteFrom('inviteBatchRows')
        .where('batchId', '=', anyOfIds(ids))
        .where(({ ref }) => sql<SqlBool>`address_key(trim(${ref('email')})) = ${address}`)
      const rows = await deletion.returning('inviteId').execute()
      await collectListedInvites(
        inside,
        erasing,
        rows.flatMap(({ inviteId }) => inviteId ?? []),
      )
      return { listRows: rows.length }
    })
  await collectInvites(ctx, erasing) // what was just being made when the erasure was asked for
  await revokeOpenInvites(erasing)
}

/** @throws any error of the media store. */
export const eraseMedia = (erasing: AddressErasure): Promise<void> =>
  eraseMediaOf(erasing, (eb) => eb('submissions.inviteId', 'in', idsOfErased(erasing)))

const idsOfErased = ({ ctx, id }: ErasureRef) => ctx.db.selectFrom('erasedInvites').where('erasureId', '=', id).select('inviteId')

/**
 * Deletes photos and recordings from the store before their rows, which are the record of remaining files if the store fails. A sweep
 * deletes files that were written meanwhile, found by a trigger on the rows.
 *
 * @param condition chooses the submissions. @throws errors of the store.
 */
export async function eraseMediaOf(
  counting: ErasureRef,
  condition: (eb: Expressions<'submissions'>) => Condition,
): Promise<void> {
  const { ctx } = counting
  for (let last: string | undefined; ; ) {
    let page = ctx.db
      .selectFrom('mediaFiles')
      .innerJoin(ctx.db.table('submissions'), 'submissions.id', 'mediaFiles.submissionId')
      .where((eb) => condition(eb))
      .where('mediaFiles.removedAt', 'is', null)
    if (last !== undefined) page = page.where('mediaFiles.id', '>', last)
    const media = await page.select(['mediaFiles.id', 'mediaFiles.key']).orderBy('mediaFiles.id').limit(MEDIA_AT_ONCE).execute()
    if (media.length === 0) return
    await eraseCounted(counting, async (inside) => {
      const marking = inside.db
        .updateTable('mediaFiles')
        .where('id', '=', anyOfIds(media.map((file) => file.id)))
        .where('state', '<>', 'deleted')
        .set({ state: 'deleted', deletedAt: inside.deps.clock() })
      return { media: await affectedRows(marking) }
    })
    for (const { key } of media) await ctx.deps.media.deletePrefix(folderOf(key))
    last = media.at(-1)?.id
    if (media.length < MEDIA_AT_ONCE) return
  }
}

/** Deletes the invites and their rows. Anonymous statistics stay. */
export const eraseInvites = async (erasing: AddressErasure): Promise<void> =>
  repeatBatch(INVITES_AT_ONCE, async (atMost) => {
    let found = 0
    await eraseCounted(erasing, async (inside) => {
      const invites = await lockCollectedInvites(inside, erasing.id, atMost)
      found = invites.length
      return found === 0 ? {} : (await deleteLockedInvites(inside, invites)).counts
    })
    return found
  })

/** @property relatedIds of their mails, submissions, and registrations. @property listRows that went with them: an address's were erased before. */
type DeletedInvites = { counts: ErasedCounts; relatedIds: string[]; listRows: number }

/** Deletes invites that were collected for an erasure and are locked, with all that hangs on them. */
export async function deleteLockedInvites(inside: Context, invites: CountedInvite[]): Promise<DeletedInvites> {
  const { db, organization } = inside
  const ids = invites.map(({ id }) => id)
  const where = { organizationId: organization.id, inviteId: anyOf(ids) }
  const select = { id: true, inviteId: true }
  const mails = await db.inviteEmail.findMany({ where, select })
  const submitted = await db.submission.findMany({ where, select })
  const registrations = await db.registration.findMany({ where, select })
  const relatedRows = [...mails, ...submitted, ...registrations]
  const relatedIdsByInvite = [...Map.groupBy(relatedRows, ({ inviteId }) => inviteId)].map(([inviteId, related]) => ({
    inviteId: inviteId!,
    relatedIds: related.map(({ id }) => id),
  }))
  await inside.db
    .updateTable('erasedInvites')
    .from(givenRows('erasedInvites', relatedIdsByInvite).as('noted'))
    .whereRef('erasedInvites.inviteId', '=', 'noted.inviteId')
    .set(({ ref }) => ({ relatedIds: ref('noted.relatedIds') }))
    .execute()
  const listRows = await db.inviteBatchRow.count({ where })
  await keepSums(inside, invites)
  await recordEvents(inside, invites.map(inviteErased))
  const { submissions } = await deleteInvites(inside, ids)
  return {
    counts: { invites: ids.length, submissions, mails: mails.length },
    relatedIds: relatedRows.map(({ id }) => id),
    listRows,
  }
}

export type CountedInvite = { id: string; organizationId: string; assessmentId: string; mode: KeyMode }

/** Preserves the counts and points of reports, and keeps the triggers from subtracting them. */
async function keepSums(inside: Context, invites: CountedInvite[]): Promise<void> {
  const { db, deps, organization } = inside
  await db.selectNoFrom(sql`set_config('assessments.keeps_sums', 'on', true)`.as('set')).execute()
  const ids = invites.map(({ id }) => id)
  const newest = inside.db
    .selectFrom('submissions')
    .innerJoin(inside.db.table('releases'), 'releases.submissionId', 'submissions.id')
    .where('submissions.inviteId', '=', anyOfIds(ids))
    .distinctOn('releases.submissionId')
    .orderBy('releases.submissionId')
    .orderBy('releases.version', 'desc')
    .select(['submissions.assessmentId', 'submissions.mode', 'releases.points', 'releases.ofPoints'])
  const results = await newest.execute()
  const ownIds = { organizationId: organization.id }
  if (results.length > 0)
    await insertRows(db, { erasedResults: results.map((result) => ({ ...ownIds, id: deps.newId(), ...result })) }).execute()
  for (const group of Map.groupBy(invites, ({ assessmentId, mode }) => `${assessmentId} ${mode}`).values()) {
    const { assessmentId, mode } = group[0]!
    const counting = tenantDb(db, { organization, mode })
      .insertInto('erasedInviteCounts')
      .values({ assessmentId, count: group.length })
      .onConflict((conflict) =>
        conflict
          .columns(['organizationId', 'assessmentId', 'mode'])
          .doUpdateSet((eb) => ({ count: eb('erasedInviteCounts.count', '+', eb.ref('excluded.count')) })),
      )
    await counting.execute()
  }
}
