import { sql } from '../../db/builder.ts'
import type { Updates } from '../../db/queries.ts'
import { affectedRows, jsonBuildObject } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { copyColumns, DEFAULT, insertFromSelect, insertRows, type NewRows, timestamp, uuid } from '../../db/writes.ts'
import type { Actor } from '../actor.ts'
import type { ServiceContext } from '../context.ts'
import { notifyAfterCommit } from '../transaction.ts'
import { type EmailEvent, EVENT_COLUMNS, type EventActor, mapInvitePayload, type NewEvent, TEST_EVENT } from './event.ts'

/**
 * Records events in the transaction that makes the changes, so that an event exists exactly if its change does. Events of an invite are
 * recorded while its row is locked, which keeps them in the order of its changes.
 *
 * @param ctx inside the transaction; its actor made the changes.
 */
export async function recordEvents(ctx: ServiceContext, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await insertRows(ctx.db, { events: eventRows(ctx, events) }).execute()
  notifyAfterCommit(ctx)
}

/** Event rows, for the statement that makes the change. */
export function eventRows({ actor: caller, deps }: ServiceContext, events: NewEvent[]): NonNullable<NewRows['events']> {
  const actor = caller.kind === 'member' && caller.viaKey ? { kind: 'apiKey' as const, id: caller.viaKey } : caller
  const actorId = actor.kind === 'apiKey' || actor.kind === 'ats' || actor.kind === 'member' ? actor.id : null
  const createdAt = deps.clock()
  return events.map((event) => {
    const { id = deps.newId(), organizationId, type, testedType, mode, data } = { id: undefined, testedType: null, ...event }
    const inviteId = type !== TEST_EVENT && 'inviteId' in data ? data.inviteId : null
    return { id, organizationId, type, testedType, mode, inviteId, actorType: actors[actor.kind], actorId, data, createdAt }
  })
}

/**
 * Changes a mail and records its outcome in one statement, because a transaction of several would cost as much as an invitation. The invite
 * stays locked until the commit, so that the event shows the state at its place in the feed.
 *
 * @param ctx outside a transaction.
 * @param change update of the mail. If it changes no row, no event is recorded.
 */
export async function recordEmailEvent(
  { db, deps }: ServiceContext,
  change: Updates<'inviteEmails'>,
  event: EmailEvent,
): Promise<void> {
  const { type, ...facts } = event
  const { reason, bounce, bounceStatus } = { reason: null, bounce: null, bounceStatus: null, ...facts }
  const invite = unscoped(db)
    .with('email', () => change.returning(['inviteEmails.id', 'inviteEmails.organizationId', 'inviteEmails.inviteId']))
    .with('invite', (withEmail) =>
      withEmail
        .selectFrom('invites')
        .innerJoin('email', (join) =>
          join.onRef('email.organizationId', '=', 'invites.organizationId').onRef('email.inviteId', '=', 'invites.id'),
        )
        .select(EVENT_COLUMNS)
        .select('email.id as emailId')
        .forShare('invites'),
    )
    .selectFrom('invite')
  const insertion = insertFromSelect(db, 'events', invite, (eb) => ({
    ...copyColumns(eb, 'organizationId', 'mode'),
    id: uuid(deps.newId()),
    type: eb.val(type),
    inviteId: eb.ref('id'),
    actorType: eb.val<string>('system' satisfies EventActor),
    actorId: DEFAULT,
    testedType: DEFAULT,
    data: sql`jsonb_strip_nulls(${jsonBuildObject({
      ...mapInvitePayload((column) => eb.ref(column)),
      emailId: eb.ref('emailId'),
      reason: sql`${reason}::text`,
      bounce: sql`${bounce}::text`,
      bounceStatus: sql`${bounceStatus}::text`,
    })}::jsonb)`,
    createdAt: timestamp(deps.clock()),
    sequence: DEFAULT,
    position: DEFAULT,
  }))
  if ((await affectedRows(insertion)) > 0) deps.events.recorded()
}

/** The operator counts as the system. */
const actors = {
  apiKey: 'api_key',
  ats: 'api_key', // of a kind of its own
  member: 'member',
  candidate: 'candidate',
  visitor: 'candidate',
  operator: 'system',
  system: 'system',
} as const satisfies Record<Actor['kind'], EventActor>
