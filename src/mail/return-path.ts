import type { Links } from '../domain/ports/links.ts'
import { postmarkHeaders } from './events/postmark.ts'
import { sesHeaders } from './events/ses.ts'
import type { Message } from './message.ts'

type BounceSettings = { domain: string | undefined; sesTopic: string | undefined; postmarkSecret: string | undefined }

/** Adds the addresses and headers that identify the mail when it bounces. None of them names the candidate. */
export const withReturnPath = (
  links: Links,
  { domain, sesTopic, postmarkSecret }: BounceSettings,
  emailId: string,
  message: Message,
): Message => ({
  ...message,
  headers: { ...message.headers, ...(sesTopic && sesHeaders(emailId)), ...(postmarkSecret && postmarkHeaders(emailId)) },
  notices: domain === undefined ? undefined : { to: links.bounceAddress(emailId, domain), emailId },
})
