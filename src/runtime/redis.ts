import { once } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import { Redis } from 'ioredis'

const REDIS_TIMEOUT_MS = 2_000
const REDIS_RETRY_MS = 3_000

/**
 * Requests do not wait for Redis: while it is away, each process counts by itself (http/limits/rate-limit.ts). The start does, until it is
 * known to be there or not, so that the first requests are counted with the others.
 */
export async function connectRedis(url: string, log: FastifyBaseLogger): Promise<Redis> {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: REDIS_TIMEOUT_MS,
    // A connection that is taken but never answered is no connection: another one is tried.
    socketTimeout: REDIS_TIMEOUT_MS,
    // One that may not be written to counts nothing: as after a failover, another may be behind the name now.
    reconnectOnError: ({ message }) => /^(READONLY|OOM|MISCONF|NOPERM)\b/.test(message),
    // Not sooner: one that is only slow would be given up, and taken back, many times a second.
    retryStrategy: () => REDIS_RETRY_MS,
  })
  let away = false
  let reason: Error | undefined // none where Redis itself has closed the connection
  redis.on('error', (error) => {
    reason = error
  })
  redis.on('reconnecting', () => {
    if (!away) log.warn({ err: reason }, 'Redis is unreachable: this process counts requests by itself')
    away = true
  })
  redis.on('ready', () => {
    if (away) log.info('Redis is reachable again: requests are counted across all processes')
    away = false
    reason = undefined
  })
  await once(redis, 'ready').catch(() => {})
  return redis
}
