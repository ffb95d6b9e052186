import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'

/** @param next the address to go on to. */
export const signInPage = (form: Form, next: string, notice?: string): Page => ({
  title: 'Sign in',
  notice,
  body: html`${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/sign-in">
<input type="hidden" name="next" value="${next}">
${field(form, { name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' })}
${field(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary w-full">Sign in</button>
</form>
<p class="text-center text-sm"><a href="${PORTAL_PREFIX}/forgot">Forgot your password?</a></p>
<p class="hint text-center">No account yet? An admin of your organization can invite you.</p>`,
})
