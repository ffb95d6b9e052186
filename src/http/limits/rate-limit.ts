import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Context, Tier } from '../../domain/context.ts'
import { HttpError } from '../errors/failure.ts'
import { createUnknownKeyLimiter } from './unknown-keys.ts'

/** v1.md, Limits: a fixed window of a minute that opens with the organization's first request. */
const WINDOW_SECONDS = 60
/** A hundred times what Redis needs on one's own network, and short enough for a request to wait once. */
const REDIS_ANSWERS_WITHIN_MS = 100

/** Requests an organization may make a minute, by its tier; and those a network may make without a valid key. */
export type RateLimits = Record<Tier, number> & { unknownKeys: number }

export type RateLimiter = {
  /** Counts a request of the organization and sets the `RateLimit-*` headers. @throws HttpError rate_limited. */
  count: (ctx: Context, reply: FastifyReply) => Promise<void>
  /** Counts a request with an unknown key. @throws HttpError rate_limited. */
  countUnknownKey: (request: FastifyRequest) => void
}

/**
 * One count for all live keys of an organization and for both interfaces, and one for its test keys: nobody's trials keep out live work.
 * Another limiter counts apart, by its name.
 *
 * @param redis counts over all processes; while it is away each process counts its own. undefined: each always does.
 */
export function createRateLimiter(limits: RateLimits, redis: Redis | undefined, name = 'assessments'): RateLimiter {
  const create = (tier: Tier) => createLimiter({ points: limits[tier], keyPrefix: `${name}:${tier}` }, redis)
  const limiters = { standard: create('standard'), enterprise: create('enterprise') }
  const count: RateLimiter['count'] = async ({ organization, mode }, reply) => {
    const limit = limits[organization.tier]
    const counted = limiters[organization.tier]
      .consume(mode === 'test' ? `${organization.id} test` : organization.id)
      .catch((rejection) => {
        if (rejection instanceof RateLimiterRes) return rejection
        throw rejection
      })
    const result = await (redis ? answeredInTime(redis, counted) : counted)
    const seconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000))
    reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': result.remainingPoints, 'ratelimit-reset': seconds })
    if (result.consumedPoints > limit) throw new HttpError('rate_limited', { retryAfter: seconds })
  }
  return { count, countUnknownKey: createUnknownKeyLimiter(limits.unknownKeys) }
}

function createLimiter(
  of: { points: number; keyPrefix: string },
  redis: Redis | undefined,
): RateLimiterMemory | RateLimiterRedis {
  const options = { ...of, duration: WINDOW_SECONDS }
  const memory = new RateLimiterMemory(options)
  return redis
    ? new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: memory })
    : memory
}

/**
 * Gives up the connection on which Redis leaves a request waiting. Whatever waited on it is counted here, and so is, at once, every
 * request after it, until Redis answers on another: that is tried in the background, at no request's cost.
 */
async function answeredInTime<T>({ stream }: Redis, answer: Promise<T>): Promise<T> {
  let isWaiting = true
  const giveUp = () => {
    if (isWaiting) stream.destroy(new Error(`No answer from Redis within ${REDIS_ANSWERS_WITHIN_MS} ms`))
  }
  // Not before what has arrived is read: where it was this process that was held up, the answer is there.
  const timer = setTimeout(() => setImmediate(giveUp), REDIS_ANSWERS_WITHIN_MS)
  try {
    return await answer
  } finally {
    isWaiting = false
    clearTimeout(timer)
  }
}
