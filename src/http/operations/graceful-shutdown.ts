import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds that requests under way have to finish when no new ones are accepted any more. */
const REQUEST_GRACE_MS = 3_000

/**
 * Stops so that no request is lost: for a while everything is still answered, with `Connection: close` and with `/readyz` saying no,
 * so that clients and load balancers turn elsewhere by themselves; only then is nothing accepted any more. Kept connections closed
 * at once would take with them the requests that are on their way.
 *
 * @param notice milliseconds for which requests are still accepted once it is known that the service stops.
 */
export function keepAnsweringBeforeClose(app: FastifyInstance, { notice }: { notice: number }): void {
  app.addHook('preClose', async () => {
    await sleep(notice)
    await nextTurn() // when all connections made so far have been taken
    // A client that sends or reads too slowly does not hold up the others' mails.
    setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS).unref()
  })
}
