import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordAudit } from '../../../domain/audit/record-audit.ts'
import type { Context, ServiceContext } from '../../../domain/context.ts'
import { claimSavedForm, type FormOwner, parkForm, releaseSavedForm } from '../../../domain/sign-in/saved-forms.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, refuseForm } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { findFormPage } from '../kit/same-origin.ts'
import { browserOf } from './browser-of.ts'
import type { Parking } from './turn-away.ts'

/** What is wrong with a form is said before its sender is asked who they are. @property check throws DomainError for that. */
export type Check = {
  check: (ctx: Context, values: URLSearchParams) => Promise<void>
  page: (request: FastifyRequest, form: Form) => Promise<Page>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a form that takes a fresh proof. */
    check?: Check
  }
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
    if (parking) return keep(system, request, reply, parking)
    if (earlier === null || !signedIn) return
    if (!(await claimSavedForm(system, signedIn, earlier, browserOf(request)))) return reply.redirect(resumeAddress(earlier), 303)
    request.resumed = earlier
    if (request.ctx) await recordAudit(request.ctx, { action: 'resumed_form', details: { path: pathWithin(request) } })
  })
  app.addHook('onResponse', async ({ resumed, signedIn }, { statusCode }) => {
    if (resumed && signedIn && isUndone(statusCode)) await releaseSavedForm(system, signedIn, resumed)
  })
}

async function keep(
  system: ServiceContext,
  request: FastifyRequest,
  reply: FastifyReply,
  parking: Parking,
): Promise<FastifyReply> {
  if (await isRefused(request, reply)) return reply
  const id = request.body instanceof URLSearchParams ? await park(system, request, parking.owner) : null
  return reply.redirect(parking.leadTo(id === null ? '' : resumeAddress(id)), 303)
}

/** Answers a form with what is wrong with it, where that can be said: its organization is open to the sender. @returns whether it did. */
async function isRefused(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { ctx, routeOptions, body } = request
  const { check: asked } = routeOptions.config
  if (!ctx || !asked || !(body instanceof URLSearchParams)) return false
  try {
    await asked.check(ctx, body)
    return false
  } catch (error) {
    await refuseForm(request, reply, { error, values: body, page: (form) => asked.page(request, form) })
    return true
  }
}

/** Takes away from what was typed which form it was. */
function takeResumed({ body }: FastifyRequest): string | null {
  if (!(body instanceof URLSearchParams)) return null
  const id = body.get(RESUMED)
  body.delete(RESUMED)
  return id
}

function park(system: ServiceContext, request: FastifyRequest, owner: FormOwner): Promise<string | null> {
  const { body, headers, originalUrl: url, upload } = request
  const form = {
    url,
    fields: [...(body as URLSearchParams)],
    isMultipart: (headers['content-type'] ?? '').toLowerCase().startsWith('multipart/'),
    page: findFormPage(request),
    isIncomplete: upload !== undefined && upload.bytes.length > 0,
  }
  return parkForm(system, owner, form, browserOf(request))
}

/** Where the form goes, without what follows a question mark. */
const pathWithin = ({ originalUrl }: FastifyRequest): string => originalUrl.split('?', 1)[0]!
