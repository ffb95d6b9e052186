import type { FastifyRequest, FastifySchema } from 'fastify'
import { TEST_KEY_ACCESS } from '../../domain/api-keys/test-keys.ts'
import type { KeyRight, KeyScope } from '../../domain/authorization/permissions.ts'
import type { KeyMode } from '../../domain/context.ts'
import { type FailureKind, HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Scope that a restricted key needs. Required for documented operations. */
    scope?: KeyScope
    /** True if an unrestricted key, which has no scopes, is refused as well. */
    requiresScopedKey?: boolean
    /** Only test keys may call the operation. Operations for live keys only follow from their scope, see TEST_KEY_ACCESS. */
    isForTestKeys?: boolean
    /** True if the operation changes only data of the key's mode, so that test keys may call it regardless of its scope. */
    changesOnlyOwnMode?: boolean
    /** Right that the key needs, see domain/authorization/permissions.ts. */
    keyRight?: KeyRight
  }
}

/** Error by the mode that the operation requires. */
export const WRONG_MODE = { live: 'live_key_required', test: 'test_key_required' } as const satisfies Record<KeyMode, FailureKind>

/** @returns undefined if the operation accepts both modes. */
export function requiredMode({ scope, isForTestKeys, changesOnlyOwnMode }: FastifySchema): KeyMode | undefined {
  if (isForTestKeys) return 'test'
  if (changesOnlyOwnMode) return undefined
  return scope && TEST_KEY_ACCESS[scope] === 'nothing' ? 'live' : undefined
}

/** @throws HttpError live_key_required, test_key_required. */
export function requireMode({ ctx, routeOptions }: FastifyRequest): void {
  const mode = requiredMode(routeOptions.schema ?? {})
  if (mode && ctx.mode !== mode) throw new HttpError(WRONG_MODE[mode])
}

/** @throws HttpError insufficient_scope. */
export function requireScope({ ctx, routeOptions }: FastifyRequest): void {
  const { scope, requiresScopedKey = false } = routeOptions.schema ?? {}
  const { actor } = ctx
  if (!scope || actor.kind !== 'apiKey' || actor.scopes?.includes(scope)) return
  if (!actor.scopes?.length && !requiresScopedKey) return
  throw new HttpError('insufficient_scope', { detail: scope })
}

/** Error by the missing right. */
export const MISSING_RIGHT = { manage: 'manage_required' } as const satisfies Record<KeyRight, FailureKind>

/** @throws HttpError manage_required. */
export function requireRight({ ctx, routeOptions }: FastifyRequest): void {
  const right = routeOptions.schema?.keyRight
  if (right && !(ctx.actor.kind === 'apiKey' && ctx.actor.rights?.includes(right))) throw new HttpError(MISSING_RIGHT[right])
}
