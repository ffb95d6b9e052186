import { MAX_EMAIL_LENGTH } from '../limits.ts'

const MAX_LOCAL_LENGTH = 64
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const address = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`)

/** Whether mail can be addressed to it: RFC 5321's dot-atom form with a domain of two labels or more, in ASCII. */
export const isEmailAddress = (text: string): boolean =>
  text.length <= MAX_EMAIL_LENGTH && text.indexOf('@') <= MAX_LOCAL_LENGTH && address.test(text)

/** Whether a name would be taken for the address that a mail comes from. */
export const looksLikeAddress = (name: string): boolean => /[@＠﹫]/.test(name)
