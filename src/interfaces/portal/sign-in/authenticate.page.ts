import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { isResume } from './unsent-forms.ts'

const PROVE = `${PORTAL_PREFIX}/prove`

/** Page that asks for authentication again. @param next the address to go on to. */
export const authenticateAddress = (next: string): string => `${PROVE}${next && `?${new URLSearchParams({ next })}`}`

/** @property witnesses identity providers that can confirm the person. */
type AuthenticationMethods = { witnesses: readonly OfferedProvider[]; hasPassword: boolean }

/** Asks for the password again, or for a new sign-in at a provider. @param next the address to go on to. */
export const authenticatePage = (
  form: Form,
  email: string,
  next: string,
  { witnesses, hasPassword }: AuthenticationMethods,
): Page => ({
  title: 'Confirm it’s you',
  body: html`${mistakes(form)}<p>We ask again 15 minutes after you signed in, so that nobody else can do this on a computer you left open.</p>
${isResume(next) && html`<p class="hint">What you filled in is saved. You can send it in the next step.</p>`}
<p class="hint">You are signed in as <strong>${email}</strong>.</p>
<div class="space-y-2">${witnesses.map(({ id, name, host }) => html`<a class="btn btn-primary w-full" href="${`${PROVE}/with/${id}?${new URLSearchParams({ next })}`}">Sign in at ${name} again (${host})</a>`)}</div>
${
  !hasPassword &&
  witnesses.length === 0 &&
  html`<p>You have no password here, and your identity provider doesn’t tell us when you signed in. Set a password first: we email you a link. If you have a passkey, sign in with it instead.</p>
<p><a class="btn btn-primary w-full" href="${PORTAL_PREFIX}/forgot">Set a password</a></p>`
}${
  hasPassword &&
  html`<form method="post" action="${PROVE}">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="username" value="${email}" autocomplete="username">
${field(form, { name: 'current', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary w-full">Continue</button>
</form>`
}
<p class="text-center text-sm"><a href="${PORTAL_PREFIX}/sign-in?${new URLSearchParams({ next }).toString()}">Sign in another way</a></p>`,
})
