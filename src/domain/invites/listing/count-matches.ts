import { sql } from '../../../db/builder.ts'
import { compose, type Expression, ofThese, own, prepareOwn, type Rows, type Sight } from '../../../db/own.ts'
import { type AsJson, all, allAsJson, jsonOf, one } from '../../../db/statements.ts'
import type { Context } from '../../context.ts'
import { limited, type Shape, sizeOf } from '../../lists/listing.ts'
import type { Window } from '../../lists/page.ts'
import { earliestExpiry } from '../expiry.ts'
import { type CountedFilter, type InviteFilter, type InviteOrder, isCountable } from './filter.ts'

// Counts and pages that read no more rows than they show: an organization may have a million invites. The counters are maintained by
// triggers of the migrations invite_counts and tag_invite_counts, what a tag's invites are ordered by is by one of invite_tags_orders.

/** The fields that the rows of a tag can be ordered by, too. */
const TAGGED: readonly InviteOrder['field'][] = ['sentAt', 'status', 'expiresAt']

/** Whether there are kept counts and an order for all of the filter. */
export const isCounted = (filter: InviteFilter, { field }: InviteOrder): filter is CountedFilter =>
  isCountable(filter) && (filter.tagId === undefined || (filter.assessmentId === undefined && TAGGED.includes(field)))

/** What the counters say, and the earliest expiry. */
type Counted = { total: number; next: Date | null }

/** @returns null while an invite is due but not set to expired yet: the counters are then out of date. */
const totalAt = ({ deps }: Context, { total, next }: Counted): number | null => (next && next <= deps.clock() ? null : total)

const counts = prepareOwn((sight, filter: CountedFilter) =>
  compose.selectNoFrom(() => [counted(sight, filter).as('total'), earliestExpiry(sight).as('next')]),
)

/**
 * The number of invites that match the filter now: the sum of a few counters that a trigger maintains, however many invites there are.
 *
 * @returns null while an invite is due but not set to expired yet: the counters are then out of date.
 */
export const countInvites = async (ctx: Context, filter: CountedFilter): Promise<number | null> =>
  totalAt(ctx, await one(ctx.db, counts(ctx, filter)))

function counted(sight: Sight, { assessmentId, status, tagId }: CountedFilter) {
  const sum = sql<number>`coalesce(sum(count), 0)::int`.as('total')
  if (assessmentId !== undefined) {
    const ofAssessment = own(sight, 'assessmentInviteCounts').where('assessmentId', '=', assessmentId).select(sum)
    return (status === undefined ? ofAssessment : ofAssessment.where('status', '=', status)).$asScalar()
  }
  if (tagId === undefined) {
    const ofAll = own(sight, 'organizationInviteCounts').select(sum)
    return (status === undefined ? ofAll : ofAll.where('status', '=', status)).$asScalar()
  }
  if (status === undefined) return own(sight, 'tagInviteCounts').where('tagId', '=', tagId).select(sum).$asScalar()
  // Of one state they are counted, by an index of these alone.
  const tagged = own(sight, 'inviteTags').where('tagId', '=', tagId).where('status', '=', status)
  return tagged.select(sql<number>`count(*)::int`.as('total')).$asScalar()
}

/** The organization's invites that match the filter by what is stored, but for the tag. */
function storedInvites(sight: Sight, { assessmentId, status }: CountedFilter): Rows<'invites'> {
  let invites = own(sight, 'invites')
  if (assessmentId !== undefined) invites = invites.where('invites.assessmentId', '=', assessmentId)
  if (status !== undefined) invites = invites.where('invites.status', '=', status)
  return invites
}

type Direction = InviteOrder['direction']

/** The ids of what matches, in order: of the invites themselves, or of the rows of the tag. */
function orderedIds(sight: Sight, filter: CountedFilter, field: string, direction: Direction) {
  const { tagId, status } = filter
  if (tagId === undefined)
    return storedInvites(sight, filter)
      .select('invites.id as id')
      .orderBy(sql.ref(`invites.${field}`), direction)
      .orderBy('invites.id', direction) as Rows<never, { id: string }>
  const tagged = own(sight, 'inviteTags').where('tagId', '=', tagId)
  return (status === undefined ? tagged : tagged.where('inviteTags.status', '=', status))
    .select('inviteTags.inviteId as id')
    .orderBy(sql.ref(`inviteTags.${field}`), direction)
    .orderBy('inviteTags.inviteId', direction) as Rows<never, { id: string }>
}

