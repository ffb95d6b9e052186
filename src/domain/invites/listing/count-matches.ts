import { sql } from '../../../db/builder.ts'
import { type Expression, prepareScoped, project, type RawBuilder, type Rows, type SqlBool } from '../../../db/queries.ts'
import { type AsJson, allAsJson, jsonOf } from '../../../db/statements.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import type { Context } from '../../context.ts'
import { limitRows, type Projection, toPageSize } from '../../lists/listing.ts'
import type { Window } from '../../lists/page.ts'
import { earliestExpiry } from '../expiry.ts'
import { INVITE_STATUSES } from '../invites.ts'
import { type CountedFilter, type InviteFilter, type InviteOrder, isCountable } from './invite-filter.ts'

// Counts and pages that read no more rows than they show: an organization may have a million invites. The counters are maintained by
// triggers of the migrations invite_counts and tag_invite_counts, what a tag's invites are ordered by is by one of invite_tags_orders.

/** The fields that the rows of a tag can be ordered by, too. */
const TAGGED: readonly InviteOrder['field'][] = ['sentAt', 'status', 'expiresAt']

/** True if counters and an ordered index exist for the filter. */
export const isCounted = (filter: InviteFilter, { field }: InviteOrder): filter is CountedFilter =>
  isCountable(filter) && (filter.tagId === undefined || (filter.assessmentId === undefined && TAGGED.includes(field)))

/** Total by the counters, and the earliest expiry. */
type Counted = { total: number; next: Date | null }

/** @returns null while an invite is due but not set to expired yet: the counters are then out of date. */
const toCountUnlessDue = ({ deps }: Context, { total, next }: Counted): number | null =>
  next && next <= deps.clock() ? null : total

const prepareCount = prepareScoped((db, filter: FilterWithoutStatuses, statuses: string) =>
  db.selectNoFrom(() => [selectCount(db, filter, readStatuses(statuses)).as('total'), earliestExpiry(db).as('next')]),
)

/** Each set of statuses is a prepared statement with literal statuses. The other filters are parameters. */
type FilterWithoutStatuses = Omit<CountedFilter, 'statuses'>
type Statuses = readonly string[] | undefined
/** All statuses together mean no filter, which needs no lookup by status. */
const writeStatuses = (statuses: Statuses): string => {
  const distinct = new Set(statuses)
  return distinct.size === INVITE_STATUSES.length ? '' : [...distinct].sort().join()
}
const readStatuses = (writtenStatuses: string): Statuses => (writtenStatuses === '' ? undefined : writtenStatuses.split(','))

const isAmong = (status: Expression<unknown>, statuses: readonly string[]) =>
  sql<SqlBool>`${status} in (${sql.join(statuses.map((listed) => sql.lit(listed)))})`

/**
 * The number of invites that match the filter now: the sum of a few counters that a trigger maintains, however many invites there are.
 *
 * @returns null while an invite is due but not set to expired yet: the counters are then out of date.
 */
export const countInvites = async (ctx: Context, { statuses, ...filter }: CountedFilter): Promise<number | null> =>
  toCountUnlessDue(ctx, await prepareCount(ctx.db, filter, writeStatuses(statuses)).executeTakeFirstOrThrow())

