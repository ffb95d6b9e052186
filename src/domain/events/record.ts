import type { Actor, ServiceContext } from '../context.ts'
import { tellAfterCommit } from '../transaction.ts'
import type { EventActor, NewEvent } from './event.ts'

/**
 * Records what happened, in the transaction that makes it happen: the one is there exactly when the other is. Events of an invite are
 * recorded while its row is locked, so that they are in the order of its changes.
 *
 * @param ctx inside the transaction; its actor made them happen.
 */
export async function recordEvents(ctx: ServiceContext, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const { db, deps } = ctx
  const actor = actors[ctx.actor.kind]
  const by = { actorType: actor, actorId: ctx.actor.kind === 'apiKey' ? ctx.actor.id : null, createdAt: deps.clock() }
  await db.event.createMany({
    data: events.map(({ type, organizationId, mode, data }) => ({
      id: deps.newId(),
      organizationId,
      type,
      mode,
      inviteId: data.inviteId,
      data,
      ...by,
    })),
  })
  tellAfterCommit(ctx)
}

/** Whoever runs the service acts for it. */
const actors = {
  apiKey: 'api_key',
  candidate: 'candidate',
  operator: 'system',
  system: 'system',
} as const satisfies Record<Actor['kind'], EventActor>
