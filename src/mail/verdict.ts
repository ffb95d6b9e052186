import type { OutageCause, Verdict } from '../domain/mails/mail-outage.ts'

/** How nodemailer tells what went wrong: `command` is the one that was answered, CONN before there was any, API where none was sent. */
export type SmtpError = Error & {
  code?: string | undefined
  command?: string | undefined
  responseCode?: number | undefined
  response?: string | undefined
}

/** By nodemailer's code: what no repetition mends, because of the login or the encryption. */
const REJECTING_CODES = ['EAUTH', 'ENOAUTH', 'ETLS', 'EREQUIRETLS']
/** Ours: the address can not be told to this server, and no other is asked. */
export const NO_SMTPUTF8 = 'ENOSMTPUTF8'
/** RFC 4954 and RFC 3207: authentication or encryption is wanted, or not good enough. */
const ASKS_FOR_LOGIN = [530, 534, 535, 538]
/** RFC 3463 and IANA's registry: the sender's address, and a quota of the sender's. */
const ABOUT_THE_SENDER = ['5.1.7', '5.1.8', '5.4.5', '5.7.3', '5.7.8', '5.7.9', '5.7.11']
/** The message's size; and what big providers answer for a mailbox that is not there. */
const ABOUT_THIS_MAIL = ['5.3.4', '5.5.0']

/** @param begun whether the message's text was under way, so that the server may have it. */
export function judge(error: SmtpError, { begun }: { begun: boolean }): Verdict {
  const reason = storable(error.response ?? error.message)
  const { responseCode, command = '' } = error
  if (responseCode === undefined) return { ...judgeSilence(error, begun), reason }
  const isAboutMail = command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA'
  // It closes the connection: for the recipient that it was just told, or for all.
  if (responseCode === 421) return { ...(command === 'RCPT TO' || command === 'DATA' ? MAYBE_THROTTLED : THROTTLED), reason }
  if (ASKS_FOR_LOGIN.includes(responseCode)) return { ...REJECTING, reason }
  if (!isAboutMail) return { ...(responseCode < 500 && error.code !== 'EAUTH' ? THROTTLED : REJECTING), reason }
  if (responseCode < 500) return { ...(command === 'MAIL FROM' ? THROTTLED : LATER), reason }
  return { ...judgeRefusal(command, responseCode, reason), reason }
}

type Kind = { kind: 'refused' | 'later' } | { kind: 'unable'; about: OutageCause; isCertain: boolean }
const REFUSED = { kind: 'refused' } as const
const LATER = { kind: 'later' } as const
const UNREACHABLE = { kind: 'unable', about: 'unreachable', isCertain: true } as const
const THROTTLED = { kind: 'unable', about: 'throttled', isCertain: true } as const
const MAYBE_THROTTLED = { kind: 'unable', about: 'throttled', isCertain: false } as const
const REJECTING = { kind: 'unable', about: 'rejecting', isCertain: true } as const
const MAYBE_REJECTING = { kind: 'unable', about: 'rejecting', isCertain: false } as const

/** Of what no reply came to. */
function judgeSilence({ code = '', command }: SmtpError, begun: boolean): Kind {
  // A message that the server may have is not what tells that there is no server: the next one is.
  if (begun) return LATER
  if (code === 'EMESSAGE' || code === NO_SMTPUTF8) return REFUSED
  if (REJECTING_CODES.includes(code)) return REJECTING
  return command === 'API' ? LATER : UNREACHABLE
}

/** Of a final reply to MAIL FROM, RCPT TO, DATA or the message itself. */
function judgeRefusal(command: string, code: number, reply: string): Kind {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(reply)?.[1] ?? ''
  if (ABOUT_THIS_MAIL.includes(enhanced)) return REFUSED
  if (command === 'MAIL FROM') return enhanced.startsWith('5.6.') || code === 552 ? REFUSED : REJECTING
  if (ABOUT_THE_SENDER.includes(enhanced)) return REJECTING
  // Its mail system, its protocol, its policy: of every mail, unless it is a policy for this recipient or this text.
  if (enhanced !== '') return /^5\.[357]\./.test(enhanced) ? MAYBE_REJECTING : REFUSED
  const soundsLikeRelaying = command === 'RCPT TO' && (code === 554 || /\brelay/i.test(reply))
  return soundsLikeRelaying ? MAYBE_REJECTING : REFUSED
}

/** A server may say anything, and PostgreSQL stores no NUL in a text. */
export const storable = (words: string): string => words.replaceAll('\0', '')
