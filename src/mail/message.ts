import type { Links } from '../domain/context.ts'
import { type Brand, logoOf } from '../domain/ports/brand.ts'
import type { QuestionKinds } from '../domain/ports/question-kind.ts'
import { looksLikeAddress } from '../domain/validation/email-address.ts'
import type { Languages, MailTexts } from '../locales/languages.ts'
import { directionOf } from '../locales/texts.ts'
import type { Letter, MailBrand } from './letter.ts'
import { printHtml } from './print-html.ts'
import { printText } from './print-text.ts'

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
  /** Where notices of it go, and what they are to call it; unless given, to the sender. */
  notices?: { to: string; emailId: string } | undefined
}

/**
 * Where mails lead, what signs their links, whom they are from, what they say in the languages of who reads them, and what the kinds of
 * questions need.
 */
export type MailSettings = { links: Links; mailFrom: string; languages: Languages; kinds: QuestionKinds }

/** Pixels of a logo at the top of a mail, where it is shown the largest. */
const MOST_LOGO = { width: 240, height: 64 }

/** How mails to an organization's candidates look. */
export function mailBrandOf(links: Pick<Links, 'logoUrl'>, brand: Brand): MailBrand {
  const { id: organizationId, name: organization, primaryColor, backgroundColor } = brand
  const logo = logoOf(brand, MOST_LOGO)
  const shown = logo && { ...logo, url: links.logoUrl({ organizationId, hash: logo.hash }), organization }
  return { primaryColor, backgroundColor, logo: shown }
}

/** Characters, not UTF-16 units: half a pair would be no text. */
const MAX_HEADER_TEXT = 150

/** The parts of a message that a letter says. @param brand how it looks; without one as the service does. */
export function partsOf(t: MailTexts, letter: Letter, brand?: MailBrand): Pick<Message, 'subject' | 'text' | 'html' | 'headers'> {
  const reader = { language: t.language, direction: directionOf(t.language) }
  return {
    subject: headerText(letter.subject),
    text: printText(letter, reader.direction),
    html: printHtml(letter, reader, brand),
    // RFC 3834: tells vacation responders and the like not to answer a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/**
 * Text that cannot break or disguise a header: no control characters, no marks that change the reading direction, nothing that reads
 * as an encoded word (RFC 2047), which could hold all of these; not too long.
 */
export function headerText(text: string): string {
  const visible = text
    .replace(/(?!\u200C|\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(DANGLING_JOINERS, '')
    .replace(/=(?=\?)/g, '= ')
    .replace(/\s+/g, ' ')
    .trim()
  return shorten(visible, MAX_HEADER_TEXT)
}

/** Joiners, which Persian, Hindi and emoji are written with, mean something between letters and signs alone. */
const DANGLING_JOINERS = /(?<!\p{L}|\p{M}|\p{Emoji}|\uFE0F)(?:\u200C|\u200D)+|(?:\u200C|\u200D)+(?!\p{L}|\p{M}|\p{Emoji})/gu

/** The name of an organization, for a subject: what the mail is about comes after it, and has to be read as well. */
export const inSubject = (organization: string): string => shorten(organization, 60)

/** Whole characters as people see them: no half of an emoji, no letter without its accent. */
export function shorten(text: string, length: number): string {
  if ([...text].length <= length) return text
  let short = ''
  let count = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    count += [...segment].length
    if (count > length - 1) break
    short += segment
  }
  return `${short.trimEnd()}…`
}

/** The sender by the name of the organization, or the one it has chosen: mail servers trust the service's address, and no other. */
export function senderNamed(mailFrom: string, ...names: (string | null)[]): string | Mailbox {
  const name = names.map((one) => headerText(one ?? '')).find((one) => one !== '' && !looksLikeAddress(one))
  return name === undefined ? mailFrom : { name, address: senderAddress(mailFrom) }
}

/** The address without the name. */
export const senderAddress = (mailFrom: string): string => /<([^<>]*)>$/.exec(mailFrom)?.[1] ?? mailFrom

/** The part of a Message-ID behind the @. */
export const senderDomain = (mailFrom: string): string => /@([^\s>]+)/.exec(mailFrom)?.[1] ?? 'localhost'
