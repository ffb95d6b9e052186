import path from 'node:path'
import { Eta } from 'eta'
import type { FastifyInstance } from 'fastify'
import type { Deps } from '../domain/context.ts'
import { findEmail, listEmails } from '../domain/invite-emails.ts'
import { protectPages } from '../http/html-page.ts'
import { type MailSettings, renderInvitation } from '../mail/invitation-email.ts'

const SHOWN = 100
const eta = new Eta({ views: path.join(import.meta.dirname, 'templates'), cache: true })

/** What the mails look like, for a service that has no mail server: the newest captured mails, rendered anew. */
export async function mailboxPages(
  app: FastifyInstance,
  { deps, settings }: { deps: Deps; settings: MailSettings },
): Promise<void> {
  protectPages(app)

  app.get('/', async (_request, reply) => {
    const emails = await listEmails(deps, { limit: SHOWN })
    const rows = emails.map((email) => ({
      id: email.id,
      state: email.state,
      at: email.createdAt.toISOString().slice(0, 19).replace('T', ' '),
      ...renderInvitation(settings, email),
    }))
    return reply.type('text/html; charset=utf-8').send(eta.render('./list.eta', { rows }))
  })

  app.get<{ Params: { id: string }; Querystring: { part?: string } }>('/:id', async ({ params, query }, reply) => {
    const email = await findEmail(deps, params.id)
    if (!email) return reply.code(404).type('text/plain; charset=utf-8').send('There is no such mail.')
    const message = renderInvitation(settings, email)
    if (query.part === 'html')
      return reply.header('content-security-policy', BODY_POLICY).type('text/html; charset=utf-8').send(message.html)
    return reply.type('text/html; charset=utf-8').send(eta.render('./mail.eta', { email, message }))
  })
}

/** The mail's body stands in a frame of the mailbox's own page. */
const BODY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
