import type { OutageCause, Verdict } from '../domain/mails/mail-outage.ts'

/** Error of nodemailer. `command` is the failed command: CONN before the first, API if none was sent. */
export type SmtpError = Error & {
  code?: string | undefined
  command?: string | undefined
  responseCode?: number | undefined
  response?: string | undefined
}

/** nodemailer's codes for login and encryption problems, which retries don't fix. */
const REJECTING_CODES = ['EAUTH', 'ENOAUTH', 'ETLS', 'EREQUIRETLS']
/** Our code: the server doesn't support SMTPUTF8, which the address needs. */
export const NO_SMTPUTF8 = 'ENOSMTPUTF8'
/** RFC 4954 and RFC 3207: authentication or encryption is required, or too weak. */
const ASKS_FOR_LOGIN = [530, 534, 535, 538]
/** RFC 3463 and IANA's registry: the sender's address or quota. */
const ABOUT_THE_SENDER = ['5.1.7', '5.1.8', '5.4.5', '5.7.3', '5.7.8', '5.7.9', '5.7.11']
/** Message too large; and big providers' code for a missing mailbox. */
const ABOUT_THIS_MAIL = ['5.3.4', '5.5.0']

/** Classifies an SMTP error. @param hasBegunText true if the message's text was being sent, so that the server may have it. */
export function classifyError(error: SmtpError, { hasBegunText }: { hasBegunText: boolean }): Verdict {
  const reason = withoutNul(error.response ?? error.message)
  const { responseCode, command = '' } = error
  if (responseCode === undefined) return { ...classifyMissingReply(error, hasBegunText), reason }
  const isAboutMail = command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA'
  // 421 closes the connection. After RCPT TO or DATA it may concern this recipient only.
  if (responseCode === 421) return { ...(command === 'RCPT TO' || command === 'DATA' ? MAYBE_THROTTLED : THROTTLED), reason }
  if (ASKS_FOR_LOGIN.includes(responseCode)) return { ...REJECTING, reason }
  if (!isAboutMail) return { ...(responseCode < 500 && error.code !== 'EAUTH' ? THROTTLED : REJECTING), reason }
  if (responseCode < 500) return { ...(command === 'MAIL FROM' ? THROTTLED : LATER), reason }
  return { ...classifyRefusal(command, responseCode, reason), reason }
}

type Classification = { kind: 'refused' | 'later' } | { kind: 'unable'; about: OutageCause; isCertain: boolean }
const REFUSED = { kind: 'refused' } as const
const LATER = { kind: 'later' } as const
const UNREACHABLE = { kind: 'unable', about: 'unreachable', isCertain: true } as const
const THROTTLED = { kind: 'unable', about: 'throttled', isCertain: true } as const
const MAYBE_THROTTLED = { kind: 'unable', about: 'throttled', isCertain: false } as const
const REJECTING = { kind: 'unable', about: 'rejecting', isCertain: true } as const
const MAYBE_REJECTING = { kind: 'unable', about: 'rejecting', isCertain: false } as const

/** Classifies an error without a reply. */
function classifyMissingReply({ code = '', command }: SmtpError, hasBegunText: boolean): Classification {
  // The server may have received the message. The next mail will show whether it is reachable.
  if (hasBegunText) return LATER
  if (code === 'EMESSAGE' || code === NO_SMTPUTF8) return REFUSED
  if (REJECTING_CODES.includes(code)) return REJECTING
  return command === 'API' ? LATER : UNREACHABLE
}

/** Classifies a permanent refusal. */
function classifyRefusal(command: string, code: number, reply: string): Classification {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''
  if (ABOUT_THIS_MAIL.includes(enhanced)) return REFUSED
  if (command === 'MAIL FROM') return enhanced.startsWith('5.6.') || code === 552 ? REFUSED : REJECTING
  if (ABOUT_THE_SENDER.includes(enhanced)) return REJECTING
  // 5.3 system, 5.5 protocol, 5.7 policy: usually concerns all mails, but a policy may concern one recipient or text.
  if (enhanced !== '') return /^5\.[357]\./.test(enhanced) ? MAYBE_REJECTING : REFUSED
  const soundsLikeRelaying = command === 'RCPT TO' && (code === 554 || /\brelay/i.test(reply))
  return soundsLikeRelaying ? MAYBE_REJECTING : REFUSED
}

/** Removes NUL, which PostgreSQL can't store. */
export const withoutNul = (words: string): string => words.replaceAll('\0', '')
