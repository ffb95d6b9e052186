import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'

const VERIFY = `${PORTAL_PREFIX}/verify`

/** @param next the address to go back to. */
export const verifyAddress = (next: string): string => `${VERIFY}?${new URLSearchParams({ next })}`

export const verifyPage = (form: Form, email: string, next: string): Page => ({
  title: 'Verify your address',
  body: html`${mistakes(form)}<p>You joined by a link that somebody gave you, so we don’t know yet that <strong>${email}</strong> is your address. Verify it before you add a second step or link another account.</p>
<p class="hint">We email you a link that asks for a new password. Nothing changes until you set it.</p>
<form method="post" action="${VERIFY}"><input type="hidden" name="next" value="${next}"><button class="btn btn-primary w-full">Verify my address</button></form>
<p class="text-center text-sm"><a href="${next}">Back</a></p>`,
})

export const verificationSentPage = (email: string, next: string): Page => ({
  title: 'Check your email',
  body: html`<p>An email with a link is on its way to <strong>${email}</strong>. Set a new password with it within an hour, and sign in again.</p>
<p>No email? Check your spam folder, <a href="${verifyAddress(next)}">request another link</a>, or ask the operator of this service for one.</p>
<p class="text-center text-sm"><a href="${next}">Back</a></p>`,
})
