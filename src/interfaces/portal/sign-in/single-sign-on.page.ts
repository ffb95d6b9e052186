import type { IdToken } from '../../../domain/ports/identity-provider.ts'
import type { OfferedProvider } from '../../../domain/single-sign-on/find-providers.ts'
import type { ProviderSignInProblem } from '../../../domain/single-sign-on/oidc-callback.ts'
import { type Html, html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { time } from '../kit/formatting.ts'
import type { Page } from '../kit/layout.ts'
import { factList } from '../kit/parts.ts'

export const providerAddress = (id: string, next?: string): string =>
  `${PORTAL_PREFIX}/sign-in/with/${id}${next ? `?${new URLSearchParams({ next })}` : ''}`

/**
 * A link to an identity provider. Never a form: the portal's policy stops forms whose response redirects to another site.
 *
 * @param look.hasFocus true for the main one.
 */
export const providerLink = ({ id, name, host }: OfferedProvider, next: string, { hasFocus = false } = {}): Html =>
  html`<a class="btn btn-primary w-full" href="${providerAddress(id, next)}" ${hasFocus && html`autofocus`}>Continue to ${name} (${host})</a>`

export const continuePage = (providers: readonly OfferedProvider[], email: string, next: string): Page =>
  providers.length > 0
    ? {
        title: 'Sign in with your organization',
        body: html`<p>You sign in at your organization’s own sign-in page${email && html`, as <strong>${email}</strong>`}.</p>
<div class="space-y-2">${providers.map((provider, i) => providerLink(provider, next, { hasFocus: i === 0 }))}</div>
${backLink}`,
      }
    : {
        title: 'No single sign-on for this address',
        body: html`<p>No organization here signs in people with an address like <strong>${email}</strong> by a sign-in service of its own. Sign in with your password or a passkey. If your organization does have single sign-on, ask its admin for your sign-in link.</p>
${backLink}`,
      }

/** Shown after signing out. @param signOutAddress address that signs out of the provider as well. */
export const signedOutPage = (provider: string, signOutAddress: string | null): Page => ({
  title: 'You are signed out',
  body: html`<p>You are signed out here.${signOutAddress !== null && ` At ${provider} you may still be signed in.`}</p>
${signOutAddress !== null && html`<a class="btn btn-primary w-full" href="${signOutAddress}">Sign out of ${provider}, too</a>`}
${backLink}`,
})

const backLink = html`<p class="text-center text-sm"><a href="${PORTAL_PREFIX}/sign-in">Back to sign-in</a></p>`

type RefusedSignIn = { problem: ProviderSignInProblem; provider: string; organization: string | null; retryAddress: string }

/** Reason of a refused sign-in, and what to do. Technical details are on the provider's settings page. */
export function signInRefusedPage({ problem, provider, organization, retryAddress }: RefusedSignIn): Page {
  const { title, text, canRepeat = false } = words[problem]
  return {
    title,
    body: html`<p>${text({ provider, organization, admin: adminOf(organization) })}</p>
${canRepeat && html`<a class="btn btn-primary w-full" href="${retryAddress}">Try again</a>`}
${backLink}`,
  }
}

/** @param organization null for the operator's provider. */
const adminOf = (organization: string | null): string =>
  organization === null ? 'the operator of this service' : `an admin of ${organization}`

/** @property organization null for the operator's provider. */
type Facts = { provider: string; organization: string | null; admin: string }
type ProblemTexts = { title: string; text: (facts: Facts) => string; canRepeat?: boolean }

const words: Record<ProviderSignInProblem, ProblemTexts> = {
  expiredSignIn: {
    title: 'Please start again',
    text: () => 'This sign-in began in another browser, took longer than ten minutes, or was used already.',
    canRepeat: true,
  },
  idpDenied: {
    title: 'Sign-in was canceled',
    text: ({ provider }) => `${provider} has not let you in, or you have canceled there.`,
    canRepeat: true,
  },
  idpUnreachable: {
    title: 'The sign-in service can’t be reached',
    text: ({ provider, admin }) =>
      `${provider} does not answer as it should. Please try again in a minute. If it stays so, tell ${admin}.`,
    canRepeat: true,
  },
  clock: {
    title: 'The clocks differ',
    text: ({ provider, admin }) =>
      `The time at ${provider} and the time here are too far apart to trust the sign-in. Please tell ${admin}.`,
    canRepeat: true,
  },
  badToken: {
    title: 'The sign-in can’t be trusted',
    text: ({ provider, organization, admin }) =>
      `What ${provider} has sent is not what was asked for. Please tell ${admin}, who sees the reason in the ${organization === null ? 'log' : 'settings'}.`,
    canRepeat: true,
  },
  claimMissing: {
    title: 'This account is not let in',
    text: ({ provider, organization }) =>
      `${organization} lets in only some accounts of ${provider}, and yours is not one of them. Sign in there with another account, or ask an admin.`,
    canRepeat: true,
  },
  notInvited: {
    title: 'You are not a member yet',
    text: ({ provider, organization }) =>
      `${provider} knows you, but here nobody has invited you, or your account is not linked. Ask an admin of ${organization ?? 'your organization'} for an invitation. If you have joined with a password, sign in with it and link your account under “My account”.`,
  },
  inactive: {
    title: 'Your membership has ended',
    text: ({ organization }) =>
      `You were a member of ${organization ?? 'an organization here'} and are deactivated. Only its admins can bring you back.`,
  },
  otherIdentity: {
    title: 'This address belongs to another account',
    text: ({ provider, admin }) =>
      `Somebody with your address signed in before with another account of ${provider}. If that was you, ask ${admin} to remove the old account from your page under Members; then sign in again.`,
  },
  hasAccount: {
    title: 'You have an account already',
    text: () =>
      'There is an account with this address. Open the link in your invitation again and enter its password. Then link your account under “My account”.',
  },
  needsMailedLink: {
    title: 'Open the link in your email',
    text: () =>
      'Somebody passed this link on, so it does not prove the email address. Join by the link in the invitation email, or join with a password.',
  },
  unproven: {
    title: 'Verify your address first',
    text: () => 'Choose “Verify my address” under “My account”. Then link the account.',
  },
  needsSso: {
    title: 'Join through your organization',
    text: ({ provider }) =>
      `Your organization lets in nobody by ${provider}. Open the link in your invitation again: it leads to your organization’s own sign-in page.`,
  },
  otherPerson: {
    title: 'That is somebody else',
    text: ({ provider }) =>
      `To confirm that it’s you, sign in with your own account: at ${provider}, another one has signed in. Nothing was changed. Sign in there with the account that you use here.`,
    canRepeat: true,
  },
  linkedElsewhere: {
    title: 'This account is linked to somebody else',
    text: ({ provider }) =>
      `Another person here signs in with this account of ${provider}. They have to unlink it under “My account” first.`,
  },
}

/** Short reason of a refused sign-in. Problems recorded by a newer release are shown as they are. */
export const labelProblem = (problem: string): string =>
  Object.hasOwn(words, problem) ? words[problem as ProviderSignInProblem].title : problem

/** Result of a test sign-in. */
export const testResultPage = (token: IdToken, returnPath: string): Page => ({
  title: 'It works',
  body: html`<p>The connection works. Nobody was signed in. The provider sent:</p>
${factList([
  ['Issuer', token.issuer],
  ['Subject (sub)', token.subject],
  ['Address (email)', token.email ?? 'none'],
  ['Verified there (email_verified)', token.emailVerified === null ? 'not said' : token.emailVerified ? 'yes' : 'no'],
  ['Name', `${token.givenName} ${token.familyName}`.trim() || 'none'],
  ['Signed in there (auth_time)', token.authTime ? time(token.authTime) : 'not said'],
  ['How (amr)', token.amr.join(', ') || 'not said'],
  ['At which level (acr)', token.acr ?? 'not said'],
  ['Session there (sid)', token.sid ?? 'not said'],
])}
<a class="btn btn-primary w-full" href="${returnPath}">Back to the settings</a>`,
})
