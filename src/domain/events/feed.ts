import { queryRows } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type EventActor, type EventType, TEST_EVENT, type TestData, type ToldData } from './event.ts'

/** Whose events: of live invites, of test invites, or of both. */
export const EVENT_MODES = ['live', 'test', 'all'] as const
export type EventFilter = { types?: EventType[]; inviteId?: string; mode: (typeof EVENT_MODES)[number] }

type Told<Type, Data> = {
  id: string
  type: Type
  position: number
  createdAt: Date
  actor: { type: EventActor; id: string | null }
  data: Data
}
/** An event as readers see it. */
export type FeedEvent = Told<EventType, ToldData>
/** An event as webhooks are told of it. */
export type ToldEvent = Told<EventType | typeof TEST_EVENT, ToldData | TestData>

/** An event of one invite, which may not be in the feed yet. */
export type InviteEvent = Omit<FeedEvent, 'position'>

/** @param cursor stands for all events up to this position: to be passed on by the next request, also when there were no events. */
export type FeedPage = { events: FeedEvent[]; cursor: bigint; hasMore: boolean }

type RowOf<Type, Data> = Pick<Told<Type, Data>, 'id' | 'type' | 'createdAt' | 'data'> & {
  position: bigint
  actorType: EventActor
  actorId: string | null
}
type Row = RowOf<EventType, ToldData>
/** As it comes straight from pg. */
type PlainRowOf<Type, Data> = Omit<RowOf<Type, Data>, 'position'> & { position: string }
/** There is a row without an event when there are none. */
type Found = { isGone: boolean; head: bigint } & (Row | { id: null })

/**
 * The events of the organization behind the cursor, oldest first; without a cursor from the oldest that is kept. The cursor of an answer
 * goes as far as the feed does, whoever's events are there: that of a quiet organization does not grow old.
 *
 * @throws DomainError cursor_gone when events behind it have been deleted, or the database has been restored and those before it are lost.
 */
export async function readEvents(
  ctx: Context,
  filter: EventFilter,
  { cursor, limit }: { cursor: bigint | undefined; limit: number },
): Promise<FeedPage> {
  authorize(ctx, 'read')
  const after = cursor === undefined ? Prisma.sql`pruned` : Prisma.sql`${cursor}::bigint`
  // One statement, so that the events and how far they go are of the same instant. One more event tells whether there are more.
  const found = await ctx.db.$queryRaw<[Found, ...Found[]]>`
    SELECT ${cursor === undefined ? Prisma.sql`false` : isCursorGone(cursor)} AS "isGone", event_numbering.position AS head, page.*
    FROM event_numbering LEFT JOIN LATERAL (${select(ctx, filter, after, limit + 1)}) page ON true
    ORDER BY page.position`
  const [{ isGone, head }] = found
  if (isGone) throw new DomainError('cursor_gone')
  const rows = found.flatMap((row) => (row.id === null ? [] : [row]))
  const events = rows.slice(0, limit)
  const hasMore = rows.length > limit
  return { events: events.map(toEvent), cursor: hasMore ? events.at(-1)!.position : head, hasMore }
}

/** @throws DomainError cursor_gone, as the feed does. */
export async function checkCursor({ db }: Pick<ServiceContext, 'db'>, cursor: bigint): Promise<void> {
  const [{ isGone }] = await db.$queryRaw<[{ isGone: boolean }]>`SELECT ${isCursorGone(cursor)} AS "isGone" FROM event_numbering`
  if (isGone) throw new DomainError('cursor_gone')
}

/** SQL, of the row of event_numbering. */
const isCursorGone = (cursor: bigint): Prisma.Sql => Prisma.sql`
  (${cursor}::bigint NOT BETWEEN pruned AND event_numbering.position
    OR EXISTS (SELECT FROM event_gaps WHERE ${cursor}::bigint > event_gaps.after AND ${cursor}::bigint < event_gaps.until))`

