import type { MailEventReaders } from '../domain/mails/mail-events.ts'
import type { Site } from '../http/addresses/links.ts'
import { createDsnReader } from '../mail/events/dsn.ts'
import { createPostmarkReader } from '../mail/events/postmark.ts'
import { createSesReader, type FetchText } from '../mail/events/ses.ts'
import { createPost } from '../webhooks/post.ts'
import type { Config } from './config.ts'

/** More than any certificate has. */
const MAX_CERTIFICATE_BYTES = 16 * 1024

/** Who may tell what became of mails, as the settings say. */
export const createMailEventReaders = (
  { domain, sesTopic, postmarkSecret }: Config['bounces'],
  site: Site,
): MailEventReaders => ({
  ...(domain !== undefined && { dsn: createDsnReader(() => site.secretKeys, domain) }),
  ...(sesTopic !== undefined && { ses: createSesReader(sesTopic, createFetch()) }),
  ...(postmarkSecret !== undefined && { postmark: createPostmarkReader(postmarkSecret) }),
})

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
