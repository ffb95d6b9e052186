import type { Context } from '../../../domain/context.ts'
import type { SignInExceptionMember } from '../../../domain/members/sign-in-exceptions.ts'
import type { Enforcement } from '../../../domain/single-sign-on/enforcement.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { time } from '../kit/formatting.ts'
import { choice, type Form, field } from '../kit/forms.ts'
import { pathOf, settingsPanel } from '../kit/layout.ts'
import { person } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { SSO_SETTINGS } from './addresses.ts'

type EnforcementFacts = { ctx: Context; enforcement: Enforcement }

/** Required single sign-on, its conditions, and members exempt from it. */
export const enforcementPanels = (form: Form, facts: EnforcementFacts): Html =>
  html`${settingsPanel(
    'enforcement',
    'Required single sign-on',
    'Members then sign in to this organization only by single sign-on. Their passwords and passkeys work for their other organizations only.',
    html`${enforcementForm(form, facts)}${lockedOutMembers(facts)}`,
  )}${settingsPanel(
    'own-ways',
    'Exceptions',
    'These members sign in with their own passkey, or a password and a code. Guests come from outside, such as a grader from another company. An owner with emergency access can sign in when your identity provider fails. All owners then get an email.',
    exceptionsPanel(form, facts),
  )}`

function enforcementForm(form: Form, { ctx, enforcement }: EnforcementFacts): Html {
  const { enforcedAt, sessionHours, isTried, ownWays } = enforcement
  const isReady = ownWays.some(({ signInException, isReady }) => signInException === 'break_glass' && isReady)
  const hours = field(form, {
    name: 'ssoSessionHours',
    label: 'Hours until members go to the identity provider again',
    type: 'number',
    value: String(sessionHours),
    hint: '1 to 24. Members who lose their account at the provider are signed out here after this time at the latest.',
  })
  if (enforcedAt)
    return html`<p class="mb-4">${badge('on')} since ${time(enforcedAt)}.</p>
<form method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/enforce`)}">${hours}<button class="btn">Save</button></form>
<form class="mt-4" method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/allow`)}"><button class="btn text-error">Allow other sign-in methods</button></form>`
  return html`<p class="mb-2 text-sm font-medium">Before you start</p>
<ul class="mb-4 space-y-2 text-sm">
<li>${badge(isTried ? 'tried' : 'not tried')} Open the identity provider above and press <em>Try it</em>, in this session and with its present settings.</li>
<li>${badge(isReady ? 'ready' : 'missing')} Give an owner emergency access below. They must have signed in with a passkey, or a password and a code, in the last 30 days. Two owners are better.</li>
</ul>
<form method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/enforce`)}">${hours}<button class="btn btn-primary">Require single sign-on</button></form>`
}

/** Members who would be, or are, locked out. */
function lockedOutMembers({ ctx, enforcement: { enforcedAt, reach } }: EnforcementFacts): Html {
  const { linked, byDomain, shutOut, examples } = reach
  return html`<h3 class="mt-6 mb-1.5 text-sm font-medium" id="shut-out-heading">${shutOut === 0 ? 'Nobody is locked out' : `${formatCount(shutOut, 'member')} ${enforcedAt ? 'locked out' : 'would be locked out'}`}</h3>
<p class="hint mb-2">Linked to the identity provider: ${linked}. Linked when they first sign in there, by an address of a verified domain: ${byDomain}.${shutOut > 0 && ' The others are locked out: verify their domain, ask them to link their account under “My account”, or add them as guests.'}</p>
${
  shutOut > 0 &&
  html`${table(
    'shut-out-heading',
    ['Member'],
    examples.map(({ id, email, name }) => [person({ name, email, address: pathOf(ctx, `members/${id}`) })]),
  )}${shutOut > examples.length && html`<p class="hint mt-2">The first ${examples.length}.</p>`}`
}`
}

export const EXCEPTION_LABELS: Record<string, string> = { guest: 'Guest', break_glass: 'Owner with emergency access' }

function exceptionsPanel(form: Form, { ctx, enforcement }: EnforcementFacts): Html {
  const action = (member: SignInExceptionMember) => pathOf(ctx, `${SSO_SETTINGS}/own-ways/${member.id}/end`)
  return html`${
    enforcement.ownWays.length > 0 &&
    html`<div class="mb-6">${table(
      'own-ways-heading',
      ['Member', 'As', 'In the last 30 days', '(Actions)'],
      enforcement.ownWays.map((member) => [
        person({ name: member.name, email: member.email, address: pathOf(ctx, `members/${member.id}`) }),
        EXCEPTION_LABELS[member.signInException] ?? member.signInException,
        member.signInException === 'break_glass' ? badge(member.isReady ? 'used' : 'not used') : '',
        html`<form method="post" action="${action(member)}"><button class="btn btn-sm text-error" aria-label="${`Remove ${member.email}`}">Remove</button></form>`,
      ]),
    )}</div>`
  }<form method="post" action="${pathOf(ctx, `${SSO_SETTINGS}/own-ways`)}">
${field(form, { name: 'email', label: 'Email address', type: 'email', hint: 'You can add a guest who is not a member yet. Invite them under Members afterwards.' })}
${choice(form, { name: 'signInException', label: 'As', value: 'guest', options: Object.entries(EXCEPTION_LABELS) })}
<button class="btn">Add</button>
</form>`
}
