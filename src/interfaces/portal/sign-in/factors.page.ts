import type { Context } from '../../../domain/context.ts'
import type { AppOffer, PasskeyOffer } from '../../../domain/sign-in/enrol-factor.ts'
import type { Factor } from '../../../domain/sign-in/factors.ts'
import { RECOVERY_CODES } from '../../../domain/sign-in/recovery-codes.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { assets } from '../kit/assets.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel } from '../kit/layout.ts'
import { copyBox } from '../kit/parts.ts'
import { passkeyForm } from '../kit/passkey-form.ts'
import { qrCode } from '../kit/qr-code.ts'
import { verifyAddress } from './verify.page.ts'

/** Second factors belong to a person and apply in all organizations. */
export const FACTORS = `${PORTAL_PREFIX}/factors`

const addressOf = (path: string, next: string): string => `${FACTORS}${path}?${new URLSearchParams({ next })}`
/** Page that adds a second factor. @param next the address to go on to. */
export const factorsAddress = (next: string): string => addressOf('', next)

const nextField = (next: string): Html => html`<input type="hidden" name="next" value="${next}">`

/** @param isAsked true if an organization requires a second factor. */
export const chooseFactorPage = (next: string, { isAsked, hasPasskeys }: { isAsked: boolean; hasPasskeys: boolean }): Page => {
  const methodLink = (path: string, name: IconName, label: string, about: string) =>
    html`<a class="btn h-auto w-full justify-start gap-4 py-3 text-left" href="${addressOf(path, next)}">${icon(name, 'size-5')}<span><span class="block">${label}</span><span class="text-base-content/70 block font-normal">${about}</span></span></a>`
  return {
    title: isAsked ? 'Set up two-step sign-in' : 'Add a second step',
    body: html`<p>${isAsked ? 'Your organization asks for a second step at sign-in, so that a stolen password is not enough. Choose one:' : 'A second step keeps a stolen password from being enough. Choose one:'}</p>
<div class="space-y-2">
${hasPasskeys && methodLink('/passkey', 'key-round', 'A passkey', 'Your fingerprint, face, PIN or security key')}
${methodLink('/app', 'smartphone', 'An authenticator app', 'It shows a code of six digits on your phone')}
</div>
${
  isAsked
    ? html`<form method="post" action="${PORTAL_PREFIX}/sign-out"><button class="btn btn-ghost w-full">Sign out</button></form>`
    : html`<p class="text-center text-sm"><a href="${next}">Cancel</a></p>`
}`,
  }
}

export const authenticatorPage = (form: Form, offer: AppOffer, next: string): Page => ({
  title: 'Set up an authenticator app',
  body: html`${mistakes(form)}<ol class="list-decimal space-y-4 pl-5">
<li><p>Open an authenticator app on your phone, such as Google Authenticator, Microsoft Authenticator or 1Password, and scan this picture.</p>
<div class="my-3 grid place-items-center">${qrCode(offer.url, 'QR code for the authenticator app')}</div>
<details><summary class="text-sm font-medium">Can’t scan it?</summary>
<p class="hint my-2">Type this key into the app instead.</p>
${copyBox('secret', offer.secret.match(/.{1,4}/g)!.join(' '))}</details></li>
<li><p class="mb-3">Enter the six digits that the app shows.</p>
<form method="post" action="${FACTORS}/app">
${nextField(next)}<input type="hidden" name="sealed" value="${offer.sealed}">
${field(form, { name: 'code', label: 'Code', autocomplete: 'one-time-code' })}
${field(form, { name: 'name', label: 'Name', value: 'Authenticator app', hint: 'So that you recognize it later.' })}
<button class="btn btn-primary w-full">Turn on</button>
</form></li>
</ol>
<p class="text-center text-sm"><a href="${addressOf('', next)}">Back</a></p>`,
})

/** @param offer null if the service's address can't have passkeys. */
export const passkeyPage = (form: Form, offer: PasskeyOffer | null, next: string): Page => ({
  title: 'Create a passkey',
  script: assets.passkeys,
  body: html`${mistakes(form)}<p>A passkey is kept by your device, your password manager, or a security key. You confirm it with your fingerprint, face or PIN, and need no password.</p>
${
  offer
    ? html`${passkeyForm({
        action: 'create',
        address: `${FACTORS}/passkey`,
        options: offer.options,
        label: 'Create passkey',
        fields: html`${nextField(next)}<input type="hidden" name="sealed" value="${offer.sealed}">${field(form, { name: 'name', label: 'Name', value: 'Passkey', hint: 'So that you recognize it later, such as “Work laptop”.' })}`,
      })}<noscript><p>Passkeys need JavaScript. Use an authenticator app instead.</p></noscript>`
    : html`<p>Browsers don’t support passkeys at this address. Use an authenticator app instead.</p>`
}
<p class="text-center text-sm"><a href="${addressOf('', next)}">Back</a></p>`,
})

