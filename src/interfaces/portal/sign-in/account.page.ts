import type { SessionSummary, SignedIn } from '../../../domain/access/sessions.ts'
import type { Context } from '../../../domain/context.ts'
import { PAGE_SIZES } from '../../../domain/limits.ts'
import { TIME_ZONES } from '../../../domain/members/preferences.ts'
import { type Html, html } from '../../../html/html.ts'
import { choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'
import { newPasswordField } from './join.page.ts'

type Facts = { ctx: Context; signedIn: SignedIn; sessions: SessionSummary[]; done: string | undefined }

const NOTICES = new Map([
  ['name', 'Your name is changed.'],
  ['preferences', 'Your preferences are saved.'],
  ['password', 'Your password is changed, and you are signed out everywhere else.'],
  ['session', 'That session is signed out.'],
  ['sessions', 'You are signed out everywhere else.'],
])

export function accountPage(form: Form, { ctx, signedIn, sessions, done = '' }: Facts): Page {
  const { user, timeZone, pageSize } = signedIn.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)!
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
<noscript><p class="hint mb-4">Your browser runs no JavaScript: times are in UTC.</p></noscript>
${choice(form, {
  name: 'pageSize',
  label: 'Rows per page',
  value: String(pageSize ?? PAGE_SIZES[0]),
  options: PAGE_SIZES.map((size): [string, string] => [String(size), String(size)]),
})}
<button class="btn">Save preferences</button>
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
<section class="panel" aria-labelledby="sessions-heading">
<h2 class="mb-4" id="sessions-heading">Where you are signed in</h2>
${sessionTable(ctx, signedIn, sessions)}
${sessions.length > 1 && html`<form method="post" action="${pathOf(ctx, 'account/sessions/end-others')}"><button class="btn">Sign out everywhere else</button></form>`}
</section>`,
  }
}

const sessionTable = (ctx: Context, { sessionId }: SignedIn, sessions: SessionSummary[]): Html =>
  table(
    'sessions-heading',
    ['Browser', 'Network', 'Since', 'Last active', '(Actions)'],
    sessions.map(({ id, userAgent, network, createdAt, lastSeenAt }) => [
      wordBrowser(userAgent),
      network,
      time(createdAt),
      time(lastSeenAt),
      id === sessionId
        ? html`${badge('this session')}`
        : html`<form method="post" action="${pathOf(ctx, `account/sessions/${id}/end`)}"><button class="btn">Sign out</button></form>`,
    ]),
  )

/** What browsers and systems call themselves, those that also name another before that one. */
const BROWSERS = [
  ['Edge', /Edg(e|A|iOS)?\//],
  ['Opera', /OPR\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrome|Chromium|CriOS)\//],
  ['Safari', /Safari\//],
] as const
const SYSTEMS = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
] as const

/** A browser as its user knows it: "Firefox, Windows"; one that is not known as it names itself. */
function wordBrowser(userAgent: string): string {
  const words = [BROWSERS, SYSTEMS].map((names) => names.find(([, pattern]) => pattern.test(userAgent))?.[0])
  return words.filter((word) => word !== undefined).join(', ') || userAgent || 'unknown'
}
