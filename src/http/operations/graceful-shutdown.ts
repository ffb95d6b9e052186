import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds for pending requests once no new ones are accepted. */
const REQUEST_GRACE_MS = 3_000

/**
 * Stops without losing requests. During the notice the service still answers, with `Connection: close` and a failing `/readyz`, so that
 * clients and load balancers move away. Then it stops accepting. Closing keep-alive connections at once would lose requests in flight.
 *
 * @param notice milliseconds.
 */
export function drainBeforeClose(app: FastifyInstance, { notice }: { notice: number }): void {
  app.addHook('preClose', async () => {
    await sleep(notice)
    await nextTurn() // accepts all connections that are established
    // A slow client must not delay the rest of the shutdown, such as sending mails.
    setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS).unref()
  })
}
