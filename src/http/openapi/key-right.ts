import type { FastifyRequest } from 'fastify'
import type { KeyRight } from '../../domain/authorization/permissions.ts'
import { type FailureKind, HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Right that the key needs, see domain/authorization/permissions.ts. */
    keyRight?: KeyRight
  }
}

/** Error by the missing right. */
export const REFUSED_WITHOUT = { manage: 'manage_required' } as const satisfies Record<KeyRight, FailureKind>

/** @throws HttpError manage_required. */
export function refuseWithoutRight({ ctx, routeOptions }: FastifyRequest): void {
  const right = routeOptions.schema?.keyRight
  if (right && !(ctx.actor.kind === 'apiKey' && ctx.actor.rights?.includes(right))) throw new HttpError(REFUSED_WITHOUT[right])
}
