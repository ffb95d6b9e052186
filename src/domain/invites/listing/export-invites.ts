import { anyOfIds, type Expressions, project, type Rows, type Selectable, type Tables } from '../../../db/queries.ts'
import { listOf } from '../../../db/statements.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { Prisma } from '../../../generated/prisma/client.ts'
import { EXPORTED_AT_ONCE, runExport, type WriteBatch } from '../../audit/run-export.ts'
import { may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { readWords, validateFilter } from '../../lists/filters.ts'
import { addressOrFormer, FORMER_GRADER, FORMER_MEMBER } from '../../loaders/former-members.ts'
import { expireDueInvites } from '../expire-due-invites.ts'
import { statusNow } from '../expiry.ts'
import { authorizeInvites } from '../visibility.ts'
import type { InviteFilter } from './invite-filter.ts'
import { type Matches, selectMatches } from './list-matches.ts'

/** All data of an invite, by its state as of now. */
export type ExportedInvite = Selectable<Tables['invites']> & {
  assessment: string
  /** Names, in their order. */
  tags: string[]
  /** Addresses of members; for erased members a placeholder. */
  grader: string | null
  createdBy: string | null
  /** Points of the newest released result. Null for members who may not read everything. */
  points: string | null
  ofPoints: string | null
}
const { status: _, ...otherColumns } = Prisma.InviteScalarFieldEnum
const columns = Object.values(otherColumns).map((column) => `invites.${column}` as const)

/**
 * Exports the invites that match the filter, in the order of their ids: each that is there from beginning to end exactly once.
 *
 * @throws DomainError not_permitted, see authorizeInvites; invalid for a filter beyond its limits; too_many_exports.
 */
export async function exportInvites(ctx: Context, filter: InviteFilter, write: WriteBatch<ExportedInvite>): Promise<void> {
  await authorizeInvites(ctx, filter)
  validateFilter(filter)
  await expireDueInvites(ctx)
  const { status, assessmentId, tagId, assignedGraderId, ...otherFilters } = filter
  // The audit log must not contain the search text: it may be a candidate's address.
  const searched = Object.values(otherFilters).some(Boolean) ? 'yes' : undefined
  const exported = { action: 'exported_invites', filter: { status, assessmentId, tagId, assignedGraderId, searched } } as const
  await runExport(ctx, exported, readBatches(ctx, filter), write)
}

/** Invites that one statement searches for words, so that not every batch searches all invites. */
const SEARCHED_AT_ONCE = 20_000

/** Returns a function that reads the batch after an invite. */
function readBatches(ctx: Context, filter: InviteFilter): (last: ExportedInvite | undefined) => Promise<ExportedInvite[]> {
  const searches = readWords(filter.search).length > 0 || readWords(filter.recipient).length > 0
  if (searches) return searchStretches(ctx, filter)
  return (last) => {
    const matches = selectMatches(ctx, filter, ctx.deps.clock())
    const further = last ? matches.where('invites.id', '>', last.id) : matches
    return readExported(ctx, further.orderBy('invites.id').limit(EXPORTED_AT_ONCE) as Matches)
  }
}

/** Searches each range of ids once, and keeps the remaining ids of one range in memory. */
function searchStretches(ctx: Context, filter: InviteFilter): () => Promise<ExportedInvite[]> {
  const found: string[] = []
  let from: string | undefined
  let isOver = false
  const searchNext = async () => {
    const until = await findStretchEnd(ctx, from)
    found.push(...(await findMatches(ctx, filter, { after: from, until })))
    from = until
    isOver = until === undefined
  }
  return async () => {
    const batch: ExportedInvite[] = []
    while (batch.length < EXPORTED_AT_ONCE) {
      if (found.length > 0) {
        const ids = found.splice(0, EXPORTED_AT_ONCE - batch.length)
        const stillMatching = selectMatches(ctx, filter, ctx.deps.clock()).where('invites.id', '=', anyOfIds(ids))
        batch.push(...(await readExported(ctx, stillMatching as Matches)))
      } else if (isOver) break
      else await searchNext()
    }
    return batch
  }
}

/** The last invite of the stretch to search next; undefined where that goes to the end. */
async function findStretchEnd(ctx: Context, after: string | undefined): Promise<string | undefined> {
  const further = after === undefined ? ctx.db.selectFrom('invites') : ctx.db.selectFrom('invites').where('id', '>', after)
  const end = further
    .select('id')
    .orderBy('id')
    .offset(SEARCHED_AT_ONCE - 1)
    .limit(1)
  return (await end.executeTakeFirst())?.id
}

type Stretch = { after: string | undefined; until: string | undefined }

/** The ids of a stretch's matches, in their order. */
async function findMatches(ctx: Context, filter: InviteFilter, { after, until }: Stretch): Promise<string[]> {
  let matches = selectMatches(ctx, filter, ctx.deps.clock())
  if (after !== undefined) matches = matches.where('invites.id', '>', after)
  if (until !== undefined) matches = matches.where('invites.id', '<=', until)
  return (await matches.clearSelect().select('invites.id').orderBy('invites.id').execute()).map(({ id }) => id)
}

/**
 * Reads the exported columns of matches. Joining the matches to invites again reads each twice when PostgreSQL underestimates
 * their number.
 */
const readExported = (ctx: Context, matches: Matches): Promise<ExportedInvite[]> =>
  project(ctx.db, matches.clearSelect() as unknown as Rows<'invites'>, 'invites', (invites) =>
    toExportedInvite(ctx, invites),
  ).execute()

const newestResult = (eb: Expressions<'invites'>, db: TenantDb) =>
  eb
    .selectFrom(db.table('submissions'))
    .innerJoin(db.table('releases'), 'releases.submissionId', 'submissions.id')
    .whereRef('submissions.inviteId', '=', 'invites.id')
    .select(['releases.points', 'releases.ofPoints'])
    .orderBy('submissions.releasedAt', 'desc')
    .orderBy('releases.version', 'desc')
    .limit(eb.lit(1))
    .as('result')

const toExportedInvite = (ctx: Context, invites: Rows<'invites'>): Rows<'invites', ExportedInvite> =>
  invites
    .innerJoin(ctx.db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    .leftJoin(ctx.db.table('members as grader'), 'grader.id', 'invites.assignedGraderId')
    .leftJoin(ctx.db.table('members as creator'), 'creator.id', 'invites.createdById')
    .leftJoinLateral(
      (eb) => newestResult(eb, ctx.db),
      (join) => join.on(({ lit }) => lit(may(ctx, 'read'))),
    )
    .select(columns)
    .select(['result.points', 'result.ofPoints'])
    .select(['assessments.name as assessment'])
    .select(({ ref }) => [
      addressOrFormer({ email: ref('grader.email'), erasedAt: ref('grader.erasedAt') }, FORMER_GRADER).as('grader'),
      addressOrFormer({ email: ref('creator.email'), erasedAt: ref('creator.erasedAt') }, FORMER_MEMBER).as('createdBy'),
    ])
    .select((eb) => [
      statusNow(eb, ctx.deps.clock()).as('status'),
      listOf(
        eb
          .selectFrom(ctx.db.table('inviteTags'))
          .innerJoin(ctx.db.table('tags'), 'tags.id', 'inviteTags.tagId')
          .select('tags.name')
          .whereRef('inviteTags.inviteId', '=', 'invites.id')
          .orderBy('inviteTags.position'),
      ).as('tags'),
    ])
    .orderBy('invites.id')
