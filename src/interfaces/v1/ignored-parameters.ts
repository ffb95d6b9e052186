import type { FastifyInstance } from 'fastify'

/** Names that are told at most, and their length together: a client that sends more has seen that it is wrong. */
const MAX_NAMES = 10
const MAX_LENGTH = 200

/**
 * Names the query parameters that mean nothing here in the header `Ignored-Parameters`, percent-encoded: the interface answers as documented,
 * as if they were not there, and whoever mistypes a filter would take a list of all for what they have asked for.
 */
export function nameIgnoredParameters(app: FastifyInstance): void {
  app.addHook('preValidation', (request, reply, done) => {
    const ignored = findIgnored(request.url, request.routeOptions.schema?.querystring)
    if (ignored !== '') reply.header('ignored-parameters', ignored)
    done()
  })
}

function findIgnored(url: string, schema: unknown): string {
  const start = url.indexOf('?')
  if (start === -1) return ''
  const known = (schema as { properties?: object } | undefined)?.properties ?? {}
  const names = [...new Set(new URLSearchParams(url.slice(start)).keys())].filter((name) => !Object.hasOwn(known, name))
  return names
    .slice(0, MAX_NAMES)
    .map((name) => encodeURIComponent(name.toWellFormed()))
    .reduce((told, name) => {
      const longer = told === '' ? name : `${told}, ${name}`
      return longer.length > MAX_LENGTH ? told : longer
    }, '')
}
