import type { FastifyRequest, FastifySchema } from 'fastify'
import { TEST_KEY_ACCESS } from '../../domain/api-keys/test-keys.ts'
import type { KeyMode } from '../../domain/context.ts'
import { type FailureKind, HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** The operation is for test keys only. Those for live keys only follow from their scope, see TEST_KEY_ACCESS. */
    isForTestKeys?: boolean
  }
}

/** Error of a key that has the wrong mode, by the mode that the operation needs. */
export const WRONG_MODE = { live: 'live_key_required', test: 'test_key_required' } as const satisfies Record<KeyMode, FailureKind>

/** The mode of key that an operation needs; undefined: either. */
export function requiredMode({ scope, isForTestKeys = false }: FastifySchema): KeyMode | undefined {
  if (isForTestKeys) return 'test'
  return scope && TEST_KEY_ACCESS[scope] === 'nothing' ? 'live' : undefined
}

/** @throws HttpError live_key_required, test_key_required: the key has the wrong mode. */
export function refuseWrongMode({ ctx, routeOptions }: FastifyRequest): void {
  const mode = requiredMode(routeOptions.schema ?? {})
  if (mode && ctx.mode !== mode) throw new HttpError(WRONG_MODE[mode])
}
