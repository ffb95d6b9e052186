import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** More than any client sends ahead of the answers, and few enough to be kept in memory for a client that doesn't read them. */
const MAX_UNANSWERED = 20

/**
 * Cuts connections that ask without waiting for answers. Node reads all requests that arrive together before it looks whether answers
 * pile up: a packet of 64 KB with requests for large documents would take 100 MB.
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
      reply.hijack() // nobody is there to answer
    else next()
  })
}
