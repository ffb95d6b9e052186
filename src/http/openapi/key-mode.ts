import type { FastifyRequest } from 'fastify'
import type { KeyMode } from '../../domain/context.ts'
import { type FailureKind, HttpError } from '../errors/failure.ts'

declare module 'fastify' {
  interface FastifySchema {
    /**
     * The only keys that the operation is for. `live`: it changes what live and test data share (assessments, questions, members) and is
     * beyond the documents; those that are documented are for both. `test`: it is for test data alone.
     */
    keyMode?: KeyMode
  }
}

/** What a key of the other mode is told, whatever it has asked for. */
export const REFUSED_TO_OTHERS = { live: 'live_key_required', test: 'test_key_required' } as const satisfies Record<
  KeyMode,
  FailureKind
>

/** @throws HttpError live_key_required, test_key_required: the operation is not for this key. */
export function refuseOtherKeys({ ctx, routeOptions }: FastifyRequest): void {
  const mode = routeOptions.schema?.keyMode
  if (mode && ctx.mode !== mode) throw new HttpError(REFUSED_TO_OTHERS[mode])
}