/** Recovery codes, shown only once. */
export const recoveryCodesPage = (codes: readonly string[], next: string): Page => ({
  title: 'Save your recovery codes',
  body: html`<p>Two-step sign-in is on. If you lose your second step, each of these codes signs you in once, after your password. They are shown only now: keep them somewhere safe, not in this browser.</p>
<pre class="secret rounded-field border-base-300 bg-base-200 grid gap-1 border p-4 text-center text-sm" id="codes">${codes.join('\n')}</pre>
<div class="flex flex-wrap gap-2 print:hidden"><button class="btn grow" hidden data-copy="codes" type="button">${icon('copy')}Copy</button><button class="btn grow" hidden data-save="codes" data-file="recovery-codes.txt" type="button">${icon('download')}Download</button><button class="btn grow" hidden data-print type="button">${icon('printer')}Print</button></div>
<p class="print:hidden"><a class="btn btn-primary w-full" href="${next}">I have saved them</a></p>`,
})

type Facts = { ctx: Context; next: string; isProven: boolean; factors: readonly Factor[]; recoveryCodes: number }

/** The section of My account. */
export function factorsPanel({ ctx, next, isProven, factors, recoveryCodes }: Facts): Html {
  if (!isProven)
    return panel(
      'factors',
      'Two-step sign-in',
      html`<p class="mb-4">Verify your address first. Then you can add a second step, or link another account to sign in with.</p><a class="btn" href="${verifyAddress(next)}">Verify my address</a>`,
    )
  const add = html`<a class="btn" href="${addressOf('', next)}">${icon('plus')}Add ${factors.length > 0 ? 'another' : 'a second step'}</a>`
  if (factors.length === 0)
    return panel(
      'factors',
      'Two-step sign-in',
      html`<p class="mb-4">Only your password protects this account. With a second step, somebody who learns it still can’t sign in.</p>${add}`,
    )
  return panel(
    'factors',
    'Two-step sign-in',
    html`<ul class="divide-base-300 divide-y">${factors.map((factor) => item(ctx, next, factor))}</ul>
<p class="my-4">${recoveryCodes > 2 ? `You have ${recoveryCodes} of ${RECOVERY_CODES} recovery codes left.` : html`<strong>${recoveryCodes === 0 ? 'You have no recovery codes left.' : `You have only ${recoveryCodes} recovery ${recoveryCodes === 1 ? 'code' : 'codes'} left.`}</strong> Create new ones, so that you can sign in when you lose the rest.`}</p>
<div class="flex flex-wrap gap-2">${add}<form method="post" action="${FACTORS}/recovery-codes">${nextField(next)}<button class="btn">Create new recovery codes</button></form></div>`,
  )
}

const KINDS = { totp: 'Authenticator app', passkey: 'Passkey' }

const describe = ({ kind, isSynced }: Factor): string => `${KINDS[kind]}${isSynced ? ', synced between your devices' : ''}`

const item = (ctx: Context, next: string, factor: Factor): Html =>
  html`<li class="flex items-center gap-3 py-3">${icon(factor.kind === 'totp' ? 'smartphone' : 'key-round', 'size-5')}<div class="min-w-0 grow"><p class="truncate font-medium">${factor.name}</p><p class="text-base-content/70 text-sm">${describe(factor)} · ${factor.lastUsedAt ? html`last used ${timeAgo(ctx, factor.lastUsedAt)}` : html`added ${timeAgo(ctx, factor.createdAt)}`}</p></div><a class="btn btn-sm" href="${addressOf(`/${factor.id}`, next)}" aria-label="${`Change ${factor.name}`}">Change</a></li>
`

type FactorFacts = { factor: Factor; next: string; hasToStay: boolean; isLast: boolean }

/** @param one.hasToStay true if it is the last one and an organization requires one. */
export const factorPage = (form: Form, { factor, next, hasToStay, isLast }: FactorFacts): Page => ({
  title: factor.name,
  body: html`${mistakes(form)}<p class="hint">${describe(factor)}, added ${time(factor.createdAt)}</p>
<form method="post" action="${`${FACTORS}/${factor.id}`}">
${nextField(next)}${field(form, { name: 'name', label: 'Name', value: factor.name })}
<button class="btn btn-primary">Save name</button>
</form>
${
  hasToStay
    ? html`<p class="hint">Your organization asks for a second step, and this is your only one. To remove it, add another first.</p>`
    : html`<form class="border-base-300 border-t pt-4" method="post" action="${`${FACTORS}/${factor.id}/remove`}">
${nextField(next)}<p class="mb-3">${isLast ? 'After that, your password alone signs you in.' : 'After that, you can’t sign in with it.'} You are signed out everywhere else.</p>
<button class="btn text-error">Remove</button>
</form>`
}
<p class="text-center text-sm"><a href="${next}">Back</a></p>`,
})