/** Those of these events that have a position, in no particular order. */
export async function findEvents({ db }: Pick<ServiceContext, 'db'>, ids: string[]): Promise<ToldEvent[]> {
  const statement = Prisma.sql`SELECT ${columns} FROM events WHERE id = ANY(${ids}::uuid[]) AND position IS NOT NULL`
  return (await queryRows<PlainRowOf<ToldEvent['type'], ToldEvent['data']>>(db, statement)).map(toEvent)
}

/**
 * The last events of an invite that the caller may see, the newest last: also those that have no position yet, so that whoever has just
 * done something finds it.
 */
export async function findInviteEvents({ db, organization }: Context, inviteId: string, limit: number): Promise<InviteEvent[]> {
  const its = Prisma.sql`
    SELECT ${columns}, sequence FROM events WHERE organization_id = ${organization.id}::uuid AND invite_id = ${inviteId}::uuid`
  // By index each: there are two, of the events with a position and of those without.
  const rows = await db.$queryRaw<Row[]>`
    ${its} AND position IS NOT NULL UNION ALL ${its} AND position IS NULL
    ORDER BY sequence DESC LIMIT ${limit}`
  return rows.map(toEvent).reverse()
}

/** An event as the feed and webhooks show it. */
export const showEvent = <Type, Data>({ id, type, position, createdAt, actor, data }: Told<Type, Data>) => ({
  id,
  type,
  position,
  createdAt: createdAt.toISOString(),
  actor,
  data,
})

/** SQL. */
const columns = Prisma.sql`id, type, position, created_at AS "createdAt", actor_type AS "actorType", actor_id AS "actorId", data`

/**
 * SQL: so many events behind a position. Each mode and type is read from its own place in an index, however many events there are of
 * others.
 */
function select(ctx: Context, { types, inviteId, mode }: EventFilter, after: Prisma.Sql, limit: number): Prisma.Sql {
  const organizationId = Prisma.sql`${ctx.organization.id}::uuid`
  const modes = Prisma.sql`${mode === 'all' ? ['live', 'test'] : [mode]}::key_mode[]`
  if (inviteId !== undefined) {
    const ofTypes = types === undefined ? Prisma.empty : Prisma.sql`AND type = ANY(${types})`
    const filter = Prisma.sql`AND mode = ANY(${modes}) ${ofTypes}`
    return scan(Prisma.sql`organization_id, invite_id`, Prisma.sql`${organizationId}, ${inviteId}::uuid`, {
      after,
      limit,
      filter,
    })
  }
  const first = Prisma.sql`ORDER BY position LIMIT ${limit}`
  if (types === undefined) {
    const events = scan(Prisma.sql`organization_id, mode`, Prisma.sql`${organizationId}, chosen_mode`, { after, limit })
    return Prisma.sql`SELECT e.* FROM unnest(${modes}) chosen_mode, LATERAL (${events}) e ${first}`
  }
  const key = Prisma.sql`organization_id, mode, type`
  const events = scan(key, Prisma.sql`${organizationId}, chosen_mode, chosen_type`, { after, limit })
  return Prisma.sql`
    SELECT e.* FROM unnest(${modes}) chosen_mode, unnest(${types}::text[]) chosen_type, LATERAL (${events}) e ${first}`
}

/**
 * SQL: the events behind a position whose key has these values. Written as a range of an index: of equalities PostgreSQL would make
 * filters, and walk through the positions of all organizations where it takes what is looked for to be frequent.
 */
const scan = (
  key: Prisma.Sql,
  values: Prisma.Sql,
  { after, limit, filter = Prisma.empty }: { after: Prisma.Sql; limit: number; filter?: Prisma.Sql },
): Prisma.Sql => Prisma.sql`
  SELECT ${columns} FROM events
  WHERE (${key}, position) > (${values}, ${after}) AND (${key}) <= (${values}) AND position IS NOT NULL AND type <> ${TEST_EVENT} ${filter}
  ORDER BY ${key}, position LIMIT ${limit}`

const toEvent = <Type, Data>({
  id,
  type,
  position,
  createdAt,
  actorType,
  actorId,
  data,
}: RowOf<Type, Data> | PlainRowOf<Type, Data>): Told<Type, Data> => ({
  id,
  type,
  position: Number(position),
  createdAt,
  actor: { type: actorType, id: actorId },
  data,
})
