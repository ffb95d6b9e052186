import type { Context } from '../../../domain/context.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { MemberSession } from '../../../domain/members/members-sessions.ts'
import type { AuthenticationKind } from '../../../domain/sign-in/session-access.ts'
import { nameBrowser } from '../../../domain/text/name-browser.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { panel, pathOf } from '../kit/layout.ts'
import { table } from '../kit/table.ts'

/** Sessions that can open this organization. Members end their own under My account. */
export function sessionsPanel(ctx: Context, member: Member, sessions: readonly MemberSession[]): Html {
  const address = pathOf(ctx, `members/${member.id}/sessions`)
  if (ctx.actor.kind === 'member' && ctx.actor.id === member.id)
    return panel('sessions', 'Sessions', html`<p>Yours are listed under <a href="${pathOf(ctx, 'account')}">My account</a>.</p>`)
  if (sessions.length === 0) return panel('sessions', 'Sessions', html`<p class="hint">This member is not signed in.</p>`)
  return panel(
    'sessions',
    'Sessions',
    html`<p class="hint mb-3">Signing a member out here closes this organization only. They stay signed in to their other organizations.</p>
${table(
  'sessions-heading',
  ['Browser', 'Network', 'Signed in with', 'Since', 'Last active', '(Actions)'],
  sessions.map(({ id, userAgent, network, proofs, createdAt, lastSeenAt }) => [
    nameBrowser(userAgent) || 'unknown',
    network,
    proofs.map((kind) => PROOF_NAMES[kind]).join(', '),
    time(createdAt),
    time(lastSeenAt),
    html`<form method="post" action="${`${address}/${id}/end`}"><button class="btn btn-sm">Sign out</button></form>`,
  ]),
)}`,
    sessions.length > 1 &&
      html`<form method="post" action="${`${address}/end-all`}"><button class="btn btn-sm">Sign out everywhere</button></form>`,
  )
}

const PROOF_NAMES: Record<AuthenticationKind, string> = {
  password: 'password',
  totp: 'code',
  passkey: 'passkey',
  recovery: 'recovery code',
  device: 'remembered browser',
  oidc: 'single sign-on',
}
