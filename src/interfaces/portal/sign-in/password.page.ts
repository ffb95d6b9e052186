import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { newPasswordField } from './join.page.ts'

export const forgotPage = (form: Form): Page => ({
  title: 'Forgotten password',
  body: html`${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/forgot">
<p class="hint mb-4">We mail you a link to set a new one. It is good for an hour.</p>
${field(form, { name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' })}
<button class="btn btn-primary">Mail me a link</button>
</form>
<p><a href="${PORTAL_PREFIX}/sign-in">Sign in</a></p>`,
})

/** It does not tell whether anybody signs in with the address. */
export const askedPage: Page = {
  title: 'Look into your mail',
  body: html`<p>If somebody signs in here with the address you entered, a mail with a link is on its way to it. The link is good for an hour.</p>
<p>No mail? Look where unwanted mail is kept, or <a href="${PORTAL_PREFIX}/forgot">ask again</a>.</p>
<p><a href="${PORTAL_PREFIX}/sign-in">Sign in</a></p>`,
}

export const resetPage = (form: Form, token: string, email: string): Page => ({
  title: 'Set a new password',
  body: html`${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/reset/${token}">
<p class="hint mb-4">For <strong>${email}</strong>. All your sessions end.</p>
<input type="hidden" name="username" value="${email}" autocomplete="username">
${newPasswordField(form, 'New password')}
<button class="btn btn-primary">Set the password</button>
</form>`,
})