function selectCount(db: TenantDb, { assessmentId, status, tagId }: FilterWithoutStatuses, statuses: Statuses) {
  const sum = sql<number>`coalesce(sum(count), 0)::int`.as('total')
  if (assessmentId !== undefined) {
    let ofAssessment = db.selectFrom('assessmentInviteCounts').where('assessmentId', '=', assessmentId).select(sum)
    if (statuses) ofAssessment = ofAssessment.where(({ ref }) => isAmong(ref('status'), statuses))
    return (status === undefined ? ofAssessment : ofAssessment.where('status', '=', status)).$asScalar()
  }
  if (tagId === undefined) {
    let ofAll = db.selectFrom('organizationInviteCounts').select(sum)
    if (statuses) ofAll = ofAll.where(({ ref }) => isAmong(ref('status'), statuses))
    return (status === undefined ? ofAll : ofAll.where('status', '=', status)).$asScalar()
  }
  if (status === undefined && !statuses)
    return db.selectFrom('tagInviteCounts').where('tagId', '=', tagId).select(sum).$asScalar()
  // A tag's invites by status have their own index.
  let tagged = db.selectFrom('inviteTags').where('tagId', '=', tagId)
  if (status !== undefined) tagged = tagged.where('status', '=', status)
  if (statuses) tagged = tagged.where(({ ref }) => isAmong(ref('status'), statuses))
  return tagged.select(sql<number>`count(*)::int`.as('total')).$asScalar()
}

/** Invites that match the filter by stored columns, without the tag. */
function storedInvites(db: TenantDb, { assessmentId, status }: FilterWithoutStatuses, statuses: Statuses): Rows<'invites'> {
  let invites = db.selectFrom('invites')
  if (assessmentId !== undefined) invites = invites.where('invites.assessmentId', '=', assessmentId)
  if (status !== undefined) invites = invites.where('invites.status', '=', status)
  return statuses ? invites.where(({ ref }) => isAmong(ref('invites.status'), statuses)) : invites
}

type Direction = InviteOrder['direction']

/** Orders by the field, then by id. */
const inOrder = <R extends Rows<'invites'>>(invites: R, field: string, direction: Direction): R =>
  invites.orderBy(sql.ref(`invites.${field}`), direction).orderBy('invites.id', direction) as R

/**
 * First matches in this order. For several statuses it merges the first of each, read from an ordered index; for all at once
 * PostgreSQL would read and sort every match.
 *
 * @param most number of matches.
 */
function beginning(
  db: TenantDb,
  filter: FilterWithoutStatuses,
  statuses: Statuses,
  field: string,
  direction: Direction,
  most: RawBuilder<number>,
): Rows<'invites'> {
  if (!statuses) return storedInvites(db, filter, statuses)
  const [first, ...further] = statuses.map((status) => {
    const query = inOrder(storedInvites(db, filter, [status]), field, direction)
      .selectAll()
      .limit(most)
    return db.selectFrom(query.as('invites')).selectAll()
  })
  const union = further.reduce((found, next) => found.unionAll(next), first!)
  return db.selectFrom(union.as('invites')) as unknown as Rows<'invites'>
}

/** The ids of what matches, in order: of the invites themselves, or of the rows of the tag. */
function orderedIds(
  db: TenantDb,
  filter: FilterWithoutStatuses,
  statuses: Statuses,
  field: string,
  direction: Direction,
  most: RawBuilder<number>,
) {
  const { tagId, status } = filter
  if (tagId === undefined)
    return inOrder(beginning(db, filter, statuses, field, direction, most), field, direction).select('invites.id') as Rows<
      never,
      { id: string }
    >
  let tagged = db.selectFrom('inviteTags').where('tagId', '=', tagId)
  if (statuses) tagged = tagged.where(({ ref }) => isAmong(ref('inviteTags.status'), statuses))
  return (status === undefined ? tagged : tagged.where('inviteTags.status', '=', status))
    .select('inviteTags.inviteId as id')
    .orderBy(sql.ref(`inviteTags.${field}`), direction)
    .orderBy('inviteTags.inviteId', direction) as Rows<never, { id: string }>
}

type Sized = FilterWithoutStatuses & { skip?: number | undefined; take?: number | undefined }

