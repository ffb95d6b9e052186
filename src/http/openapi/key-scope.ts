import type { FastifyRequest } from 'fastify'
import type { KeyScope } from '../../domain/authorization/permissions.ts'
import { HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** What a key that is restricted to scopes has to have of them; each documented operation says it. */
    scope?: KeyScope
    /** Whether a key without scopes may not do it either. */
    isScopeNeeded?: boolean
  }
}

/** @throws HttpError insufficient_scope: the key is restricted to others, which it is told whatever it has asked for. */
export function refuseWithoutScope({ ctx, routeOptions }: FastifyRequest): void {
  const { scope, isScopeNeeded = false } = routeOptions.schema ?? {}
  const { actor } = ctx
  if (!scope || actor.kind !== 'apiKey' || actor.scopes?.includes(scope)) return
  if (!actor.scopes?.length && !isScopeNeeded) return
  throw new HttpError('insufficient_scope', { detail: scope })
}
