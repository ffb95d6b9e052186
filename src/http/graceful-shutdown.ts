import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** Milliseconds. */
export type ShutdownTimes = {
  /** How long requests are still accepted once it is known that the service stops. */
  notice: number
  /** How long requests under way then have to finish. */
  grace: number
}

/**
 * Stops so that no request is lost: for a while everything is still answered, with `Connection: close` and with `/readyz` saying no,
 * so that clients and load balancers turn elsewhere by themselves; only then is nothing accepted any more. Kept connections closed
 * at once would take with them the requests that are on their way.
 */
export function shutDownGracefully(app: FastifyInstance, { notice, grace }: ShutdownTimes): void {
  app.addHook('preClose', async () => {
    await sleep(notice)
    await nextTurn() // when all connections made so far have been taken
    // A client that sends or reads too slowly does not hold up the others' mails.
    setTimeout(() => app.server.closeAllConnections(), grace).unref()
  })
}
