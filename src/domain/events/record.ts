import { queryRows } from '../../db/client.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import type { Actor, ServiceContext } from '../context.ts'
import { tellAfterCommit } from '../transaction.ts'
import type { EmailEvent, EventActor, NewEvent } from './event.ts'

/**
 * Records what happened, in the transaction that makes it happen: the one is there exactly when the other is. Events of an invite are
 * recorded while its row is locked, so that they are in the order of its changes.
 *
 * @param ctx inside the transaction; its actor made them happen.
 */
export async function recordEvents(ctx: ServiceContext, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await ctx.db.$executeRaw(insertionOfEvents(ctx, events))
  tellAfterCommit(ctx)
}

/** SQL: records them, for a statement that makes what they tell of. One whatever their number: createMany takes ten times as long for them. */
export function insertionOfEvents({ actor, deps }: ServiceContext, events: NewEvent[]): Prisma.Sql {
  const actorId = actor.kind === 'apiKey' || actor.kind === 'member' ? actor.id : null
  const rows = events.map((event) => ({ id: deps.newId(), ...event }))
  return Prisma.sql`
    INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, actor_id, data, created_at)
    SELECT id, "organizationId", type, mode, (data->>'inviteId')::uuid, ${actors[actor.kind]}, ${actorId}::uuid, data, ${deps.clock()}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS new(id uuid, "organizationId" uuid, type text, mode key_mode, data jsonb)`
}

/**
 * Changes a mail and records what became of it, in one statement: a transaction of several would cost as much as inviting does. The invite
 * is locked until that is committed, so that the state which the event shows is the one that it has in the feed then.
 *
 * @param ctx outside a transaction.
 * @param change SQL: the UPDATE of the mail. Where it changes none there is no event.
 */
export async function recordEmailEvent({ db, deps }: ServiceContext, change: Prisma.Sql, event: EmailEvent): Promise<void> {
  const { type, reason } = { reason: null, ...event }
  const statement = Prisma.sql`
    WITH email AS (${change} RETURNING id, organization_id, invite_id),
    invite AS (
      SELECT invites.id, invites.organization_id, assessment_id, status, mode, email.id AS email_id
      FROM invites JOIN email ON invites.organization_id = email.organization_id AND invites.id = email.invite_id
      FOR SHARE OF invites
    )
    INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, data, created_at)
    SELECT ${deps.newId()}::uuid, organization_id, ${type}, mode, id, ${'system' satisfies EventActor},
      jsonb_strip_nulls(jsonb_build_object('inviteId', id, 'assessmentId', assessment_id, 'status', status, 'emailId', email_id, 'reason', ${reason}::text)),
      ${deps.clock()}
    FROM invite
    RETURNING id`
  const recorded = await queryRows(db, statement)
  if (recorded.length > 0) deps.events.recorded()
}

/** Whoever runs the service acts for it. */
const actors = {
  apiKey: 'api_key',
  member: 'member',
  candidate: 'candidate',
  operator: 'system',
  system: 'system',
} as const satisfies Record<Actor['kind'], EventActor>
