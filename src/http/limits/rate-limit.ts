import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Context, Tier } from '../../domain/context.ts'
import { KEY_REQUESTS } from '../../domain/limits.ts'
import { HttpError } from '../errors/failure.ts'
import { createNetworkLimiter } from './network-limiter.ts'

/** docs/contract/v1.md, Limits: a fixed window of one minute that opens with the organization's first request. */
const WINDOW_SECONDS = 60
/** A hundred times what Redis takes in a local network, and short enough to add to one request. */
const REDIS_TIMEOUT_MS = 100

/** Requests per minute: of an organization by its tier, and of a network without a valid key. */
export type RateLimits = Record<Tier, number> & { unknownKeys: number }

export type RateLimiter = {
  /** Counts a request for the organization and for a key that has a limit, and sets the `RateLimit-*` headers. @throws HttpError rate_limited. */
  count: (ctx: Context, reply: FastifyReply) => Promise<void>
  /** Counts a request with an unknown key for its network. Requests with valid keys from the same network are not affected. @throws HttpError rate_limited. */
  countUnknownKey: (request: FastifyRequest) => void
}

/** @property seconds until the next window. */
type Count = { limit: number; remaining: number; seconds: number; isOver: boolean }

/**
 * An organization has one limit for all its live keys on both interfaces, and one for its test keys, so that tests never block live work. A
 * key with a limit is counted first: requests above its limit don't use up the organization's. The headers show the limit with fewer
 * requests remaining.
 *
 * @param redis counts across processes. While Redis is unavailable, or if undefined, each process counts by itself.
 * @param name separates the counts of limiters that share a Redis.
 */
export function createRateLimiter(limits: RateLimits, redis: Redis | undefined, name = 'assessments'): RateLimiter {
  const create = (tier: Tier) => createLimiter({ points: limits[tier], keyPrefix: `${name}:${tier}` }, redis)
  const limiters = { standard: create('standard'), enterprise: create('enterprise') }
  // Only counts: `consume` compares with the limit of each key.
  const keyLimiter = createLimiter({ points: KEY_REQUESTS.maximum, keyPrefix: `${name}:key` }, redis)
  const consume = async (limiter: Limiter, key: string, limit: number): Promise<Count> => {
    const count = limiter.consume(key).catch((rejection) => {
      if (rejection instanceof RateLimiterRes) return rejection
      throw rejection
    })
    const { consumedPoints, msBeforeNext } = await (redis ? withTimeout(redis, count) : count)
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
    return { limit, remaining: Math.max(0, limit - consumedPoints), seconds, isOver: consumedPoints > limit }
  }
  const count: RateLimiter['count'] = async ({ organization, mode, actor }, reply) => {
    const { id, tier } = organization
    const ofKey =
      actor.kind === 'apiKey' && actor.requestsPerMinute
        ? await consume(keyLimiter, actor.id, actor.requestsPerMinute)
        : undefined
    if (ofKey?.isOver) return applyCount(ofKey, reply)
    const shared = await consume(limiters[tier], mode === 'test' ? `${id} test` : id, limits[tier])
    applyCount(!ofKey || shared.isOver || shared.remaining <= ofKey.remaining ? shared : ofKey, reply)
  }
  return { count, countUnknownKey: createNetworkLimiter(limits.unknownKeys) }
}

/** Sets the headers. @throws HttpError rate_limited above the limit. */
function applyCount({ limit, remaining, seconds, isOver }: Count, reply: FastifyReply): void {
  reply.headers({ 'ratelimit-limit': limit, 'ratelimit-remaining': remaining, 'ratelimit-reset': seconds })
  if (isOver) throw new HttpError('rate_limited', { retryAfter: seconds })
}

type Limiter = RateLimiterMemory | RateLimiterRedis

function createLimiter(scope: { points: number; keyPrefix: string }, redis: Redis | undefined): Limiter {
  const options = { ...scope, duration: WINDOW_SECONDS }
  const memory = new RateLimiterMemory(options)
  return redis
    ? new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: memory })
    : memory
}

/**
 * Closes the Redis connection when an answer takes too long. All pending counts then fall back to memory, and so do later requests, without
 * waiting, until the client has reconnected in the background.
 */
async function withTimeout<T>({ stream }: Redis, answer: Promise<T>): Promise<T> {
  let isWaiting = true
  const giveUp = () => {
    if (isWaiting) stream.destroy(new Error(`No answer from Redis within ${REDIS_TIMEOUT_MS} ms`))
  }
  // setImmediate runs after pending input is read: if this process was busy, the answer may have arrived already.
  const timer = setTimeout(() => setImmediate(giveUp), REDIS_TIMEOUT_MS)
  try {
    return await answer
  } finally {
    isWaiting = false
    clearTimeout(timer)
  }
}
