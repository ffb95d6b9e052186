import { beginTurn } from '../domain/concurrency/sweep-parts.ts'
import type { ServiceContext } from '../domain/context.ts'
import { keepMailEvent, type MailEventReaders } from '../domain/mails/mail-events.ts'
import type { SiteConfig } from '../http/addresses/links.ts'
import { createBounceMailbox } from '../mail/events/bounce-mailbox.ts'
import { createDsnReader, findMailOf } from '../mail/events/dsn.ts'
import { createPostmarkReader } from '../mail/events/postmark.ts'
import { createSesReader, type FetchText } from '../mail/events/ses.ts'
import { createPost } from '../webhooks/post.ts'
import type { Config } from './config.ts'

/** More than any certificate has. */
const MAX_CERTIFICATE_BYTES = 16 * 1024

/** How what became of mails is told: who may tell it, and what fetches it from a mailbox, until the service ends; undefined: it is in none. */
export function openMailEvents(
  bounces: Config['bounces'],
  { system, site, opened }: { system: ServiceContext; site: SiteConfig; opened: AsyncDisposableStack },
): { mailEventReaders: MailEventReaders; fetchBounces: (() => Promise<number>) | undefined } {
  const mailEventReaders = createMailEventReaders(bounces, site)
  return { mailEventReaders, fetchBounces: createBounceFetching(bounces, system, mailEventReaders, opened) }
}

/** Who may tell what became of mails, as the settings say. */
const createMailEventReaders = ({ domain, sesTopic, postmarkSecret }: Config['bounces'], site: SiteConfig): MailEventReaders => ({
  ...(domain !== undefined && { dsn: createDsnReader(() => site.secretKeys, domain) }),
  ...(sesTopic !== undefined && { ses: createSesReader(sesTopic, createFetch()) }),
  ...(postmarkSecret !== undefined && { postmark: createPostmarkReader(postmarkSecret) }),
})

/** What fetches notices from their mailbox. */
function createBounceFetching(
  { mailbox, domain }: Config['bounces'],
  system: ServiceContext,
  { dsn }: MailEventReaders,
  opened: AsyncDisposableStack,
): (() => Promise<number>) | undefined {
  if (!mailbox || !dsn || domain === undefined) return undefined
  const { takeUnread, close } = createBounceMailbox(mailbox, { domain, log: system.deps.log })
  opened.defer(async () => close())
  return () =>
    takeUnread(async (body) => {
      const emailId = findMailOf(dsn, body)
      const eventId = emailId && (await dsn.identify(body))
      if (eventId) await keepMailEvent(system, { provider: 'dsn', eventId, emailId, body })
      return eventId !== null
    }, beginTurn())
}

/** Public addresses only, whatever webhooks are allowed. */
function createFetch(): FetchText {
  const post = createPost({ hosts: new Set(), networks: [] })
  return async (url) => {
    const options = { method: 'GET', keptBytes: MAX_CERTIFICATE_BYTES }
    const { status, body } = await post(url, {}, '', new AbortController().signal, options)
    if (status !== 200) throw new Error(`Amazon has answered ${status}`)
    return body
  }
}
