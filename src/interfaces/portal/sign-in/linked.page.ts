import type { Context } from '../../../domain/context.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import type { LinkedIdentity } from '../../../domain/single-sign-on/identities.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { timeAgo } from '../kit/formatting.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'

/** For members who signed in through an organization's provider: account settings apply in all organizations. */
export const accountNotOwnedPage: Page = {
  title: 'Sign in with your own password or passkey',
  body: html`<p>You have signed in through an organization. Your name, password, second step and other sessions are yours in every organization that you join: to change them, sign in with your own password or passkey.</p>
<p><a class="btn btn-primary" href="${PORTAL_PREFIX}/sign-in">Sign in</a></p>
<p>No password yet? <a href="${PORTAL_PREFIX}/forgot">Set one</a> by a link that we email you.</p>`,
}

/** Asks to confirm requests from other sites, so that no site can link an account. @param address the requested address. */
export const confirmLinkPage = (provider: string, address: string): Page => ({
  title: 'Link an account?',
  body: html`<p>Whoever signs in with that account of ${provider} will be you here. Go on only if you wanted to link one of your own.</p>
<p><a class="btn btn-primary" href="${address}">Link an account of ${provider}</a></p>`,
})

/** Refuses to remove the only sign-in method. */
export const lastSignInMethodPage = (email: string): Page => ({
  title: 'Your only sign-in method',
  body: html`<p>Without this account you could not sign in any more. Add a passkey first, or set a password: we email a link for it to <strong>${email}</strong>.</p>
<p><a class="btn btn-primary" href="${PORTAL_PREFIX}/forgot">Set a password</a></p>`,
})

type Facts = { ctx: Context; identities: readonly LinkedIdentity[]; offered: readonly OfferedProvider[] }

/** The section of My account; false if there is no identity provider. */
export function linkedPanel({ ctx, identities, offered }: Facts): Html | false {
  if (identities.length === 0 && offered.length === 0) return false
  return panel(
    'linked',
    'Other accounts that you sign in with',
    html`${
      identities.length > 0
        ? html`<ul class="divide-base-300 mb-4 divide-y">${identities.map((identity) => item(ctx, identity, pathOf(ctx, `account/identities/${identity.id}/remove`)))}</ul>`
        : html`<p class="mb-4">Link an account to sign in with it as well.</p>`
    }
<div class="flex flex-wrap gap-2">${offered.map(({ id, name, host }) => html`<a class="btn" href="${pathOf(ctx, `account/link/${id}`)}">Link an account of ${name} (${host})</a>`)}</div>`,
  )
}

/** The section of a member's page; false if no account is linked. */
export const memberLinks = (ctx: Context, memberId: string, identities: readonly LinkedIdentity[]): Html | false =>
  identities.length > 0 &&
  panel(
    'linked',
    'Single sign-on',
    html`<ul class="divide-base-300 divide-y">${identities.map((identity) => item(ctx, identity, pathOf(ctx, `members/${memberId}/identities/${identity.id}/remove`)))}</ul>
<p class="hint mt-3">After you remove one, the next person who signs in there with this member’s address is linked as this member.</p>`,
  )

const item = (ctx: Context, { provider, lastEmail, linkedAt, lastUsedAt }: LinkedIdentity, remove: string): Html =>
  html`<li class="flex flex-wrap items-center gap-3 py-3"><div class="min-w-0 grow"><p class="font-medium">${provider}</p><p class="text-base-content/70 text-sm">${lastEmail ?? 'no address'} · ${lastUsedAt ? html`last used ${timeAgo(ctx, lastUsedAt)}` : html`linked ${timeAgo(ctx, linkedAt)}`}</p></div><form method="post" action="${remove}"><button class="btn btn-sm" aria-label="${`Remove the account of ${provider}`}">Remove</button></form></li>
`
