import type { FastifyInstance, FastifyRequest } from 'fastify'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { HttpError } from '../../../http/errors/failure.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is no form of a page that is taken: who sends it is shown by what it holds, and no cookie counts. */
    isFromElsewhere?: boolean
  }
}

/** Whether another site has led a browser here, by a link, or on the way back from there. */
export const isFromElsewhere = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  !['same-origin', 'none', undefined].includes([headers['sec-fetch-site']].flat()[0])

/**
 * The page of the portal whose form was sent, as a path; null where another site's page says it was that one. Reached without encryption,
 * browsers leave out where a form comes from: there the host of the page has to be the one that was asked.
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
 * Refuses what another site has a browser send: a form comes from a page of our own, or it changes nothing. Browsers say where it comes
 * from, and no page can make them lie: in Sec-Fetch-Site or, reached without encryption, where they leave that out, in Origin.
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
