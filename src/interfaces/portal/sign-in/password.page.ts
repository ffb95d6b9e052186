import type { ResetOffer } from '../../../domain/sign-in/account.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { newPasswordField } from './join.page.ts'

export const forgotPage = (form: Form): Page => ({
  title: 'Forgot your password?',
  body: html`${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/forgot">
<p class="hint mb-4">We email you a link to set a new one. It works for an hour.</p>
${field(form, { name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' })}
<button class="btn btn-primary">Email me a link</button>
</form>
<p><a href="${PORTAL_PREFIX}/sign-in">Sign in</a></p>`,
})

/** Does not reveal if an account with the address exists. */
export const resetRequestedPage: Page = {
  title: 'Check your email',
  body: html`<p>If the address you entered has an account here, an email with a link is on its way. The link works for an hour.</p>
<p>No email? Check your spam folder, or <a href="${PORTAL_PREFIX}/forgot">request another link</a>.</p>
<p><a href="${PORTAL_PREFIX}/sign-in">Sign in</a></p>`,
}

type Offer = ResetOffer & { isListed?: boolean }

/** @param offer.isCommon true if the current password is on the list of common passwords. */
export const resetPage = (form: Form, token: string, { email, isListed = false, mayKeepPassword }: Offer): Page => ({
  title: 'Set a new password',
  body: html`${isListed && html`<p><strong>Your password is on a public list that attackers try first.</strong> Set another one to go on.</p>\n`}${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/reset/${token}">
<p class="hint mb-4">For <strong>${email}</strong>. You are signed out everywhere.</p>
<input type="hidden" name="username" value="${email}" autocomplete="username">
${newPasswordField(form, 'New password')}
<button class="btn btn-primary">Set password</button>
</form>
${mayKeepPassword && !isListed && html`<form method="post" action="${PORTAL_PREFIX}/reset/${token}/browser"><p class="hint mb-2">Do you know your password, and was this browser refused?</p><button class="btn">Keep my password, and let this browser in</button></form>`}`,
})
