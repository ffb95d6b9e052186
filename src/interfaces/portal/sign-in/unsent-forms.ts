import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordAudit } from '../../../domain/audit/record-audit.ts'
import type { Context, ServiceContext } from '../../../domain/context.ts'
import { claimSavedForm, type FormOwner, releaseSavedForm, saveForm } from '../../../domain/sign-in/saved-forms.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, refuseForm } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { findFormPage } from '../kit/same-origin.ts'
import { browserOf } from './browser-of.ts'
import type { UnsentForm } from './turn-away.ts'

/** Validates a form before its sender has to authenticate. @property check throws DomainError for mistakes. */
export type FormCheck = {
  check: (ctx: Context, values: URLSearchParams) => Promise<void>
  page: (request: FastifyRequest, form: Form) => Promise<Page>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a form that requires a recent authentication. */
    check?: FormCheck
  }
  interface FastifyRequest {
    /** The saved form that is being sent. */
    resumed: string | null
  }
}

const RESUME = `${PORTAL_PREFIX}/resume`
export const resumeAddress = (id: string): string => `${RESUME}/${id}`
/** True for addresses of saved forms. */
export const isResume = (address: string): boolean => address.startsWith(`${RESUME}/`)

/** Field with the id of a saved form. */
export const SAVED_FORM_FIELD = 'resumed_form'

/** Responses that mean the work was not done and can be retried. */
const isUndone = (status: number): boolean => status >= 500 || status === 429

/**
 * Saves forms of the scope that failed an access check, before their handlers run, and leads to the missing requirement. A saved form is
 * sent once: pressed again, it leads to its page, which says so.
 */
export function saveUnsentForms(app: FastifyInstance, system: ServiceContext): void {
  app.decorateRequest('parking', null)
  app.decorateRequest('resumed', null)
  app.addHook('preValidation', async (request, reply) => {
    const { parking, signedIn } = request
    const earlier = takeSavedFormId(request)
    if (parking) return saveAndLead(system, request, reply, parking)
    if (earlier === null || !signedIn) return
    if (!(await claimSavedForm(system, signedIn, earlier, browserOf(request)))) return reply.redirect(resumeAddress(earlier), 303)
    request.resumed = earlier
    if (request.ctx) await recordAudit(request.ctx, { action: 'resumed_form', details: { path: pathWithin(request) } })
  })
  app.addHook('onResponse', async ({ resumed, signedIn }, { statusCode }) => {
    if (resumed && signedIn && isUndone(statusCode)) await releaseSavedForm(system, signedIn, resumed)
  })
}

async function saveAndLead(
  system: ServiceContext,
  request: FastifyRequest,
  reply: FastifyReply,
  parking: UnsentForm,
): Promise<FastifyReply> {
  if (await showMistakes(request, reply)) return reply
  const id = request.body instanceof URLSearchParams ? await saveRequestForm(system, request, parking.owner) : null
  return reply.redirect(parking.leadTo(id === null ? '' : resumeAddress(id)), 303)
}

/** Shows a form with its mistakes, if its sender has access to the organization. @returns true if it did. */
async function showMistakes(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const { ctx, routeOptions, body } = request
  const { check: formCheck } = routeOptions.config
  if (!ctx || !formCheck || !(body instanceof URLSearchParams)) return false
  try {
    await formCheck.check(ctx, body)
    return false
  } catch (error) {
    await refuseForm(request, reply, { error, values: body, page: (form) => formCheck.page(request, form) })
    return true
  }
}

/** Removes the saved form's id from the values. */
function takeSavedFormId({ body }: FastifyRequest): string | null {
  if (!(body instanceof URLSearchParams)) return null
  const id = body.get(SAVED_FORM_FIELD)
  body.delete(SAVED_FORM_FIELD)
  return id
}

function saveRequestForm(system: ServiceContext, request: FastifyRequest, owner: FormOwner): Promise<string | null> {
  const { body, headers, originalUrl: url, upload } = request
  const form = {
    url,
    fields: [...(body as URLSearchParams)],
    isMultipart: (headers['content-type'] ?? '').toLowerCase().startsWith('multipart/'),
    page: findFormPage(request),
    isIncomplete: upload !== undefined && upload.bytes.length > 0,
  }
  return saveForm(system, owner, form, browserOf(request))
}

/** The form's path, without query string. */
const pathWithin = ({ originalUrl }: FastifyRequest): string => originalUrl.split('?', 1)[0]!
