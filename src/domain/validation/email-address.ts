import { domainToASCII, domainToUnicode } from 'node:url'
import { MAX_EMAIL_LENGTH } from '../limits.ts'

const MAX_LOCAL_BYTES = 64
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const plain = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`)
const NOT_ASCII = /\P{ASCII}/u
/** Domain before conversion to ASCII: nothing that a URL would read as more than a name. */
const INTERNATIONAL_DOMAIN = /^[\p{L}\p{M}\p{N}.-]+$/u
/** Letters that can be seen. */
const INTERNATIONAL_LETTER = /[^\p{ASCII}\p{C}\p{Z}]/gu

/** True for RFC 5321's dot-atom form in ASCII with a domain of two labels or more. */
export const isPlainAddress = (text: string): boolean =>
  text.length <= MAX_EMAIL_LENGTH && text.indexOf('@') <= MAX_LOCAL_BYTES && plain.test(text)

/**
 * True if mail can be sent to it: a plain address, one with an international domain, or one with an international local part (RFC
 * 6531), which needs a server with SMTPUTF8.
 */
export function isEmailAddress(text: string): boolean {
  if (!NOT_ASCII.test(text)) return isPlainAddress(text)
  const { local } = partsOf(text)
  if (Buffer.byteLength(local) > MAX_LOCAL_BYTES || [...local].some(becomesPlain)) return false
  const address = toStoredAddress(text)
  if (NOT_ASCII.test(partsOf(address).domain)) return false
  return address.length <= MAX_EMAIL_LENGTH && isPlainAddress(address.replaceAll(INTERNATIONAL_LETTER, 'x'))
}

/**
 * Normalized address for storing and comparing, apart from case. ASCII addresses stay; international domains are converted to ASCII (RFC
 * 5891), other local parts to lower case and composed form. Invalid addresses stay.
 */
export function toStoredAddress(text: string): string {
  if (!NOT_ASCII.test(text) || !text.includes('@')) return text
  const { local, domain } = partsOf(text)
  const host = INTERNATIONAL_DOMAIN.test(domain) ? domainToASCII(domain) : ''
  return `${NOT_ASCII.test(local) ? local.toLowerCase().normalize('NFC') : local}@${host || domain}`
}

/** The domain of an address, as it is compared. */
export const domainOf = (address: string): string => partsOf(toStoredAddress(address)).domain.toLowerCase()

/** An address as people read it: its domain in letters. */
export function toReadableAddress(address: string): string {
  const { local, domain } = partsOf(address)
  return `${local}@${domainToUnicode(domain) || domain}`
}

/** True if the address needs a mail server with SMTPUTF8. */
export const needsSmtpUtf8 = (address: string): boolean => NOT_ASCII.test(address)

const partsOf = (text: string) => {
  const at = text.lastIndexOf('@')
  return { local: text.slice(0, Math.max(at, 0)), domain: text.slice(at + 1) }
}

/**
 * True for a letter that composition or lower case turns into ASCII, such as the sign for kelvin: the address would become somebody else's.
 */
const becomesPlain = (letter: string): boolean =>
  NOT_ASCII.test(letter) && /\p{ASCII}/u.test(letter.normalize('NFC').toLowerCase())

/** True if a name could be mistaken for a sender's address. */
export const looksLikeAddress = (name: string): boolean => /[@＠﹫]/.test(name)
