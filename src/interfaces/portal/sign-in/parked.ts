import type { FastifyInstance, FastifyRequest } from 'fastify'
import { claimParkedForm, parkForm, releaseParkedForm } from '../../../domain/access/parked-forms.ts'
import { recordAudit } from '../../../domain/audit/record-audit.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The parked form that is being sent. */
    resumed: string | null
  }
}

const RESUME = `${PORTAL_PREFIX}/resume`
export const resumeAddress = (id: string): string => `${RESUME}/${id}`
/** Whether an address is of a form that waits to be sent. */
export const isResume = (address: string): boolean => address.startsWith(`${RESUME}/`)

/** What a form that was kept has besides what was typed. */
export const RESUMED = 'resumed_form'

/** Answers that say that the service could not do it, rather than that it did or will not. */
const isUndone = (status: number): boolean => status >= 500 || status === 429

/**
 * Keeps the forms of the scope that met a closed door, before anything is done with them, and leads to where what is missing is asked for. One
 * that was kept is sent once: pressed again it leads to its page, which says so.
 */
export function keepParked(app: FastifyInstance, system: ServiceContext): void {
  app.decorateRequest('parking', null)
  app.decorateRequest('resumed', null)
  app.addHook('preValidation', async (request, reply) => {
    const { parking, signedIn } = request
    const earlier = takeResumed(request)
    if (parking) {
      const id = request.body instanceof URLSearchParams ? await park(system, request, parking.credentialId) : null
      return reply.redirect(parking.leadTo(id === null ? '' : resumeAddress(id)), 303)
    }
    if (earlier === null || !signedIn) return
    if (!(await claimParkedForm(system, signedIn, earlier))) return reply.redirect(resumeAddress(earlier), 303)
    request.resumed = earlier
    if (request.ctx) await recordAudit(request.ctx, { action: 'resumed_form', details: { path: pathWithin(request) } })
  })
  app.addHook('onResponse', async ({ resumed, signedIn }, { statusCode }) => {
    if (resumed && signedIn && isUndone(statusCode)) await releaseParkedForm(system, signedIn, resumed)
  })
}

/** Takes away from what was typed which form it was. */
function takeResumed({ body }: FastifyRequest): string | null {
  if (!(body instanceof URLSearchParams)) return null
  const id = body.get(RESUMED)
  body.delete(RESUMED)
  return id
}

function park(system: ServiceContext, request: FastifyRequest, credentialId: string): Promise<string | null> {
  const { body, headers, originalUrl: url, upload } = request
  return parkForm(system, credentialId, {
    url,
    fields: [...(body as URLSearchParams)],
    isMultipart: (headers['content-type'] ?? '').toLowerCase().startsWith('multipart/'),
    page: pageOf(headers.referer),
    isIncomplete: upload !== undefined && upload.bytes.length > 0,
  })
}

/** Where the form goes, without what follows a question mark. */
const pathWithin = ({ originalUrl }: FastifyRequest): string => originalUrl.split('?', 1)[0]!

/** The page of the portal that a form was on. */
function pageOf(referer = ''): string | null {
  const url = URL.parse(referer)
  return url?.pathname.startsWith(`${PORTAL_PREFIX}/`) ? url.pathname + url.search : null
}
