import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../../domain/errors.ts'
import { MAX_INTEGER } from '../../../domain/limits.ts'
import { type InvitationRef, isFormSignatureValid, readInvitation } from '../../../domain/secrets/invitation-tokens.ts'
import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { HttpError } from '../../../http/errors/failure.ts'
import type { BodyReader } from '../../../http/requests/body-reader.ts'
import { parseFields } from '../../../http/requests/form-fields.ts'

/** A form that was sent. */
export type SubmittedForm = {
  ref: InvitationRef
  fields: URLSearchParams
  request: FastifyRequest<{ Params: { token: string } }>
  reply: FastifyReply
}

/** Largest form without a text, in bytes. */
const FORM_BODY_LIMIT = 4 * 1024

/** Sends the response. A function, because a reply is thenable: awaiting it would resolve to nothing. */
export type SendResponse = () => FastifyReply

/** Accepts only forms. */
export function readForms(app: FastifyInstance, readBody: BodyReader): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest, payload: IncomingMessage) =>
    parseFields((await readBody(request, payload)).toString()),
  )
}

/** Decides before the form is read. @returns the candidate, or a function that sends a response instead. */
type Admit = (
  ref: InvitationRef,
  request: FastifyRequest<{ Params: { token: string } }>,
  reply: FastifyReply,
) => Promise<{ organizationId: string } | SendResponse>

/**
 * Adds a form for candidates, identified by link and page. Other requests are refused before their body is read.
 *
 * @param work returns a function that sends the response; otherwise the candidate is redirected to the page. @param options.admit checks
 *   the state before a large form is read.
 */
export function addForm(
  app: FastifyInstance,
  secretKeys: readonly string[],
  action: string,
  work: (sent: SubmittedForm) => Promise<SendResponse | undefined> | Promise<void>,
  { bodyLimit = FORM_BODY_LIMIT, admit }: { bodyLimit?: number; admit?: Admit } = {},
): void {
  const refOf = (token: string) => {
    const ref = readInvitation(secretKeys, token)
    if (!ref) throw new DomainError('invite_not_found')
    return ref
  }
  type Route = { Params: { token: string } }
  const onRequest = async (request: FastifyRequest<Route>, reply: FastifyReply) => {
    const ref = refOf(request.params.token)
    const admitted = (await admit?.(ref, request, reply)) ?? { organizationId: '' }
    if (typeof admitted === 'function') return admitted()
    request.bodySource = { organization: admitted.organizationId, sender: ref.inviteId, answer: reply.raw }
    return undefined
  }
  app.post<Route>(`/:token/${action}`, { bodyLimit, onRequest }, async (request, reply) => {
    const { token } = request.params
    const ref = refOf(token)
    const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    if (!isFormSignatureValid(secretKeys, token, fields.get('proof') ?? '')) throw new HttpError('malformed_request')
    const send = await work({ ref, fields, request, reply })
    // 303: reloading the page that comes next sends nothing again.
    return send ? send() : reply.redirect(`${INVITATION_PATH}/${token}`, 303)
  })
}

/** The number of a question. @throws HttpError malformed_request. */
export function readNumber(fields: URLSearchParams): number {
  const text = fields.get('number') ?? ''
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > MAX_INTEGER) throw new HttpError('malformed_request')
  return number
}
