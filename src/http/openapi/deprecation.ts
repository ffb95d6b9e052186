import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Days, as 2027-12-31: since when something is deprecated, and until when it works as before at least. */
export type Deprecation = { since: string; until: string }

declare module 'fastify' {
  interface FastifySchema {
    /** That the operation is to be used no more. Its description says what is used instead. */
    deprecated?: Deprecation
  }
}

/** The name under which documents say until when at least something deprecated works. Tools that compare documents know it. */
export const SUNSET = 'x-sunset'

/** Has every answer of an operation that is deprecated say so (RFC 9745), and until when it is answered (RFC 8594). */
export function announceDeprecations(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { deprecated } = route.schema ?? {}
    if (!deprecated) return
    const headers = deprecationHeaders(deprecated)
    const announce = (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
      reply.headers(headers)
      done(null, payload)
    }
    route.onSend = [announce, ...[route.onSend ?? []].flat()]
  })
}

type Done = (error: null, payload?: unknown) => void

const deprecationHeaders = ({ since, until }: Deprecation) => ({
  deprecation: `@${new Date(since).getTime() / 1_000}`,
  sunset: new Date(until).toUTCString(),
})

/** What the document says of an operation that is deprecated, beside what it says of any other. */
export const describeDeprecation = ({ since, until }: Deprecation, description = '') => ({
  deprecated: true,
  [SUNSET]: until,
  description: `${description} Deprecated since ${since}, answered until ${until} at least.`.trim(),
})
