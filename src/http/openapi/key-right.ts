import type { FastifyRequest } from 'fastify'
import type { KeyRight } from '../../domain/authorization/permissions.ts'
import { type FailureKind, HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** What only keys may that were given the right to it, see domain/authorization/permissions.ts. */
    keyRight?: KeyRight
  }
}

/** What a key without the right is told, whatever it has asked for. */
export const REFUSED_WITHOUT = { manage: 'manage_required' } as const satisfies Record<KeyRight, FailureKind>

/** @throws HttpError manage_required: the key has not been given the right to the operation. */
export function refuseWithoutRight({ ctx, routeOptions }: FastifyRequest): void {
  const right = routeOptions.schema?.keyRight
  if (right && !(ctx.actor.kind === 'apiKey' && ctx.actor.rights?.includes(right))) throw new HttpError(REFUSED_WITHOUT[right])
}
