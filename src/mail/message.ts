import { type Brand, logoOf } from '../domain/ports/brand.ts'
import type { Links } from '../domain/ports/links.ts'
import type { QuestionKinds } from '../domain/ports/question-kind.ts'
import { looksLikeAddress } from '../domain/validation/email-address.ts'
import type { Languages, MailTexts } from '../locales/languages.ts'
import { directionOf } from '../locales/texts.ts'
import type { Letter, MailBrand } from './letter.ts'
import { printHtml } from './print-html.ts'
import { printText } from './print-text.ts'

export type Mailbox = { name: string; address: string }

/** In the shape that nodemailer takes. */
export type Message = {
  messageId: string
  from: string | Mailbox
  to: Mailbox
  replyTo: string | Mailbox
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  /** Address of bounces and id of the mail; undefined: bounces go to the sender. */
  notices?: { to: string; emailId: string } | undefined
}

export type MailSettings = { links: Links; mailFrom: string; languages: Languages; kinds: QuestionKinds }

/** Pixels of the largest logo. */
const MAX_LOGO = { width: 240, height: 64 }

/** Colors and logo of mails to an organization's candidates. */
export function mailBrandOf(links: Pick<Links, 'logoUrl'>, brand: Brand): MailBrand {
  const { id: organizationId, name: organization, primaryColor, backgroundColor } = brand
  const logo = logoOf(brand, MAX_LOGO)
  const shown = logo && { ...logo, url: links.logoUrl({ organizationId, hash: logo.hash }), organization }
  return { primaryColor, backgroundColor, logo: shown }
}

/** Code points, because half a surrogate pair is invalid. */
const MAX_HEADER_TEXT = 150

/** Renders a letter's subject, text, and HTML. @param brand undefined: the service's own look. */
export function renderParts(
  t: MailTexts,
  letter: Letter,
  brand?: MailBrand,
): Pick<Message, 'subject' | 'text' | 'html' | 'headers'> {
  const reader = { language: t.language, direction: directionOf(t.language) }
  return {
    subject: toHeaderText(letter.subject),
    text: printText(letter, reader.direction),
    html: printHtml(letter, reader, brand),
    // RFC 3834: stops automatic replies.
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

/**
 * Makes text safe for a header: removes control characters and bidirectional marks, breaks up encoded words (RFC 2047), which could contain them,
 * and shortens it.
 */
export function toHeaderText(text: string): string {
  const visible = text
    .replace(/(?!\u200C|\u200D)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(DANGLING_JOINERS, '')
    .replace(/=(?=\?)/g, '= ')
    .replace(/\s+/g, ' ')
    .trim()
  return shorten(visible, MAX_HEADER_TEXT)
}

/** Joiners are part of Persian, Hindi, and emoji, but only between letters or symbols. */
const DANGLING_JOINERS = /(?<!\p{L}|\p{M}|\p{Emoji}|\uFE0F)(?:\u200C|\u200D)+|(?:\u200C|\u200D)+(?!\p{L}|\p{M}|\p{Emoji})/gu

/** Shortens an organization's name, so that the rest of the subject stays visible. */
export const shortenForSubject = (organization: string): string => shorten(organization, 60)

/** Shortens by grapheme clusters, so that no emoji or accented letter is split. */
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

/** Sender with the first usable name. The address stays the service's: mail servers trust no other. */
export function chooseSender(mailFrom: string, ...names: (string | null)[]): string | Mailbox {
  const name = names.map((candidate) => toHeaderText(candidate ?? '')).find((text) => text !== '' && !looksLikeAddress(text))
  return name === undefined ? mailFrom : { name, address: senderAddress(mailFrom) }
}

export const senderAddress = (mailFrom: string): string => /<([^<>]*)>$/.exec(mailFrom)?.[1] ?? mailFrom

/** Domain for Message-IDs. */
export const senderDomain = (mailFrom: string): string => /@([^\s>]+)/.exec(mailFrom)?.[1] ?? 'localhost'
