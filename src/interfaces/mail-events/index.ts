import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import {
  type MailEventReader,
  type MailEventReaders,
  type MailEventSource,
  storeMailEvent,
} from '../../domain/mails/mail-events.ts'
import { HttpError } from '../../http/errors/failure.ts'
import { createConcurrencyLimiter } from '../../http/limits/concurrency-limiter.ts'

/** Path prefix for delivery notices of mail servers and providers. */
export const MAIL_EVENTS_PREFIX = '/mail-events'

/** Largest notice, in bytes. It may include the mail. */
const MAX_BODY_BYTES = 256 * 1024
/** Bodies of one source in memory at a time. */
const AT_ONCE = 20

type Route = { Params: { source: string } }

/** Receives delivery notices. Authenticates the sender before reading the body, and stores the body unchanged for a worker to read. */
export async function mailEvents(
  app: FastifyInstance,
  { system, readers }: { system: ServiceContext; readers: MailEventReaders },
): Promise<void> {
  const takeSlot = createConcurrencyLimiter(AT_ONCE)
  const admitted = new WeakMap<FastifyRequest, { emailId: string | null; reader: MailEventReader; source: MailEventSource }>()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) => done(null, body))
  app.post<Route>(
    '/:source',
    {
      bodyLimit: MAX_BODY_BYTES,
      async onRequest(request, reply) {
        const source = request.params.source as MailEventSource
        const reader = Object.hasOwn(readers, source) ? readers[source] : undefined
        if (!reader) throw new HttpError('path_not_found')
        const admission = reader.admit(request.headers)
        if (!admission) return reply.code(401).send({ error: 'unknown sender' })
        takeSlot(source, reply)
        admitted.set(request, { ...admission, reader, source })
      },
    },
    async (request, reply) => {
      const { reader, source, emailId } = admitted.get(request)!
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const eventId = await reader.identify(body).catch((err) => {
        system.deps.log.warn({ err, source }, 'the source of a mail event could not be verified')
        throw new HttpError('overloaded', { retryAfter: 10 })
      })
      if (eventId === null) return reply.code(401).send({ error: 'unknown sender' })
      await storeMailEvent(system, { provider: source, eventId, emailId, body })
      return reply.code(200).send({})
    },
  )
}
