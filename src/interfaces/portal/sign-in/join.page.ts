import type { JoinOffer } from '../../../domain/members/join.ts'
import { MIN_PASSWORD_LENGTH } from '../../../domain/sign-in/passwords.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import type { Page } from '../kit/layout.ts'

export const newPasswordField = (form: Form, label = 'Password') =>
  field(form, {
    name: 'password',
    label,
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${MIN_PASSWORD_LENGTH} characters: four random words are easy to remember.`,
  })

type JoinFacts = { offer: JoinOffer; providers: readonly OfferedProvider[] }

export const joinPage = (form: Form, token: string, { offer, providers }: JoinFacts): Page => ({
  title: `Join ${offer.organization}`,
  body: html`${mistakes(form)}<p class="hint mb-4">You join as <strong>${offer.email}</strong>.</p>
${
  providers.length > 0 &&
  html`<div class="space-y-2">${providers.map(({ id, name, host }) => html`<a class="btn btn-primary w-full" href="${`${PORTAL_PREFIX}/join/${token}/with/${id}`}">Join with ${name} (${host})</a>`)}</div>
${!offer.isBySsoOnly && html`<p class="hint my-2 text-center">or with a password</p>`}`
}${!offer.isBySsoOnly && passwordForm(form, token, offer)}`,
})

const passwordForm = (form: Form, token: string, offer: JoinOffer): Html =>
  html`<form method="post" action="${PORTAL_PREFIX}/join/${token}">
<input type="hidden" name="username" value="${offer.email}" autocomplete="username">
${field(form, { name: 'firstName', label: 'First name', value: offer.firstName, autocomplete: 'given-name' })}
${field(form, { name: 'lastName', label: 'Last name', value: offer.lastName, autocomplete: 'family-name' })}
${
  offer.hasPassword === null
    ? html`${field(form, {
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'on',
        hint: `If you already have an account here with this address, its password. If not, a new one of at least ${MIN_PASSWORD_LENGTH} characters: four random words are easy to remember.`,
      })}
<p><a href="${PORTAL_PREFIX}/forgot">Forgot your password?</a></p>`
    : offer.hasPassword
      ? html`${field(form, {
          name: 'password',
          label: 'Your password',
          type: 'password',
          autocomplete: 'current-password',
          hint: 'This address already has an account: enter its password.',
        })}
<p><a href="${PORTAL_PREFIX}/forgot">Forgot your password?</a></p>`
      : newPasswordField(form)
}
<button class="btn btn-primary">Join</button>
</form>`

/** For invitation and reset links alike. */
export const invalidLinkPage: Page = {
  title: 'This link no longer works',
  body: html`<p>It was already used, has expired, or is incomplete. If you have a password, <a href="${PORTAL_PREFIX}/sign-in">sign in</a>, or <a href="${PORTAL_PREFIX}/forgot">set a new password</a>. If not, ask an admin of your organization for another link.</p>`,
}
