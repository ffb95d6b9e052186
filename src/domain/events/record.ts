import { Prisma } from '../../generated/prisma/client.ts'
import type { Actor, ServiceContext } from '../context.ts'
import { tellAfterCommit } from '../transaction.ts'
import type { EventActor, NewEvent } from './event.ts'

/**
 * Records what happened, in the transaction that makes it happen: the one is there exactly when the other is. Events of an invite are
 * recorded while its row is locked, so that they are in the order of its changes.
 *
 * @param ctx inside the transaction; its actor made them happen.
 * @param beside SQL: another insertion, to be made by the same statement. That spares a request most of what an event costs.
 */
export async function recordEvents(ctx: ServiceContext, events: NewEvent[], beside?: Prisma.Sql): Promise<void> {
  if (events.length === 0) return
  const { actor, db, deps } = ctx
  const actorId = actor.kind === 'apiKey' || actor.kind === 'member' ? actor.id : null
  const rows = events.map((event) => ({ id: deps.newId(), ...event }))
  // One statement whatever their number, which Prisma's createMany takes ten times as long for.
  await db.$executeRaw`
    ${beside === undefined ? Prisma.empty : Prisma.sql`WITH beside AS (${beside})`}
    INSERT INTO events (id, organization_id, type, mode, invite_id, actor_type, actor_id, data, created_at)
    SELECT id, "organizationId", type, mode, (data->>'inviteId')::uuid, ${actors[actor.kind]}, ${actorId}::uuid, data, ${deps.clock()}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS new(id uuid, "organizationId" uuid, type text, mode key_mode, data jsonb)`
  tellAfterCommit(ctx)
}

/** Whoever runs the service acts for it. */
const actors = {
  apiKey: 'api_key',
  member: 'member',
  candidate: 'candidate',
  operator: 'system',
  system: 'system',
} as const satisfies Record<Actor['kind'], EventActor>
