import type { Context } from '../../../domain/context.ts'
import { type Declinable, declinedAtOf } from '../../../domain/invites/declined.ts'
import { wordAgo } from '../../../domain/time/word-ago.ts'
import { type Html, html } from '../../../html/html.ts'

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A time as it is said of now, as long as it is near; the exact one is in the title. Where scripts run, in the reader's own zone. */
export const ago = ({ deps }: Pick<Context, 'deps'>, at: Date): Html =>
  html`<time class="whitespace-nowrap" datetime="${at.toISOString()}" title="${`${format.format(at)} UTC`}" data-ago>${wordAgo(at, deps.clock()) ?? date.format(at)}</time>`

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A time: in UTC and, where scripts run, in the reader's own zone. The exact one is in the title. */
export const time = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${at.toISOString()}">${format.format(at)} UTC</time>`

/** An address, which is parted into lines at its @ and its dots. It stands where `wrap-break-word` keeps other places together. */
export const parted = (address: string): Html =>
  html`${address.split(/(?=[@.])/).map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`

/** How an invite stands for people: who has declined was not revoked, though the documents have one status for both. */
export const wordState = (invite: Declinable): string => (declinedAtOf(invite) ? 'declined' : invite.status)

/** True once an invite no longer expires. A declined one counts as revoked. */
export const doesNotExpire = ({ status }: Declinable): boolean => status === 'completed' || status === 'revoked'

const languages = new Intl.DisplayNames('en', { type: 'language' })

/** A language by its English name. @param code as BCP 47 has it; one that is none, as it may be imported, stays as it is. */
export function wordLanguage(code: string): string {
  try {
    return languages.of(code) ?? code
  } catch {
    return code
  }
}

/** A language in a list of those that something can be written in. @param offered those that candidates can have. */
export const wordOffered = (code: string, offered: readonly string[]): string =>
  offered.includes(code) ? wordLanguage(code) : `${wordLanguage(code)} (not offered)`
