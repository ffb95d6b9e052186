import { domainToASCII, domainToUnicode } from 'node:url'
import { MAX_EMAIL_LENGTH } from '../limits.ts'

const MAX_LOCAL_BYTES = 64
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const plain = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`)
const NOT_ASCII = /\P{ASCII}/u
/** Of a domain before it is converted: nothing that a URL would read as more than a name. */
const INTERNATIONAL_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
/** Letters that can be seen. */
const INTERNATIONAL_LETTER = /[^\p{ASCII}\p{C}\p{Z}]/gu

/** Whether every mail server can be told it: RFC 5321's dot-atom form with a domain of two labels or more, in ASCII. */
export const isPlainAddress = (text: string): boolean =>
  text.length <= MAX_EMAIL_LENGTH && text.indexOf('@') <= MAX_LOCAL_BYTES && plain.test(text)

/**
 * Whether mail can be addressed to it: as in plain ones, and with an international domain, which is one in ASCII on the wire, or an
 * international name before it (RFC 6531), which mail servers take that have SMTPUTF8.
 */
export function isEmailAddress(text: string): boolean {
  if (!NOT_ASCII.test(text)) return isPlainAddress(text)
  const { local } = partsOf(text)
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES || [...local].some(becomesPlain)) return false
  const address = asStored(text)
  if (NOT_ASCII.test(partsOf(address).domain)) return false
  return address.length <= MAX_EMAIL_LENGTH && isPlainAddress(address.replaceAll(INTERNATIONAL_LETTER, 'x'))
}

/**
 * An address as it is stored and compared, apart from its case: the same in whatever form it is written. A plain one is as it was given; an
 * international domain is in ASCII (RFC 5891), a name with other letters in lower case and composed. What is no address stays.
 */
export function asStored(text: string): string {
  if (!NOT_ASCII.test(text) || !text.includes('@')) return text
  const { local, domain } = partsOf(text)
  const host = INTERNATIONAL_DOMAIN.test(domain) ? domainToASCII(domain) : ''
  return `${NOT_ASCII.test(local) ? local.toLowerCase().normalize('NFC') : local}@${host || domain}`
}

/** The domain of an address, as it is compared. */
export const domainOf = (address: string): string => partsOf(asStored(address)).domain.toLowerCase()

/** An address as people read it: its domain in letters. */
export function inLetters(address: string): string {
  const { local, domain } = partsOf(address)
  return `${local}@${domainToUnicode(domain) || domain}`
}

/** Whether a mail server that has no SMTPUTF8 can not be told it. */
export const needsSmtpUtf8 = (address: string): boolean => NOT_ASCII.test(address)

const partsOf = (text: string) => {
  const at = text.lastIndexOf('@')
  return { local: text.slice(0, Math.max(at, 0)), domain: text.slice(at + 1) }
}

/** A letter that composing, or lower case, makes a plain one, such as the sign for kelvin: with it, it would be somebody else's address. */
const becomesPlain = (letter: string): boolean =>
  NOT_ASCII.test(letter) && /\p{ASCII}/u.test(letter.normalize('NFC').toLowerCase())

/** Whether a name would be taken for the address that a mail comes from. */
export const looksLikeAddress = (name: string): boolean => /[@＠﹫]/.test(name)
