import type { IncomingHttpHeaders } from 'node:http'
import { type Html, html } from '../../../html/html.ts'
import { form, notice, type View } from '../kit/layout.ts'

/** Result of mailing the link to the candidate; `too_soon`: nothing was sent. */
export type LinkSent = 'sent' | 'too_soon'

/** By what browsers say of themselves: a script looks for tablets that call themselves a Mac, see browser/clock.ts. */
const isPhone = ({ 'user-agent': agent = '', 'sec-ch-ua-mobile': mobile }: IncomingHttpHeaders): boolean =>
  mobile === '?1' || /Android|iPhone|iPad|iPod|Mobile/.test(agent)

/** Tells a candidate on a phone, before anything else, that the assessment needs a computer. False where it needs none. */
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
