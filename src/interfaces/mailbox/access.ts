import cookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createMailboxToken, isMailboxToken } from '../../domain/secrets/mailbox-token.ts'
import { toText } from '../../html/html.ts'
import { isLoopbackHost, peerNetworkOf } from '../../http/addresses/client.ts'
import { lockedPage, type Place } from './mailbox.pages.ts'

export const MAILBOX_PREFIX = '/dev/mailbox'
export const MAILBOX_COOKIE = 'mailbox'

/** @property allowsPrivatePeers true in a container with a published port: connections come from the bridge, not from loopback. */
export type MailboxSettings = { allowsPrivatePeers: boolean }

/** Path of the captured mails with the token that opens them. */
export const mailboxPath = (secretKeys: readonly string[]): string => `${MAILBOX_PREFIX}?token=${createMailboxToken(secretKeys)}`

/** Answers 404 to requests from other machines. */
export function hideFromOutside(app: FastifyInstance, { allowsPrivatePeers }: MailboxSettings): void {
  const allowedPeers = allowsPrivatePeers ? ['loopback', 'private'] : ['loopback']
  app.addHook('onRequest', async (request, reply) => {
    const isLocal = allowedPeers.includes(peerNetworkOf(request)) && isForLoopbackHost(request) && !isForwarded(request)
    if (!isLocal) return reply.callNotFound()
  })
}

/** Reads the Host header itself, not the host that a trusted proxy forwards. */
const isForLoopbackHost = ({ raw: { headers } }: FastifyRequest): boolean =>
  isLoopbackHost(URL.parse(`http://${headers.host}`)?.hostname ?? '')

const FORWARDING_HEADER = /^(x-)?forwarded|^x-original-|^via$|(client|connecting|real)-ip$/

const isForwarded = ({ raw: { headers } }: FastifyRequest): boolean =>
  Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))

/**
 * Requires the token of the printed link, and then the cookie that stores it. {@link hideFromOutside} is not enough: behind a local proxy
 * that adds no headers, nginx's default, all requests look local.
 */
export async function requireToken(app: FastifyInstance, secretKeys: readonly string[], place: Place): Promise<void> {
  await app.register(cookie)
  app.addHook('onRequest', async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const token = searchParams.get('token')
    if (token !== null && isMailboxToken(secretKeys, token)) {
      searchParams.delete('token')
      return reply
        .setCookie(MAILBOX_COOKIE, token, { path: MAILBOX_PREFIX, httpOnly: true, sameSite: 'lax' })
        .redirect(searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`, 303)
    }
    if (!isMailboxToken(secretKeys, request.cookies[MAILBOX_COOKIE] ?? ''))
      return reply
        .code(403)
        .type('text/html; charset=utf-8')
        .send(toText(lockedPage(place)))
  })
}
