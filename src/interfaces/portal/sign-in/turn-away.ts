import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type Permission } from '../../../domain/authorization/permissions.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { type FormOwner, findOwnerOfEnded } from '../../../domain/sign-in/saved-forms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a form that met a closed door: whose it is, and where it is asked for what is missing. Nothing but keeping it may be done with it. */
    parking: Parking | null
    /** The value of the session's cookie, whether or not it is one's. */
    sessionToken: string | undefined
  }
}

/** @property leadTo the address where what is missing is asked for. @param next the address to go on to; empty: none. */
export type Parking = { owner: FormOwner; leadTo: (next: string) => string }

/**
 * Leads a request to where it is asked for what is missing: a page by an address from which it goes on to that page. A form is only marked,
 * where it is somebody's, so that it is read, and kept by {@link keepParked}; a script is told, and keeps what it has.
 */
export async function turnAway(
  system: ServiceContext,
  request: FastifyRequest,
  reply: FastifyReply,
  leadTo: Parking['leadTo'],
): Promise<FastifyReply | undefined> {
  const { method, originalUrl } = request
  if (method === 'GET' || method === 'HEAD') return reply.redirect(leadTo(originalUrl), 303)
  if (isScript(request)) return reply.code(401).send({ signIn: leadTo('') })
  const owner = isForm(request) ? await findOwner(system, request) : null
  if (owner === null) return reply.redirect(leadTo(''), 303)
  request.parking = { owner, leadTo }
}

/** Has a scope of an organization be for who may do that, before anything is read that may be megabytes. */
export function requireRight(app: FastifyInstance, right: Permission): void {
  app.addHook('onRequest', async ({ ctx, parking }) => {
    if (!parking) authorize(ctx, right)
  })
}

async function findOwner(system: ServiceContext, { signedIn, sessionToken }: FastifyRequest): Promise<FormOwner | null> {
  if (signedIn) return { credentialId: signedIn.credential.id, sessionId: signedIn.sessionId }
  return sessionToken ? findOwnerOfEnded(system, sessionToken) : null
}

/** Browsers say so, or what they would like to have: a page where they go there. */
function isScript({ headers }: FastifyRequest): boolean {
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? headers.accept === '*/*' : mode !== 'navigate'
}

const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data']
const isForm = ({ headers, is404 }: FastifyRequest): boolean =>
  !is404 && FORMS.includes((headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase())
