import type { PasskeyOptions } from '../../../domain/sign-in/passkeys.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { assets } from '../kit/assets.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { passkeyForm } from '../kit/passkey-form.ts'
import { providerAddress } from './single-sign-on.page.ts'

/** @property hasSso true if any organization has an identity provider. @property offered the operator's providers, for everybody. */
type SignInFacts = {
  notice?: string | undefined
  passkey: PasskeyOptions | null
  hasSso: boolean
  offered: readonly OfferedProvider[]
}

/** @param next the address to go on to. */
export const signInPage = (form: Form, next: string, { notice, passkey, hasSso, offered }: SignInFacts): Page => ({
  title: 'Sign in',
  notice,
  script: passkey ? assets.passkeys : undefined,
  body: html`${mistakes(form)}<form method="post" action="${PORTAL_PREFIX}/sign-in">
<input type="hidden" name="next" value="${next}">
${field(form, { name: 'email', label: 'Email address', type: 'email', autocomplete: 'username webauthn' })}
${field(form, { name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
<button class="btn btn-primary w-full">Sign in</button>
${hasSso && html`<button class="btn mt-2 w-full" formaction="${PORTAL_PREFIX}/sign-in/sso" formnovalidate>Sign in with your organization</button>`}
</form>
${offered.map(({ id, name }) => html`<a class="btn w-full" href="${providerAddress(id, next)}">Continue with ${name}</a>`)}
${
  passkey &&
  passkeyForm({
    action: 'get',
    address: `${PORTAL_PREFIX}/sign-in/passkey`,
    options: passkey,
    label: 'Sign in with a passkey',
    fields: html`<input type="hidden" name="next" value="${next}">`,
    // After a refused passkey, the browser should not prompt for one again.
    isInField: !form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'passkey'),
  })
}<p class="text-center text-sm"><a href="${PORTAL_PREFIX}/forgot">Forgot your password?</a></p>
<p class="hint text-center">No account yet? An admin of your organization can invite you.</p>`,
})
