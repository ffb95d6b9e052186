import type { Opening } from '../../../domain/sign-in/openings.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import type { Page } from '../kit/layout.ts'
import { isResume } from './parked.ts'
import { wayLink } from './single-sign-on.page.ts'

/** What signing in again can't open by itself. */
export type Closed = Exclude<Opening, 'open' | 'proof' | 'factor' | 'idle' | 'age' | 'signIn'>

const elsewhere = html`<p><a href="${PORTAL_PREFIX}">Go to the portal</a></p>`

/** What an organization asks for besides, and the way on. */
export const closedPage = (missing: Closed, asked: Asked): Page => pages[missing](asked)

/** @property providers the organization's, by which it can be opened; next: what was asked for. */
type Asked = { address: string; providers: readonly OfferedProvider[]; next: string }

const pages: Record<Closed, (asked: Asked) => Page> = {
  network: ({ address }) => ({
    title: 'Not from this network',
    body: html`<p>This organization can be opened only from its own network. You come from <strong>${address}</strong>.</p>\n${elsewhere}`,
  }),
  sso: ({ providers, next }) => ({
    title: 'Sign in with your organization',
    body: html`${isResume(next) && html`<p class="hint">What you filled in is saved. You can send it once you have signed in.</p>\n`}<p>This organization can be opened only by its own sign-in service.</p>
<div class="space-y-2">${providers.map((provider, i) => wayLink(provider, next, { hasFocus: i === 0 }))}</div>
${elsewhere}`,
  }),
}