/** A page near the beginning, and the counts, by one statement. */
const prepareFirst = (shape: Projection<'invites', unknown>) =>
  prepareScoped(
    (db, params: Sized, field: InviteOrder['field'], direction: Direction, usual: number, writtenStatuses: string) => {
      const statuses = readStatuses(writtenStatuses)
      const size = usual > 0 ? sql`${sql.lit(usual)}` : sql`${params.take}::int`
      const most = params.skip === undefined ? sql<number>`${size}` : sql<number>`(${params.skip}::int + ${size})`
      const ofTag = () =>
        db
          .selectFrom('invites')
          .where('invites.id', '=', anyIn(limitRows(orderedIds(db, params, statuses, field, direction, most), params, usual)))
      const page =
        params.tagId === undefined
          ? limitRows(inOrder(beginning(db, params, statuses, field, direction, most), field, direction), params, usual)
          : inOrder(ofTag(), field, direction)
      return db.selectNoFrom(() => [
        selectCount(db, params, statuses).as('total'),
        earliestExpiry(db).as('next'),
        jsonOf(project(db, page as Rows<'invites'>, 'invites', shape.show)).as('rows'),
      ])
    },
  )
const anyIn = (ids: Expression<{ id: string }>) => sql<string>`any(array(${ids}))`
const prepared = new WeakMap<object, ReturnType<typeof prepareFirst>>()

/** A page near the beginning of the list. @returns null while an invite is due but not set to expired yet. */
export async function readEarlyPage<Row>(
  ctx: Context,
  shape: Projection<'invites', Row>,
  { statuses, ...filter }: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
): Promise<{ rows: AsJson<Row>[]; total: number } | null> {
  const statement = prepared.get(shape) ?? prepareFirst(shape)
  prepared.set(shape, statement)
  const size = toPageSize(take)
  const params = { ...filter, skip: skip === 0 ? undefined : skip, take: size.take }
  const { rows, ...found } = await statement(
    ctx.db,
    params,
    field,
    direction,
    size.usual,
    writeStatuses(statuses),
  ).executeTakeFirstOrThrow()
  const total = toCountUnlessDue(ctx, found)
  return total === null ? null : { rows: rows as AsJson<Row>[], total }
}

/**
 * A page far from the beginning, in the list's order. An index has the ids in that order, so that the skipped rows are not read; in the
 * second half of the list they are counted from the end. The statement counts the rows itself, so that rows added in the meantime do not
 * move the page.
 */
export async function readDistantPage<Row extends { id: string }>(
  ctx: Context,
  shape: Projection<'invites', Row>,
  filter: CountedFilter,
  order: InviteOrder,
  window: Window,
  total: number,
): Promise<AsJson<Row>[]> {
  const ids = await findDistantIds(ctx, filter, order, window, total)
  return readRowsInOrder(ctx, shape, storedInvites(ctx.db, filter, filter.statuses), ids)
}

export async function findDistantIds(
  ctx: Context,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
  total: number,
): Promise<string[]> {
  const fromEnd = skip > total / 2
  const remaining = sql<number>`greatest(0, ${selectCount(ctx.db, filter, filter.statuses)} - ${skip}::int)`
  const most = fromEnd ? remaining : sql<number>`${skip + take}::int`
  const ordered = orderedIds(ctx.db, filter, filter.statuses, field, (direction === 'asc') !== fromEnd ? 'asc' : 'desc', most)
  const page = fromEnd
    ? ordered.offset(sql<number>`greatest(0, ${remaining} - ${take}::int)`).limit(sql<number>`least(${take}::int, ${remaining})`)
    : ordered.offset(skip).limit(take)
  const ids = (await page.execute()).map(({ id }) => id)
  return fromEnd ? ids.reverse() : ids
}

/** Reads rows in the order of the ids; ids without a row are left out. */
export async function readRowsInOrder<Row extends { id: string }>(
  ctx: Context,
  shape: Projection<'invites', Row>,
  invites: Rows<'invites'>,
  ids: string[],
): Promise<AsJson<Row>[]> {
  const found = invites.where('invites.id', '=', sql<string>`any(${ids}::uuid[])`)
  const rows = await allAsJson(ctx.db, project(ctx.db, found, 'invites', shape.show))
  const byId = new Map(rows.map((row) => [row.id as string, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
