import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** More than any client pipelines. Few enough answers to hold in memory for a client that does not read them. */
const MAX_UNANSWERED = 20

/**
 * Cuts connections that send requests without waiting for answers. Node parses all requests of a packet before it applies backpressure, so a
 * 64 KB packet of requests for large documents would take 100 MB.
 */
export function limitPipelining(app: FastifyInstance): void {
  const unanswered = new WeakMap<Socket, number>()
  app.addHook('onRequest', (request, reply, next) => {
    const { socket } = request.raw
    const count = (unanswered.get(socket) ?? 0) + 1
    unanswered.set(socket, count)
    reply.raw.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    if (count > MAX_UNANSWERED) socket.destroy()
    if (socket.destroyed)
      reply.hijack() // the client is gone
    else next()
  })
}
