import type { FastifyReply } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Context, Tier } from '../domain/context.ts'
import { HttpError } from './failure.ts'

/** v1.md, Limits: a fixed window of a minute that opens with the organization's first request. */
const WINDOW_SECONDS = 60

/** Requests an organization may make a minute, by its tier. */
export type RateLimits = Record<Tier, number>

/** Counts a request of the organization and sets the `RateLimit-*` headers. */
export type RateLimiter = (ctx: Context, reply: FastifyReply) => Promise<void>

/** One count for all keys of an organization and for both interfaces. @throws HttpError rate_limited, from the limiter returned. */
export function createRateLimiter(limits: RateLimits): RateLimiter {
  const limiters = {
    standard: new RateLimiterMemory({ points: limits.standard, duration: WINDOW_SECONDS, keyPrefix: 'standard' }),
    enterprise: new RateLimiterMemory({ points: limits.enterprise, duration: WINDOW_SECONDS, keyPrefix: 'enterprise' }),
  }
  return async ({ organization }, reply) => {
    const result = await limiters[organization.tier].consume(organization.id).catch((rejection) => {
      if (rejection instanceof RateLimiterRes) return rejection
      throw rejection
    })
    const seconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000))
    reply.headers({
      'ratelimit-limit': limits[organization.tier],
      'ratelimit-remaining': result.remainingPoints,
      'ratelimit-reset': seconds,
    })
    if (result.consumedPoints > limits[organization.tier]) throw new HttpError('rate_limited', { retryAfter: seconds })
  }
}
