import type { IncomingHttpHeaders } from 'node:http'
import { type Html, html } from '../../../html/html.ts'
import { form, notice, type View } from '../kit/layout.ts'

/** Result of mailing the link to the candidate; `too_soon`: nothing was sent. */
export type LinkSent = 'sent' | 'too_soon'

/** Judges by the request's headers. A script detects tablets that call themselves a Mac, see browser/clock.ts. */
const isPhone = ({ 'user-agent': agent = '', 'sec-ch-ua-mobile': mobile }: IncomingHttpHeaders): boolean =>
  mobile === '?1' || /Android|iPhone|iPad|iPod|Mobile/.test(agent)

/** Notice for candidates on a phone that the assessment needs a computer; false if it needs none. */
export function computerNeeded(view: View, headers: IncomingHttpHeaders, linkSent: LinkSent | undefined): Html | false {
  const { t, invite } = view
  if (!invite.screenRecording || invite.waivedChecks.includes('screen')) return false
  const send = form(view, 'link', html`<button type="submit" class="btn btn-primary mt-2">${t.text('computer.send')}</button>`)
  return html`<div data-computer class="${isPhone(headers) || linkSent ? '' : 'hidden'}">${notice(
    'warning',
    html`<h2>${t.text('computer.heading')}</h2>
<p>${t.text('computer.text')}</p>
${linkSent ? html`<p class="font-medium" role="status">${t.text(linkSent === 'sent' ? 'computer.sent' : 'computer.too_soon')}</p>` : send}`,
  )}</div>`
}
