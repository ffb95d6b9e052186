import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { isUuid } from '../../domain/text/uuid.ts'
import { toText } from '../../html/html.ts'
import { loadSharedAssets, serveAssets } from '../../http/pages/assets.ts'
import { protectPages } from '../../http/pages/page-headers.ts'
import { hideFromOutside, MAILBOX_PREFIX, type MailboxSettings, requireToken } from './access.ts'
import { listPage, mailPage, unknownPage } from './mailbox.pages.ts'
import { findMail, listMails, type Mail, type RenderMails } from './mails.ts'

const SHOWN = 50
/** Mails that one search looks at; the next page looks at older ones. */
const SEARCHED = 1_000
const look = loadSharedAssets(MAILBOX_PREFIX)
const place = { home: MAILBOX_PREFIX, icon: look.icon.address, stylesheet: look.stylesheet.address }

type ListQuery = Partial<Record<'search' | 'before', string | string[]>>

type Options = { system: ServiceContext; render: RenderMails; settings: MailboxSettings }

/** Shows captured emails of a service without a mail server, newest first, to anyone with the link printed at startup. */
export async function mailboxPages(app: FastifyInstance, { system, render, settings }: Options): Promise<void> {
  hideFromOutside(app, settings)
  protectPages(app, { loadsOwn: true })
  serveAssets(app, MAILBOX_PREFIX, look)
  await app.register(async (scope) => {
    await requireToken(scope, system.deps.secretKeys, place)
    showMails(scope, { system, render })
  })
}

function showMails(app: FastifyInstance, { system, render }: Pick<Options, 'system' | 'render'>): void {
  app.get<{ Querystring: ListQuery }>('/', async ({ query }, reply) => {
    const search = String(query.search ?? '').trim()
    const { emails, searched, older } = await findPage(system, render, search, String(query.before ?? ''))
    const rows = emails.map((email) => ({
      id: email.id,
      state: email.state,
      at: timeOf(email),
      ...email.render(),
    }))
    const links = {
      newest: query.before !== undefined && address({ search }),
      older: older && address({ search, before: older }),
    }
    return reply.type('text/html; charset=utf-8').send(toText(listPage(place, { rows, search, searched, links })))
  })

  app.get<{ Params: { id: string }; Querystring: { part?: string; view?: string } }>('/:id', async ({ params, query }, reply) => {
    const email = await findMail(system, render, params.id)
    if (!email)
      return reply
        .code(404)
        .type('text/html; charset=utf-8')
        .send(toText(unknownPage(place)))
    const message = email.render()
    if (query.part === 'html')
      return reply
        .header('content-security-policy', BODY_POLICY)
        .type('text/html; charset=utf-8')
        .send(openLinksOutside(message.html))
    const view = query.view === 'text' ? 'text' : 'html'
    return reply.type('text/html; charset=utf-8').send(toText(mailPage(place, email, message, { at: timeOf(email), view })))
  })
}

/** Makes links leave the frame, because candidates' pages may not be framed. */
const openLinksOutside = (html: string): string => html.replace('<head>', '<head><base target="_top">')

/** Policy of the mail's body, which the mailbox shows in a frame. */
const BODY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'"

/** @returns the mails to show, the number of searched mails, and the id to continue before; undefined at the end. */
async function findPage(system: ServiceContext, render: RenderMails, search: string, before: string) {
  const words = search.toLowerCase().split(/\s+/)
  const limit = search === '' ? SHOWN : SEARCHED
  const mails = await listMails(system, render, { limit: limit + 1, ...(isUuid(before) && { before }) })
  const shownMails = mails.slice(0, limit)
  const matches = shownMails.filter((email) => words.every((word) => email.words.includes(word)))
  const emails = matches.slice(0, SHOWN)
  const last = matches.length > SHOWN ? emails.at(-1) : shownMails.at(-1)
  const isEnd = matches.length <= SHOWN && mails.length <= limit
  return { emails, searched: shownMails.length, older: isEnd ? undefined : last?.id }
}

const timeOf = ({ createdAt }: Mail): string => createdAt.toISOString().slice(0, 19).replace('T', ' ')

const address = (query: Record<string, string>): string => `${MAILBOX_PREFIX}?${new URLSearchParams(query)}`
