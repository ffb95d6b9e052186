import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

type Handlers = {
  onNotification: () => void
  /** From now on no notification is missed. */
  onUp: () => void
  /** From now on notifications are missed. */
  onDown: (error: Error) => void
}

const RECONNECT_AFTER_MS = 1_000
/** A connection that has died without a word is found out by asking. */
const HEARTBEAT_EVERY_MS = 5_000
const HEARTBEAT_TIMEOUT_MS = 2_000

/**
 * Listens on a channel (LISTEN/NOTIFY) over a separate connection, which is opened again whenever it breaks.
 *
 * @returns a function that ends it.
 */
export function listenForNotifications(url: string, channel: string, handlers: Handlers): () => Promise<void> {
  const ended = new AbortController()
  const running = run(url, channel, handlers, ended.signal)
  return async () => {
    ended.abort()
    await running
  }
}

async function run(url: string, channel: string, { onNotification, onUp, onDown }: Handlers, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = new Client({
      connectionString: url,
      application_name: `listens for ${channel}`,
      connectionTimeoutMillis: 3_000,
      query_timeout: HEARTBEAT_TIMEOUT_MS,
      keepAlive: true,
    })
    try {
      const broken = new Promise<never>((_, reject) => client.on('error', reject))
      broken.catch(() => {}) // it is awaited below, and may reject before
      await client.connect()
      client.on('notification', onNotification)
      await client.query(`LISTEN ${channel}`)
      onUp()
      while (!signal.aborted) {
        await Promise.race([broken, sleep(HEARTBEAT_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})])
        if (!signal.aborted) await client.query('SELECT 1')
      }
    } catch (error) {
      onDown(error as Error)
      await sleep(RECONNECT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {})
    } finally {
      // Also of a connection that never came about, or is broken already: there is nothing more to be done about it.
      await client.end().catch(() => {})
    }
  }
}
