import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type Permission } from '../../../domain/authorization/permissions.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { type FormOwner, findOwnerOfEndedSession } from '../../../domain/sign-in/saved-forms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Set if a form failed an access check: its owner, and the page that asks for what is missing. Handlers must not run; the form is only
     * saved.
     */
    parking: UnsentForm | null
    /** Value of the session cookie, valid or not. */
    sessionToken: string | undefined
  }
}

/** @property leadTo address that asks for what is missing. @param next the address to go on to; empty if none. */
export type UnsentForm = { owner: FormOwner; leadTo: (next: string) => string }

/**
 * Leads a request to the page that asks for what is missing, and from there to the requested page. A form whose owner is known is only
 * marked here: it is read and saved by {@link keepParked}. Scripts get an error and keep their data.
 */
export async function turnAway(
  system: ServiceContext,
  request: FastifyRequest,
  reply: FastifyReply,
  leadTo: UnsentForm['leadTo'],
): Promise<FastifyReply | undefined> {
  const { method, originalUrl } = request
  if (method === 'GET' || method === 'HEAD') return reply.redirect(leadTo(originalUrl), 303)
  if (isScript(request)) return reply.code(401).send({ signIn: leadTo('') })
  const owner = isForm(request) ? await findOwner(system, request) : null
  if (owner === null) return reply.redirect(leadTo(''), 303)
  request.parking = { owner, leadTo }
}

/** Checks a permission of the scope before the body is read, which may be megabytes. */
export function requireRight(app: FastifyInstance, right: Permission): void {
  app.addHook('onRequest', async ({ ctx, parking }) => {
    if (!parking) authorize(ctx, right)
  })
}

async function findOwner(system: ServiceContext, { signedIn, sessionToken }: FastifyRequest): Promise<FormOwner | null> {
  if (signedIn) return { credentialId: signedIn.credential.id, sessionId: signedIn.sessionId }
  return sessionToken ? findOwnerOfEndedSession(system, sessionToken) : null
}

/** Sec-Fetch-Mode tells or, in browsers without it, the accepted types. */
function isScript({ headers }: FastifyRequest): boolean {
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? headers.accept === '*/*' : mode !== 'navigate'
}

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
const isForm = ({ headers, is404 }: FastifyRequest): boolean =>
  !is404 && FORMS.includes((headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase())
