import type { SessionAccess } from '../../../domain/sign-in/session-access.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import type { Page } from '../kit/layout.ts'
import { providerLink } from './single-sign-on.page.ts'
import { isResume } from './unsent-forms.ts'

/** Requirements that a new sign-in can't meet by itself. */
export type UnmetRequirement = Exclude<SessionAccess, 'open' | 'proof' | 'factor' | 'idle' | 'age' | 'signIn'>

const elsewhere = html`<p><a href="${PORTAL_PREFIX}">Go to the portal</a></p>`

/** Shows the organization's requirement, and how to meet it. */
export const requirementPage = (missing: UnmetRequirement, facts: RequirementFacts): Page => pages[missing](facts)

/** @property providers the organization's identity providers. @property next address to go on to. */
type RequirementFacts = { address: string; providers: readonly OfferedProvider[]; next: string }

const pages: Record<UnmetRequirement, (facts: RequirementFacts) => Page> = {
  network: ({ address }) => ({
    title: 'Not from this network',
    body: html`<p>This organization can be opened only from its own network. You come from <strong>${address}</strong>.</p>\n${elsewhere}`,
  }),
  sso: ({ providers, next }) => ({
    title: 'Sign in with your organization',
    body: html`${isResume(next) && html`<p class="hint">What you filled in is saved. You can send it once you have signed in.</p>\n`}<p>This organization can be opened only by its own sign-in service.</p>
<div class="space-y-2">${providers.map((provider, i) => providerLink(provider, next, { hasFocus: i === 0 }))}</div>
${elsewhere}`,
  }),
}