type Sized = CountedFilter & { skip?: number | undefined; take?: number | undefined }

/** A page near the beginning, and the counts, by one statement. */
const prepareFirst = (shape: Shape<'invites', unknown>) =>
  prepareOwn((sight, given: Sized, field: InviteOrder['field'], direction: Direction, usual: number) => {
    const inOrder = (invites: Rows<'invites'>) => invites.orderBy(`invites.${field}`, direction).orderBy('invites.id', direction)
    const cut = <R extends Rows<never>>(rows: R) => limited(rows, given, usual)
    const ofTag = () => own(sight, 'invites').where('invites.id', '=', anyIn(cut(orderedIds(sight, given, field, direction))))
    const page = given.tagId === undefined ? cut(inOrder(storedInvites(sight, given)) as never) : inOrder(ofTag())
    return compose.selectNoFrom(() => [
      counted(sight, given).as('total'),
      earliestExpiry(sight).as('next'),
      jsonOf(ofThese(sight, page as Rows<'invites'>, 'invites', shape.show)).as('rows'),
    ])
  })
const anyIn = (ids: Expression<{ id: string }>) => sql<string>`any(array(${ids}))`
const prepared = new WeakMap<object, ReturnType<typeof prepareFirst>>()

/** A page near the beginning of the list. @returns null while an invite is due but not set to expired yet. */
export async function readFirst<Row>(
  ctx: Context,
  shape: Shape<'invites', Row>,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
): Promise<{ rows: AsJson<Row>[]; total: number } | null> {
  const statement = prepared.get(shape) ?? prepareFirst(shape)
  prepared.set(shape, statement)
  const size = sizeOf(take)
  const given = { ...filter, skip: skip === 0 ? undefined : skip, take: size.take }
  const { rows, ...found } = await one(ctx.db, statement(ctx, given, field, direction, size.usual))
  const total = totalAt(ctx, found)
  return total === null ? null : { rows: rows as AsJson<Row>[], total }
}

/**
 * A page far from the beginning, in the list's order. An index has the ids in that order, so that the skipped rows are not read; in the
 * second half of the list they are counted from the end. The statement counts the rows itself, so that rows added in the meantime do not
 * move the page.
 */
export async function readDistant<Row extends { id: string }>(
  ctx: Context,
  shape: Shape<'invites', Row>,
  filter: CountedFilter,
  order: InviteOrder,
  window: Window,
  total: number,
): Promise<AsJson<Row>[]> {
  const ids = await findDistantIds(ctx, filter, order, window, total)
  return readInOrder(ctx, shape, storedInvites(ctx, filter), ids)
}

export async function findDistantIds(
  ctx: Context,
  filter: CountedFilter,
  { field, direction }: InviteOrder,
  { skip, take }: Window,
  total: number,
): Promise<string[]> {
  const fromEnd = skip > total / 2
  const ordered = orderedIds(ctx, filter, field, (direction === 'asc') !== fromEnd ? 'asc' : 'desc')
  const left = sql`(${counted(ctx, filter)} - ${skip}::int)`
  const page = fromEnd
    ? ordered
        .offset(sql<number>`greatest(0, ${left} - ${take}::int)`)
        .limit(sql<number>`least(${take}::int, greatest(0, ${left}))`)
    : ordered.offset(skip).limit(take)
  const ids = (await all(ctx.db, page)).map(({ id }) => id)
  return fromEnd ? ids.reverse() : ids
}

/** What is shown of these of the invites, in the order of the ids; ids of none are left out. */
export async function readInOrder<Row extends { id: string }>(
  ctx: Context,
  shape: Shape<'invites', Row>,
  invites: Rows<'invites'>,
  ids: string[],
): Promise<AsJson<Row>[]> {
  const found = invites.where('invites.id', '=', sql<string>`any(${ids}::uuid[])`)
  const rows = await allAsJson(ctx.db, ofThese(ctx, found, 'invites', shape.show))
  const byId = new Map(rows.map((row) => [row.id as string, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
