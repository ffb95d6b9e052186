import type { Context } from '../../../domain/context.ts'
import { dnsRecordOf, type SignInDomain } from '../../../domain/single-sign-on/domains.ts'
import type { Enforcement } from '../../../domain/single-sign-on/enforcement.ts'
import { withDraft } from '../../../domain/single-sign-on/provider-secrets.ts'
import { isTested, type Provider } from '../../../domain/single-sign-on/providers.ts'
import { DAY_MS } from '../../../domain/time/days.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf, settingsPanel } from '../kit/layout.ts'
import { copyBox, factList, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { SSO_SETTINGS } from './addresses.ts'
import { enforcementPanels } from './enforcement.page.ts'
import { providerFields } from './provider.form.ts'

const GUIDE = '/docs/guides/single-sign-on'

const NOTICES = new Map([
  ['saved', 'The identity provider is saved. Try it before your members do.'],
  ['waits', 'The new settings are a draft. Try it: members use them once that has worked.'],
  ['discarded', 'The draft is discarded.'],
  ['removed', 'The identity provider is removed.'],
  ['relink', 'For seven days, members who are linked already are linked again by their address.'],
  ['domain', 'The domain is added. Publish its record, then verify it.'],
  ['verified', 'The domain is verified.'],
  ['unverified', 'The record was not found. Name servers can take an hour to show a new one.'],
  ['gone', 'The domain is removed.'],
  ['enforced', 'Single sign-on is now required.'],
  [
    'stopped',
    'The settings are saved, but not tried yet. Until then single sign-on is not required. Try it, then require it again.',
  ],
  ['allowed', 'Members can sign in with their passwords and passkeys again.'],
  ['sign-in-exception', 'The exceptions are saved.'],
])

type Facts = {
  ctx: Context
  providers: readonly Provider[]
  domains: readonly SignInDomain[]
  done: string
  enforcement: Enforcement
}

export const singleSignOnPage = (form: Form, { ctx, providers, domains, done, enforcement }: Facts): Page => ({
  title: 'Single sign-on',
  trail: [['Settings', pathOf(ctx, 'settings')]],
  subtitle: 'Members sign in at your own identity provider, by OpenID Connect.',
  notice: NOTICES.get(done),
  actions: providers.length > 0 && linkButton(pathOf(ctx, `${SSO_SETTINGS}/new`), 'Add another provider', 'plus'),
  body: html`${mistakes(form)}${providers.map((provider) => warnOfSecret(ctx, provider))}${
    providers.length === 0
      ? panel(
          'providers',
          'Identity provider',
          html`<p class="mb-4">Your members have accounts with Entra ID, Okta, Google Workspace, Keycloak or another provider? Then they can sign in with those, and lose access here when they lose it there. <a href="${GUIDE}">How to set it up</a></p>${linkButton(pathOf(ctx, `${SSO_SETTINGS}/new`), 'Set up single sign-on', 'plus', 'main')}`,
        )
      : panel('providers', 'Identity providers', providerTable(ctx, providers))
  }${settingsPanel(
    'domains',
    'Domains',
    'The identity provider counts only for addresses in your domains. Invite people with other addresses.',
    html`${domains.map((domain) => domainItem(ctx, domain))}
<form class="mt-4" method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/domains`)}">
${field(form, { name: 'domain', label: 'Add a domain', hint: 'The part after the @, such as example.com.' })}
<button class="btn">Add domain</button>
</form>`,
  )}${(providers.length > 0 || enforcement.ownWays.length > 0) && enforcementPanels(form, { ctx, enforcement })}`,
})

/** Days before a secret expires from which a warning is shown. */
const WARNED_DAYS = 30

const warnOfSecret = ({ deps }: Context, { name, secretExpiresAt }: Provider): Html | false =>
  secretExpiresAt !== null &&
  secretExpiresAt.getTime() - deps.clock().getTime() < WARNED_DAYS * DAY_MS &&
  html`<div class="alert alert-soft alert-warning" role="status"><p>The client secret of ${name} ${secretExpiresAt > deps.clock() ? 'expires' : 'expired'} on ${secretExpiresAt.toISOString().slice(0, 10)}. Create another one at your provider and enter it here: nobody can sign in with an expired one.</p></div>\n`

const providerTable = (ctx: Context, providers: readonly Provider[]): Html =>
  table(
    'providers-heading',
    ['Provider', 'Issuer', 'Status', 'Last error'],
    providers.map((provider) => [
      html`<a class="named" href="${pathOf(ctx, `${SSO_SETTINGS}/providers/${provider.id}`)}">${provider.name}</a>`,
      html`<span class="address">${provider.issuer}</span>`,
      badge(isTested(ctx, provider) ? 'tried' : 'not tried'),
      provider.lastErrorAt ? html`${provider.lastError}, ${time(provider.lastErrorAt)}` : 'none',
    ]),
  )

function domainItem(ctx: Context, domain: SignInDomain): Html {
  const { name, value } = dnsRecordOf(domain)
  const action = (verb: string) => pathOf(ctx, `${SSO_SETTINGS}/domains/${domain.id}/${verb}`)
  const state = domain.verifiedAt ? badge(domain.failingSince ? 'failing' : 'verified') : badge('not verified')
  const isOpen = !domain.verifiedAt || domain.failingSince
  return html`<div class="border-base-300 border-b py-4 first:pt-0">
<div class="flex flex-wrap items-center gap-3"><span class="font-medium">${domain.domain}</span>${state}<span class="grow"></span>
<form method="post" action="${action('verify')}"><button class="btn btn-sm" aria-label="${`Verify ${domain.domain}`}">Verify</button></form>
<form method="post" action="${action('remove')}"><button class="btn btn-sm text-error" aria-label="${`Remove ${domain.domain}`}">Remove</button></form></div>
${
  isOpen &&
  html`<p class="hint my-3">${domain.failingSince ? html`The record has been missing since ${time(domain.failingSince)}. After 30 days nobody new can sign in with an address of this domain.` : 'Publish this TXT record in the domain’s DNS, to show that it is yours:'}</p>
${copyBox(`name-${domain.id}`, name, 'Copy name')}${copyBox(`value-${domain.id}`, value, 'Copy value')}`
}
</div>
`
}

const trailOf = (ctx: Context): [string, string][] => [
  ['Settings', pathOf(ctx, 'settings')],
  ['Single sign-on', pathOf(ctx, SSO_SETTINGS)],
]

export const newProviderPage = (form: Form, ctx: Context): Page => ({
  title: 'Set up single sign-on',
  trail: trailOf(ctx),
  body: html`${mistakes(form)}${panel(
    'provider',
    'Identity provider',
    html`<p class="hint mb-4">Create an OpenID Connect application for the web (with a client secret) at your provider first. It asks for addresses that this page shows once you have saved: enter a placeholder until then. <a href="${GUIDE}">Step by step for Entra ID, Okta, Google and Keycloak</a></p>
<form method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/providers`)}">
${providerFields(form, null)}
<button class="btn btn-primary">Save</button>
</form>`,
  )}`,
})

