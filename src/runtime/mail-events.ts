import { startTimeBudget } from '../domain/concurrency/sweep-parts.ts'
import type { ServiceContext } from '../domain/context.ts'
import { type MailEventReaders, storeMailEvent } from '../domain/mails/mail-events.ts'
import type { SiteConfig } from '../http/addresses/links.ts'
import { createBounceMailbox } from '../mail/events/bounce-mailbox.ts'
import { createDsnReader, findBouncedMail } from '../mail/events/dsn.ts'
import { createPostmarkReader } from '../mail/events/postmark.ts'
import { createSesReader, type FetchText } from '../mail/events/ses.ts'
import { createPost } from '../webhooks/post.ts'
import type { Config } from './config.ts'

/** Certificates of SNS are smaller. */
const MAX_CERTIFICATE_BYTES = 16 * 1024

/** Sets up the readers of bounces and delivery reports. `fetchBounces` reads the bounce mailbox; undefined if there is none. */
export function setUpMailEvents(
  bounces: Config['bounces'],
  { system, site, opened: stack }: { system: ServiceContext; site: SiteConfig; opened: AsyncDisposableStack },
): { mailEventReaders: MailEventReaders; fetchBounces: (() => Promise<number>) | undefined } {
  const mailEventReaders = createMailEventReaders(bounces, site)
  return { mailEventReaders, fetchBounces: createBounceFetcher(bounces, system, mailEventReaders, stack) }
}

const createMailEventReaders = ({ domain, sesTopic, postmarkSecret }: Config['bounces'], site: SiteConfig): MailEventReaders => ({
  ...(domain !== undefined && { dsn: createDsnReader(() => site.secretKeys, domain) }),
  ...(sesTopic !== undefined && { ses: createSesReader(sesTopic, createPublicFetch()) }),
  ...(postmarkSecret !== undefined && { postmark: createPostmarkReader(postmarkSecret) }),
})

function createBounceFetcher(
  { mailbox, domain }: Config['bounces'],
  system: ServiceContext,
  { dsn }: MailEventReaders,
  stack: AsyncDisposableStack,
): (() => Promise<number>) | undefined {
  if (!mailbox || !dsn || domain === undefined) return undefined
  const { processUnread, close } = createBounceMailbox(mailbox, { domain, log: system.deps.log })
  stack.defer(async () => close())
  return () =>
    processUnread(async (body) => {
      const emailId = findBouncedMail(dsn, body)
      const eventId = emailId && (await dsn.identify(body))
      if (eventId) await storeMailEvent(system, { provider: 'dsn', eventId, emailId, body })
      return eventId !== null
    }, startTimeBudget())
}

/** Fetches from public addresses only. WEBHOOK_ALLOW does not apply. */
function createPublicFetch(): FetchText {
  const post = createPost({ hosts: new Set(), networks: [] })
  return async (url) => {
    const options = { method: 'GET', keptBytes: MAX_CERTIFICATE_BYTES }
    const { status, body } = await post(url, {}, '', new AbortController().signal, options)
    if (status !== 200) throw new Error(`Amazon has answered ${status}`)
    return body
  }
}
