import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { PAGE_SIZES } from '../../../domain/limits.ts'
import { TIME_ZONES } from '../../../domain/members/preferences.ts'
import type { SessionSummary } from '../../../domain/sign-in/end-sessions.ts'
import type { Factor } from '../../../domain/sign-in/factors.ts'
import type { SignedIn } from '../../../domain/sign-in/sessions.ts'
import type { TrustedDevice } from '../../../domain/sign-in/trusted-devices.ts'
import { nameBrowser } from '../../../domain/text/name-browser.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { factorsPanel } from './factors.page.ts'
import { newPasswordField } from './join.page.ts'

type Facts = {
  ctx: Context
  signedIn: SignedIn
  factors: readonly Factor[]
  recoveryCodes: number
  linked: Html | false
  sessions: SessionSummary[]
  browsers: readonly TrustedDevice[]
  done: string | undefined
}

const DIGEST_OPTIONS = [
  ['grading_digest', 'Submissions that wait for my grade'],
  ['expiring_digest', 'My invites that expire within two days'],
  ['bounce_digest', 'Undelivered emails to candidates'],
  ['open_digest', 'Candidates who came by open links'],
] as const

const NOTICES = new Map([
  ['name', 'Your name is changed.'],
  ['preferences', 'Your preferences are saved.'],
  ['password', 'Your password is changed, and you are signed out everywhere else.'],
  ['linked', 'The account is linked: you can sign in with it from now on.'],
  ['unlinked', 'The account is unlinked.'],
  ['factor-added', 'Your second step is added, and you are signed out everywhere else.'],
  ['factor-renamed', 'The name is changed.'],
  ['factor-removed', 'The second step is removed, and you are signed out everywhere else.'],
  ['ownership', 'Your answer is saved, and the owners get an email.'],
  ['session', 'That session is signed out.'],
  ['browser', 'That browser is asked for your second step again.'],
  ['sessions', 'You are signed out everywhere else.'],
])

export function accountPage(
  form: Form,
  { ctx, signedIn, factors, recoveryCodes, linked, sessions, browsers, done = '' }: Facts,
): Page {
  const { user, timeZone, pageSize, notices } = signedIn.memberships.find(
    ({ organizationId }) => organizationId === ctx.organization.id,
  )!
  return {
    title: 'My account',
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="name-heading">
<h2 class="mb-4" id="name-heading">Name</h2>
<form method="post" action="${pathOf(ctx, 'account/name')}">
${field(form, { name: 'firstName', label: 'First name', value: user.firstName, autocomplete: 'given-name' })}
${field(form, { name: 'lastName', label: 'Last name', value: user.lastName, autocomplete: 'family-name' })}
<button class="btn btn-primary">Save name</button>
</form>
</section>
<section class="panel" aria-labelledby="preferences-heading">
<h2 class="mb-4" id="preferences-heading">Preferences</h2>
<form method="post" action="${pathOf(ctx, 'account/preferences')}">
${choice(form, {
  name: 'timeZone',
  label: 'Time zone',
  hint: 'Used for all times in the portal.',
  value: timeZone ?? '',
  options: [['', 'Same as my browser'], ...TIME_ZONES.map((zone): [string, string] => [zone, zone.replaceAll('_', ' ')])],
})}
<noscript><p class="hint mb-4">Your browser doesn’t run JavaScript, so times are in UTC.</p></noscript>
${choice(form, {
  name: 'pageSize',
  label: 'Rows per page',
  value: String(pageSize ?? PAGE_SIZES[0]),
  options: PAGE_SIZES.map((size): [string, string] => [String(size), String(size)]),
})}
<button class="btn">Save preferences</button>
</form>
</section>
<section class="panel" aria-labelledby="notices-heading">
<h2 class="mb-4" id="notices-heading">Emails in the morning</h2>
<form method="post" action="${pathOf(ctx, 'account/preferences')}">
<input type="hidden" name="hasNotices" value="yes">
${checkboxes(form, {
  name: 'notices',
  label: 'On weekdays at 8:00, if there is something new',
  hint: 'In your time zone above, or else your organization’s. They have numbers and links, no names.',
  options: DIGEST_OPTIONS.filter(([kind]) => (kind !== 'bounce_digest' && kind !== 'open_digest') || may(ctx, 'operate_invites')),
  values: notices,
})}
<button class="btn">Save emails</button>
</form>
</section>
<section class="panel" aria-labelledby="password-heading">
<h2 class="mb-4" id="password-heading">Password</h2>
<p>You sign in with <strong>${signedIn.credential.email}</strong>.</p>
<form method="post" action="${pathOf(ctx, 'account/password')}">
<input type="hidden" name="username" value="${signedIn.credential.email}" autocomplete="username">
${field(form, { name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${newPasswordField(form, 'New password')}
<button class="btn">Change password</button>
</form>
</section>
${factorsPanel({ ctx, isProven: signedIn.credential.emailVerifiedAt !== null, factors, recoveryCodes, next: pathOf(ctx, 'account') })}${browsers.length > 0 && browsersPanel(ctx, browsers)}${linked}<section class="panel" aria-labelledby="sessions-heading">
<h2 class="mb-4" id="sessions-heading">Where you are signed in</h2>
${sessionTable(ctx, signedIn, sessions)}
${sessions.length > 1 && html`<form method="post" action="${pathOf(ctx, 'account/sessions/end-others')}"><button class="btn">Sign out everywhere else</button></form>`}
</section>${panel(
      'held',
      'Your data',
      html`<p>Download a copy of the data that ${ctx.organization.name} stores about you.</p><p class="mt-3"><a class="btn" href="${pathOf(ctx, 'account/archive')}">Download all data</a></p>`,
    )}`,
  }
}

const browsersPanel = (ctx: Context, browsers: readonly TrustedDevice[]): Html =>
  panel(
    'browsers',
    'Browsers that are not asked for your second step',
    table(
      'browsers-heading',
      ['Browser', 'Network', 'Second step given', 'Last signed in', '(Actions)'],
      browsers.map(({ id, userAgent, network, since, lastSeenAt }) => [
        nameBrowser(userAgent) || 'unknown',
        network,
        time(since),
        time(lastSeenAt),
        html`<form method="post" action="${pathOf(ctx, `account/browsers/${id}/forget`)}"><button class="btn">Ask again</button></form>`,
      ]),
    ),
  )

const sessionTable = (ctx: Context, { sessionId }: SignedIn, sessions: SessionSummary[]): Html =>
  table(
    'sessions-heading',
    ['Browser', 'Network', 'Since', 'Last active', '(Actions)'],
    sessions.map(({ id, userAgent, network, createdAt, lastSeenAt }) => [
      nameBrowser(userAgent) || 'unknown',
      network,
      time(createdAt),
      time(lastSeenAt),
      id === sessionId
        ? html`${badge('this session')}`
        : html`<form method="post" action="${pathOf(ctx, `account/sessions/${id}/end`)}"><button class="btn">Sign out</button></form>`,
    ]),
  )
