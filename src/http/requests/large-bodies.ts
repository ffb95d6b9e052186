import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createConcurrencyLimiter } from '../limits/concurrency-limiter.ts'
import { type BodyReader, createBodyReader } from './body-reader.ts'

/** Memory limit in bytes for the large bodies of all organizations. Processing a body takes several times its size. */
const LARGE_BUDGET = 96 * 1024 * 1024
/** Bodies above this size are large. Forms without files stay below it. Their budget is separate, so that uploads can't block them. */
const SMALL_BYTES = 256 * 1024
const SMALL_BUDGET = 32 * 1024 * 1024
/** Large bodies of one organization at a time. */
const LARGE_AT_ONCE = 3

const readLarge = createBodyReader(LARGE_BUDGET)
const readSmall = createBodyReader(SMALL_BUDGET)
const admitLarge = createConcurrencyLimiter(LARGE_AT_ONCE)

/** Limits the memory for large bodies of this scope, such as uploaded files. @returns the reader for its content-type parsers. */
export function limitLargeBodies(app: FastifyInstance): BodyReader {
  app.addHook('preParsing', async (request, reply, payload) => {
    request.bodySource = sourceOf(request, reply)
    if (hasLargeBody(request)) admitLarge(request.bodySource.organization, reply)
    return payload
  })
  return (request, payload) => (hasLargeBody(request) ? readLarge : readSmall)(request, payload)
}

/** True also for a body of unknown length. */
const hasLargeBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > SMALL_BYTES

/** `ctx` is null for a form whose session has ended. The form is saved until its sender signs in. */
function sourceOf({ ctx, ip }: FastifyRequest, { raw }: FastifyReply) {
  const { organization, actor } = (ctx as FastifyRequest['ctx'] | null) ?? {}
  return { organization: organization?.id ?? ip, sender: actor && 'id' in actor ? actor.id : ip, answer: raw }
}
