import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Context, Tier } from '../../domain/context.ts'
import { KEY_REQUESTS } from '../../domain/limits.ts'
import { HttpError } from '../errors/failure.ts'
import { createNetworkLimiter } from './network-limiter.ts'

/** v1.md, Limits: a fixed window of a minute that opens with the organization's first request. */
const WINDOW_SECONDS = 60
/** A hundred times what Redis needs on one's own network, and short enough for a request to wait once. */
const REDIS_ANSWERS_WITHIN_MS = 100

/** Requests an organization may make a minute, by its tier; and those a network may make without a valid key. */
export type RateLimits = Record<Tier, number> & { unknownKeys: number }

export type RateLimiter = {
  /** Counts a request of the organization, and of a key with a limit of its own, and sets the `RateLimit-*` headers. @throws HttpError rate_limited. */
  count: (ctx: Context, reply: FastifyReply) => Promise<void>
  /** Counts a request with an unknown key, by its network: a valid key behind the same address is not refused. @throws HttpError rate_limited. */
  countUnknownKey: (request: FastifyRequest) => void
}

/** How a count stands: the limit, how many requests are left of it, and the seconds until the next window. */
type Count = { limit: number; remaining: number; seconds: number; isOver: boolean }

/**
 * One count for all live keys of an organization and for both interfaces, and one for its test keys: nobody's trials keep out live work.
 * A key with a limit of its own has a count of its own before that: what is beyond it leaves the organization's to other keys. The headers
 * tell of the one of which less is left. Another limiter counts apart, by its name.
 *
 * @param redis counts over all processes; while it is away each process counts its own. undefined: each always does.
 */
export function createRateLimiter(limits: RateLimits, redis: Redis | undefined, name = 'assessments'): RateLimiter {
  const create = (tier: Tier) => createLimiter({ points: limits[tier], keyPrefix: `${name}:${tier}` }, redis)
  const limiters = { standard: create('standard'), enterprise: create('enterprise') }
  // Each key's limit is its own: this one counts only.
  const ofKeys = createLimiter({ points: KEY_REQUESTS.maximum, keyPrefix: `${name}:key` }, redis)
  const consume = async (limiter: Limiter, whose: string, limit: number): Promise<Count> => {
    const counted = limiter.consume(whose).catch((rejection) => {
      if (rejection instanceof RateLimiterRes) return rejection
      throw rejection
    })
    const { consumedPoints, msBeforeNext } = await (redis ? answeredInTime(redis, counted) : counted)
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    return { limit, remaining: Math.max(0, limit - consumedPoints), seconds, isOver: consumedPoints > limit }
  }
  const count: RateLimiter['count'] = async ({ organization, mode, actor }, reply) => {
    const { id, tier } = organization
    const own =
      actor.kind === 'apiKey' && actor.requestsPerMinute ? await consume(ofKeys, actor.id, actor.requestsPerMinute) : undefined
    if (own?.isOver) return refuseOver(own, reply)
    const shared = await consume(limiters[tier], mode === 'test' ? `${id} test` : id, limits[tier])
    refuseOver(!own || shared.isOver || shared.remaining <= own.remaining ? shared : own, reply)
  }
  return { count, countUnknownKey: createNetworkLimiter(limits.unknownKeys) }
}

/** Tells how a count stands. @throws HttpError rate_limited beyond its limit. */
function refuseOver({ limit, remaining, seconds, isOver }: Count, reply: FastifyReply): void {
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': seconds })
  if (isOver) throw new HttpError('rate_limited', { retryAfter: seconds })
}

type Limiter = RateLimiterMemory | RateLimiterRedis

function createLimiter(of: { points: number; keyPrefix: string }, redis: Redis | undefined): Limiter {
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
