import type { SecondStepOptions } from '../../../domain/sign-in/second-step.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { assets } from '../kit/assets.ts'
import { checkbox, type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'
import { passkeyForm } from '../kit/passkey-form.ts'

const SECOND_STEP = `${PORTAL_PREFIX}/second-step`

/** @param next the address to go on to; empty if none. */
export const secondStepAddress = (next: string): string => `${SECOND_STEP}${next && `?${new URLSearchParams({ next })}`}`

/** Asks for a second factor, after the password. @param next the address to go on to. */
export const secondStepPage = (form: Form, step: SecondStepOptions, next: string): Page => {
  const hidden = html`<input type="hidden" name="next" value="${next}">`
  return {
    title: 'Confirm it’s you',
    script: step.passkey ? assets.passkeys : undefined,
    body: html`${mistakes(form)}<p class="hint">You are signing in as <strong>${step.email}</strong>.</p>
${step.passkey && passkeyForm({ action: 'get', address: `${SECOND_STEP}/passkey`, options: step.passkey, label: 'Use a passkey', fields: hidden })}
<form method="post" action="${SECOND_STEP}">
${hidden}
${field(form, {
  name: 'code',
  label: 'Code',
  autocomplete: 'one-time-code',
  hint: step.hasApp
    ? 'The six digits that your authenticator app shows, or one of your recovery codes.'
    : 'One of your recovery codes.',
})}
${step.days > 0 && checkbox(form, { name: 'remember', label: `Don’t ask again in this browser for ${step.days} ${step.days === 1 ? 'day' : 'days'}` })}
<button class="btn btn-primary w-full">Continue</button>
</form>
<p class="text-center text-sm"><a href="${PORTAL_PREFIX}/sign-in">Sign in another way</a></p>
<p class="hint text-center">No code and no passkey any more? An admin of your organization can reset your second step.</p>`,
  }
}
