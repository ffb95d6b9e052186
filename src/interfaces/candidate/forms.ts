import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../domain/errors.ts'
import { INVITATION_PATH } from '../../domain/invites/links.ts'
import { type InvitationRef, isOwnForm, readInvitation } from '../../domain/invites/tokens.ts'
import { MAX_INTEGER } from '../../domain/limits.ts'
import { HttpError } from '../../http/failure.ts'

/** A form that was sent. */
export type Sent = {
  ref: InvitationRef
  fields: URLSearchParams
  request: FastifyRequest<{ Params: { token: string } }>
  reply: FastifyReply
}

/** Takes nothing but forms. */
export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  )
}

/**
 * Adds the form of that name, for whoever has the link and its page.
 *
 * @param work the answer it returns is sent; without one it goes on at the page.
 */
export function addForm(
  app: FastifyInstance,
  secretKeys: readonly string[],
  action: string,
  work: (sent: Sent) => Promise<FastifyReply | undefined>,
  options: { bodyLimit?: number } = {},
): void {
  app.post<{ Params: { token: string } }>(`/:token/${action}`, options, async (request, reply) => {
    const { token } = request.params
    const ref = readInvitation(secretKeys, token)
    if (!ref) throw new DomainError('invite_not_found')
    const fields = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    if (!isOwnForm(secretKeys, token, fields.get('proof') ?? '')) throw new HttpError('malformed_request')
    const answer = await work({ ref, fields, request, reply })
    // 303: reloading the page that comes next sends nothing again.
    return answer ?? reply.redirect(`${INVITATION_PATH}/${token}`, 303)
  })
}

/** The number of a question. @throws HttpError malformed_request. */
export function readNumber(fields: URLSearchParams): number {
  const text = fields.get('number') ?? ''
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > MAX_INTEGER) throw new HttpError('malformed_request')
  return number
}
