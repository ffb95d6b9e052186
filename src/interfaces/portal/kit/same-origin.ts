import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { HttpError } from '../../../http/errors/failure.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for requests that other servers send and that authenticate themselves by their content. Cookies are ignored. */
    isFromElsewhere?: boolean
  }
}

/** True if the browser came from another site, by a link or a redirect. */
export const isFromElsewhere = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  !['same-origin', 'none', undefined].includes([headers['sec-fetch-site']].flat()[0])

/**
 * Path of the portal's page whose form was sent; null if the form comes from another site. Without HTTPS browsers omit Sec-Fetch-Site, so
 * the page's host has to match the request's.
 */
export function findFormPage({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): string | null {
  const address = method === 'POST' && headers.referer ? URL.parse(headers.referer) : null
  if (!address?.pathname.startsWith(`${PORTAL_PREFIX}/`)) return null
  const site = headers['sec-fetch-site']
  const isOurs = site === undefined ? address.host === headers.host : site === 'same-origin'
  return isOurs ? address.pathname + address.search : null
}

const READING = ['GET', 'HEAD']

/**
 * Refuses forms of other sites (CSRF). Browsers state the origin in Sec-Fetch-Site, which pages can't forge, or without HTTPS in Origin.
 *
 * @param publicUrl the service's own address.
 */
export function refuseForeignForms(app: FastifyInstance, publicUrl: () => string): void {
  app.addHook('onRequest', async ({ method, headers, routeOptions }) => {
    if (READING.includes(method) || routeOptions.config.isFromElsewhere) return
    const site = headers['sec-fetch-site']
    const isOwn = site === undefined ? headers.origin === new URL(publicUrl()).origin : site === 'same-origin' || site === 'none'
    if (!isOwn) throw new HttpError('malformed_request')
  })
}
