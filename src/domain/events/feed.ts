import { sql } from '../../db/builder.ts'
import {
  anyOfIds,
  type Expression,
  type Expressions,
  prepareScoped,
  type RawBuilder,
  type Selectable,
  type Tables,
} from '../../db/queries.ts'
import { scopeOf, type TenantDb } from '../../db/tenant-db.ts'
import { unscoped } from '../../db/unscoped.ts'
import { uuid } from '../../db/writes.ts'
import { KEY_MODES } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, KeyMode, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import {
  type EventActor,
  type EventPayload,
  type EventType,
  TEST_EVENT,
  type TestEventPayload,
  type TestedType,
} from './event.ts'

/** Events of live invites, test invites, or both, within the reader's scope. */
export const EVENT_MODES = ['live', 'test', 'all'] as const
export type EventFilter = { types?: EventType[]; inviteId?: string; mode?: (typeof EVENT_MODES)[number] }

type EventOfType<Type, Data> = {
  id: string
  type: Type
  position: number
  createdAt: Date
  actor: { type: EventActor; id: string | null }
  data: Data
}
/** An event as readers see it. */
export type FeedEvent = EventOfType<EventType, EventPayload>
/** An event as webhooks deliver it. */
export type WebhookEvent = EventOfType<TestedType, EventPayload | TestEventPayload> & { isTest: boolean }

/** An event of one invite, which may not be in the feed yet. */
export type InviteEvent = Omit<FeedEvent, 'position'>

/** @param cursor position up to which all events were returned, for the next request; also set without events. */
export type FeedPage = { events: FeedEvent[]; cursor: bigint; hasMore: boolean }

/** Row of `events`. The database has no enum for types and no schema for data. */
type Row = Pick<Selectable<Tables['events']>, 'id' | 'type' | 'createdAt' | 'actorType' | 'actorId' | 'data'> & {
  position: string | null
}
const columns = [
  'events.id',
  'events.type',
  'events.position',
  'events.createdAt',
  'events.actorType',
  'events.actorId',
  'events.data',
] as const

/**
 * Events after the cursor, oldest first; without a cursor from the oldest retained one. The returned cursor is the end of the feed, also if
 * the last events are another organization's, so that cursors of quiet organizations don't expire.
 *
 * @throws DomainError cursor_gone if events after it were deleted, or the database was restored to an earlier state.
 */
export async function readEvents(
  ctx: Context,
  filter: EventFilter,
  { cursor, limit }: { cursor: bigint | undefined; limit: number },
): Promise<FeedPage> {
  authorize(ctx, 'read')
  const { types, inviteId, mode: askedMode = 'all' } = filter
  const modes = KEY_MODES.filter((mode) => [ctx.mode, askedMode].every((allowed) => allowed === 'all' || allowed === mode))
  // One statement, so that the events and the end of the feed are of the same instant. The extra event tells whether there are more.
  const found = await pageOf(ctx.db, { cursor, limit: limit + 1, modes, inviteId, types }).execute()
  const { isGone, head } = found[0]!
  if (isGone) throw refuseCursor(cursor, head)
  const rows = found.flatMap((row) => (row.id === null ? [] : [row]))
  const hasMore = rows.length > limit
  const events = rows.slice(0, limit).map(toEvent<EventType, EventPayload>)
  return { events, cursor: BigInt(hasMore ? events.at(-1)!.position : head), hasMore }
}

/** @throws DomainError cursor_gone, as the feed does. */
export async function checkCursor({ db, organization }: Pick<Context, 'db' | 'organization'>, cursor: bigint): Promise<void> {
  const { isGone, head } = await unscoped(db)
    .selectFrom('eventSequence')
    .select((eb) => [isCursorGone(eb, cursor, organization.id).as('isGone'), 'position as head'])
    .executeTakeFirstOrThrow()
  if (isGone) throw refuseCursor(cursor, head)
}

/** @param head how far the feed goes. */
const refuseCursor = (cursor: bigint | undefined, head: bigint | string): DomainError =>
  new DomainError(
    'cursor_gone',
    cursor !== undefined && cursor > BigInt(head) ? { issues: [{ field: 'cursor', rule: 'ahead' }] } : {},
  )

/** A cursor is also gone if it is of the installation that the organization was imported from. */
function isCursorGone(eb: Expressions<'eventSequence'>, cursor: bigint, organizationId: string) {
  const position = toPosition(cursor)
  const gaps = unscoped()
    .selectFrom('missingEventPositions')
    .where('missingEventPositions.after', '<', position)
    .where('missingEventPositions.until', '>', position)
  const isForeign = unscoped()
    .selectFrom('organizations')
    .where('organizations.id', '=', uuid(organizationId))
    .where('organizations.feedBeginsAt', '>', position)
  const isKept = eb.between(position, eb.ref('eventSequence.deletedUpTo'), eb.ref('eventSequence.position'))
  return eb.or([eb.not(isKept), eb.exists(gaps), eb.exists(isForeign)])
}

const toPosition = (position: bigint): RawBuilder<string> => sql`${position}::bigint`

/** Events with a position, in no particular order. */
export async function findEvents({ db }: Pick<ServiceContext, 'db'>, ids: string[]): Promise<WebhookEvent[]> {
  const found = unscoped(db)
    .selectFrom('events')
    .select([...columns, 'events.testedType'])
    .where('id', '=', anyOfIds(ids))
    .where('position', 'is not', null)
  return (await found.execute()).map(({ testedType, ...row }) => ({
    ...toEvent<TestedType, WebhookEvent['data']>({ ...row, type: testedType ?? row.type }),
    isTest: row.type === TEST_EVENT,
  }))
}

