import path from 'node:path'
import { Eta } from 'eta'

export type Mailbox = { name: string; address: string }

/** A rendered mail, in the shape nodemailer takes. */
export type Message = {
  messageId: string
  from: string | Mailbox
  to: Mailbox
  replyTo: string | Mailbox
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}

/** Where mails lead, what signs their links, and whom they are from. */
export type MailSettings = { publicUrl: string; secretKeys: readonly string[]; mailFrom: string }

const LOCALE = 'en'
/** Characters, not UTF-16 units: half a pair would be no text. */
const MAX_HEADER_TEXT = 150
const views = path.join(import.meta.dirname, 'templates', LOCALE)
const html = new Eta({ views, cache: true, autoEscape: true })
const plain = new Eta({ views, cache: true, autoEscape: false, autoTrim: false })

/** What a mail says, from its three templates: `<name>.subject.eta`, `<name>.txt.eta` and `<name>.html.eta`. */
export const renderTemplates = (name: string, facts: object): Pick<Message, 'subject' | 'text' | 'html' | 'headers'> => ({
  subject: headerText(plain.render(`./${name}.subject.eta`, facts)),
  text: plain.render(`./${name}.txt.eta`, facts),
  html: html.render(`./${name}.html.eta`, facts),
  // RFC 3834: tells vacation responders and the like not to answer a machine.
  headers: { 'Auto-Submitted': 'auto-generated' },
})

/**
 * Text that cannot break or disguise a header: no control characters, no marks that change the reading direction, nothing that reads
 * as an encoded word (RFC 2047), which could hold all of these; not too long.
 */
export function headerText(text: string): string {
  const visible = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/=(?=\?)/g, '= ')
    .replace(/\s+/g, ' ')
    .trim()
  return [...visible].slice(0, MAX_HEADER_TEXT).join('')
}

/** The address without the name. */
export const senderAddress = (mailFrom: string): string => /<([^<>]*)>$/.exec(mailFrom)?.[1] ?? mailFrom

/** The part of a Message-ID behind the @. */
export const senderDomain = (mailFrom: string): string => /@([^\s>]+)/.exec(mailFrom)?.[1] ?? 'localhost'
