import type { Context } from '../../../domain/context.ts'
import { type Declinable, declinedAtOf } from '../../../domain/invites/declined.ts'
import type { Time } from '../../../domain/lists/listing.ts'
import { formatAgo } from '../../../domain/time/format-ago.ts'
import { type Html, html } from '../../../html/html.ts'

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A relative time ("2 hours ago") for recent times, else the date. Scripts convert the title to the reader's time zone. */
export const timeAgo = ({ deps }: Pick<Context, 'deps'>, moment: Date): Html =>
  html`<time class="whitespace-nowrap" datetime="${moment.toISOString()}" title="${`${format.format(moment)} UTC`}" data-ago>${formatAgo(moment, deps.clock()) ?? date.format(moment)}</time>`

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A time in UTC; scripts convert it to the reader's time zone. The title has the exact time. */
export const time = (moment: Time): Html => {
  const date = new Date(moment)
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}">${format.format(date)} UTC</time>`
}

/** An email address that may wrap at its @ and dots. */
export const breakableAddress = (address: string): Html =>
  html`${address.split(/(?=[@.])/).map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`

/** Label of an invite's status. Declined invites have the status `revoked` in the API. */
export const labelInviteStatus = (invite: Declinable): string => (declinedAtOf(invite) ? 'declined' : invite.status)

/** True once an invite no longer expires. A declined one counts as revoked. */
export const doesNotExpire = ({ status }: Declinable): boolean => status === 'completed' || status === 'revoked'

const languages = new Intl.DisplayNames('en', { type: 'language' })

/** English name of a language. @param code BCP 47; invalid codes, which imports may contain, stay as they are. */
export function labelLanguage(code: string): string {
  try {
    return languages.of(code) ?? code
  } catch {
    return code
  }
}

/** Label of a language in a select. @param offered codes that candidates can choose. */
export const labelOfferedLanguage = (code: string, offered: readonly string[]): string =>
  offered.includes(code) ? labelLanguage(code) : `${labelLanguage(code)} (not offered)`
