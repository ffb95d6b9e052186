import type { FastifyRequest } from 'fastify'
import type { KeyScope } from '../../domain/authorization/permissions.ts'
import { HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Scope that a restricted key needs. Required for documented operations. */
    scope?: KeyScope
    /** True if an unrestricted key, which has no scopes, is refused as well. */
    isScopeNeeded?: boolean
  }
}

/** @throws HttpError insufficient_scope. */
export function refuseWithoutScope({ ctx, routeOptions }: FastifyRequest): void {
  const { scope, isScopeNeeded = false } = routeOptions.schema ?? {}
  const { actor } = ctx
  if (!scope || actor.kind !== 'apiKey' || actor.scopes?.includes(scope)) return
  if (!actor.scopes?.length && !isScopeNeeded) return
  throw new HttpError('insufficient_scope', { detail: scope })
}
