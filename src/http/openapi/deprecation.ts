import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Dates such as 2027-12-31. @property until the first day on which the operation may be removed. */
export type Deprecation = { since: string; until: string }

declare module 'fastify' {
  interface FastifySchema {
    /** The description must name the replacement. */
    deprecated?: Deprecation
  }
}

/** OpenAPI extension with the sunset date. Tools that compare documents know it. */
export const SUNSET = 'x-sunset'

/** Adds `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) to all answers of deprecated operations. */
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

/** Fields of a deprecated operation in an OpenAPI document. */
export const describeDeprecation = ({ since, until }: Deprecation, description = '') => ({
  deprecated: true,
  [SUNSET]: until,
  description: `${description} Deprecated since ${since}, answered until ${until} at least.`.trim(),
})