export function providerPage(form: Form, { ctx, provider, done }: { ctx: Context; provider: Provider; done: string }): Page {
  const action = (subpath: string) => pathOf(ctx, `${SSO_SETTINGS}/providers/${provider.id}${subpath}`)
  const { links } = ctx.deps
  return {
    title: provider.name,
    trail: trailOf(ctx),
    state: badge(isTested(ctx, provider) ? 'tried' : 'not tried'),
    notice: NOTICES.get(done),
    actions: linkButton(action('/try'), 'Try it', 'circle-play', 'main'),
    body: html`${mistakes(form)}${
      provider.encryptedDraft &&
      html`<div class="alert alert-soft alert-warning" role="status"><p>The issuer, client or secret below is a draft. Members sign in with the old settings until <em>Try it</em> has worked.</p><form method="post" action="${action('/discard')}"><button class="btn btn-sm">Discard the draft</button></form></div>\n`
    }${
      provider.lastErrorAt &&
      html`<div class="alert alert-soft alert-error" role="status"><p>The last sign-in that failed, at ${time(provider.lastErrorAt)}: <code>${provider.lastError}</code>. <a href="${`${GUIDE}#errors`}">What it means</a></p></div>\n`
    }${panel(
      'addresses',
      'What your provider asks for',
      html`<h3 class="mb-1.5 text-sm font-medium">Redirect URI</h3>${copyBox('callback', links.signInUrl(provider.id, 'callback'))}
<h3 class="mt-4 mb-1.5 text-sm font-medium">Initiate login URI</h3>${copyBox('initiate', links.signInUrl(provider.id, 'initiate'))}
<h3 class="mt-4 mb-1.5 text-sm font-medium">Back-channel logout URI</h3>${copyBox('logout', links.signInUrl(provider.id, 'logout'))}
<h3 class="mt-4 mb-1.5 text-sm font-medium">Your members’ sign-in link</h3>${copyBox('sign-in', links.signInUrl(provider.id))}`,
    )}${panel(
      'provider',
      'Settings',
      html`<form method="post" action="${action('')}">
${providerFields(form, withDraft(ctx, provider))}
<button class="btn">Save</button>
</form>`,
    )}${panel(
      'state',
      'Status',
      html`${factList([
        [
          'Tried',
          provider.testedAt
            ? isTested(ctx, provider)
              ? time(provider.testedAt)
              : html`${time(provider.testedAt)}, with other settings`
            : 'not yet',
        ],
        ['Says when somebody signed in (auth_time)', provider.testedAt && (provider.sendsAuthTime ? 'yes' : 'no')],
        [
          'Members are linked again until',
          provider.relinkUntil && provider.relinkUntil > ctx.deps.clock() && time(provider.relinkUntil),
        ],
      ])}
<form class="mt-4" method="post" action="${action('/relink')}"><p class="hint mb-2">After a change of client or tenant, your provider may use other identifiers for your members. Link them again then.</p><button class="btn">Link members again for seven days</button></form>
<form class="mt-6" method="post" action="${action('/remove')}"><p class="hint mb-2">After that, nobody can sign in with it, and its sessions end. Members stay.</p><button class="btn text-error">Remove</button></form>`,
    )}`,
  }
}