/** Last events of the invites, newest first. Includes events without a position, so that members see their own action at once. */
export async function findInviteEvents(ctx: Context, inviteIds: readonly string[], limit: number): Promise<InviteEvent[]> {
  const eventsOfInvites = ctx.db
    .selectFrom('events')
    .where('inviteId', '=', anyOfIds(inviteIds))
    .select([...columns, 'sequence'])
  // Two queries, because events with a position and events without one have separate indexes.
  const numbered = eventsOfInvites.where('position', 'is not', null)
  const newest = numbered
    .unionAll(eventsOfInvites.where('position', 'is', null))
    .orderBy('sequence', 'desc')
    .limit(limit)
  return (await newest.execute()).map(toEvent<EventType, EventPayload>).reverse()
}

/** An event as the feed and webhooks show it. */
export const toEventJson = <Type, Data>({ id, type, position, createdAt, actor, data }: EventOfType<Type, Data>) => ({
  id,
  type,
  position,
  createdAt: createdAt.toISOString(),
  actor,
  data,
})

/**
 * Events after the cursor, or after the deleted ones, with the end of the feed. Without events there is one row without an event. Each mode
 * and type has its own range in an index.
 */
const pageOf = prepareScoped((db, { cursor, limit, ...filter }: FeedSelection & { cursor: bigint | undefined; limit: number }) =>
  unscoped()
    .selectFrom('eventSequence')
    .leftJoinLateral(
      (eb) => {
        const after = cursor === undefined ? eb.ref('eventSequence.deletedUpTo') : toPosition(cursor)
        return eventsAfter(db, filter, { after, limit }).as('page')
      },
      (join) => join.onTrue(),
    )
    .select((eb) => [
      (cursor === undefined ? eb.lit(false) : isCursorGone(eb, cursor, scopeOf(db).organization.id)).as('isGone'),
      'eventSequence.position as head',
      ...(['page.id', 'page.type', 'page.position', 'page.createdAt', 'page.actorType', 'page.actorId', 'page.data'] as const),
    ])
    .$narrowType<{ id: null } | Row>()
    .orderBy('page.position'),
)

/** Filter. An invite has few events; a mode or type may have any number. */
type FeedSelection = { modes: readonly KeyMode[]; types: EventType[] | undefined; inviteId: string | undefined }

function eventsAfter(
  db: TenantDb,
  { modes, types, inviteId }: FeedSelection,
  place: { after: Expression<string>; limit: number },
) {
  const anyMode = sql<KeyMode>`any(${modes}::key_mode[])`
  if (inviteId !== undefined) {
    const eventsOfInvites = eventsWithKey(db, { 'events.inviteId': sql`${inviteId}::uuid` }, place).where(
      'events.mode',
      '=',
      anyMode,
    )
    return types === undefined ? eventsOfInvites : eventsOfInvites.where('events.type', '=', sql<string>`any(${types})`)
  }
  const chosenMode = sql<{ chosenMode: KeyMode }>`unnest(${modes}::key_mode[])`.as('chosenMode')
  const ofModes = unscoped().selectFrom(chosenMode)
  const picked = ['its.id', 'its.type', 'its.position', 'its.createdAt', 'its.actorType', 'its.actorId', 'its.data'] as const
  if (types === undefined) {
    return ofModes
      .crossJoinLateral((eb) => eventsWithKey(db, { 'events.mode': eb.ref('chosenMode.chosenMode') }, place).as('its'))
      .select(picked)
      .orderBy('its.position')
      .limit(place.limit)
  }
  const chosenType = sql<{ chosenType: string }>`unnest(${types}::text[])`.as('chosenType')
  return ofModes
    .crossJoin(chosenType)
    .crossJoinLateral((eb) => {
      const key = { 'events.mode': eb.ref('chosenMode.chosenMode'), 'events.type': eb.ref('chosenType.chosenType') }
      return eventsWithKey(db, key, place).as('its')
    })
    .select(picked)
    .orderBy('its.position')
    .limit(place.limit)
}

type Key = { [Column in 'events.inviteId' | 'events.mode' | 'events.type']?: Expression<unknown> }

/**
 * Events after a position whose key has these values. Every condition, including the organization, is written as an index range. With
 * equalities PostgreSQL would choose to scan all organizations' positions, or all events of this one, where it expects many matches.
 */
function eventsWithKey(db: TenantDb, key: Key, { after, limit }: { after: Expression<string>; limit: number }) {
  const keyColumns = ['events.organizationId' as const, ...(Object.keys(key) as (keyof Key)[])]
  const values = [uuid(scopeOf(db).organization.id), ...Object.values(key)]
  const events = unscoped()
    .selectFrom('events')
    .select(columns)
    .where(({ ref }) => {
      const eventsOfInvites = keyColumns.map((column) => ref(column))
      const isBehind = sql`(${sql.join([...eventsOfInvites, ref('events.position')])}) > (${sql.join([...values, after])})`
      return sql<boolean>`${isBehind} and (${sql.join(eventsOfInvites)}) <= (${sql.join(values)})`
    })
    .where('events.position', 'is not', null)
    .where('events.type', '<>', TEST_EVENT)
  const inOrder = keyColumns.reduce((query, column) => query.orderBy(column), events)
  return inOrder.orderBy('events.position').limit(limit)
}

const toEvent = <Type, Data>({ actorType, actorId, ...row }: Row): EventOfType<Type, Data> => ({
  id: row.id,
  type: row.type as Type,
  position: Number(row.position),
  createdAt: row.createdAt,
  actor: { type: actorType as EventActor, id: actorId },
  data: row.data as Data,
})
