import { once } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'

const REDIS_TIMEOUT_MS = 2_000
const REDIS_RETRY_MS = 3_000

/**
 * Connects to Redis. Requests never wait for it: while it is away, each process counts by itself (http/limits/rate-limit.ts). Only startup waits
 * for the first connection attempt, so that the first requests are counted with the others.
 */
export async function connectRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: REDIS_TIMEOUT_MS,
    // Reconnect if a connection is accepted but never answered.
    socketTimeout: REDIS_TIMEOUT_MS,
    // Reconnect if Redis refuses writes: after a failover the name may point to another server.
    reconnectOnError: ({ message }) => /^(READONLY|OOM|MISCONF|NOPERM)\b/.test(message),
    // Not sooner, or a slow server would be dropped and reconnected many times a second.
    retryStrategy: () => REDIS_RETRY_MS,
  })
  let isAway = false
  let reason: Error | undefined // undefined if Redis closed the connection
  redis.on('error', (error) => {
    reason = error
  })
  redis.on('reconnecting', () => {
    if (!isAway) log.warn({ err: reason }, 'Redis is unreachable: this process counts its own requests only')
    isAway = true
  })
  redis.on('ready', () => {
    if (isAway) log.info('Redis is reachable again: requests are counted across all processes')
    isAway = false
    reason = undefined
  })
  await once(redis, 'ready').catch(() => {})
  return redis
}
