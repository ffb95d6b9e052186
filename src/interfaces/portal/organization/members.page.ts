import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { type Choice, MAX_CHOICES } from '../../../domain/invites/form-options.ts'
import type { PersonalLink } from '../../../domain/members/invite-member.ts'
import type { Language } from '../../../domain/members/manage-members.ts'
import type { ListedMember, Member, MemberOrder } from '../../../domain/members/members.ts'
import type { SecondFactorKind } from '../../../domain/members/members-factors.ts'
import type { MemberSession } from '../../../domain/members/members-sessions.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, isWebAddress } from '../../../http/pages/candidate-view.ts'
import { limitHint, nameFilterForm } from '../kit/choices.ts'
import { confirmButton } from '../kit/confirm.ts'
import { labelLanguage, time, timeAgo } from '../kit/formatting.ts'
import {
  checkbox,
  checkboxes,
  choice,
  emptyForm,
  exportButton,
  type Form,
  field,
  mistakes,
  readFields,
  seenField,
} from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { type FilteredList, filterLine, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { copyBox, linkButton, person } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { sessionsPanel } from './member-sessions.page.ts'
import { noOwnerPanel, type OwnershipFacts, ownershipActions } from './owners.page.ts'
import { FILTERED_ROLES, hintOf, ROLES, rolesOf } from './roles.ts'

const NOTICES = new Map([
  ['saved', 'The changes are saved.'],
  ['client', 'The changes are saved. Choose below which assessments this client sees.'],
  ['shared', 'The shared assessments are saved.'],
  ['deactivated', 'The member is deactivated and can no longer sign in.'],
  ['reactivated', 'The member is active again, with these roles.'],
  ['owner', 'You are an owner of this organization now.'],
  ['offered', 'The offer is made. The member and all owners get an email.'],
  ['withdrawn', 'The offer is withdrawn.'],
  ['no-owner', 'The member is no longer an owner, and stays an admin.'],
  ['session', 'The session is signed out of this organization. The member gets an email.'],
  ['sessions', 'The member is signed out of this organization, and gets an email.'],
  [
    'factors',
    'The second step is reset. The member gets an email with a link to set a new password, and can then set up a new one.',
  ],
])

const namesOf = ({ user }: Pick<Member, 'user'>): string => `${user.firstName} ${user.lastName}`.trim()
const calledOf = (member: Pick<Member, 'user' | 'email'>): string => namesOf(member) || member.email

const stateOf = ({ status, credentialId }: Pick<Member, 'status' | 'credentialId'>): string => {
  if (status === 'inactive') return 'deactivated'
  return credentialId ? 'active' : 'invited to join'
}

export const membersPage = (ctx: Context, found: FilteredList<ListedMember> & { isOwnerNamed: boolean }): Page => ({
  title: 'Members',
  actions: linkButton(pathOf(ctx, 'members/invite'), 'Invite a member', 'user-plus', 'main'),
  body: html`${mistakes(found.form)}${!found.isOwnerNamed && noOwnerPanel(ctx)}<section class="panel" aria-labelledby="members-heading">
<h2 class="mb-4" id="members-heading">${found.list.total === 1 ? 'One member' : html`${found.list.total} members`}</h2>
${filterLine(
  pathOf(ctx, 'members'),
  found.form.values,
  html`${field(found.form, { name: 'search', label: 'Name or email', type: 'search', optional: true })}
${field(found.form, { name: 'department', label: 'Department', optional: true })}
${choice(found.form, {
  name: 'role',
  label: 'Role',
  options: [['', 'Every role'], ...FILTERED_ROLES.map((role): [string, string] => [role, role])],
})}
${choice(found.form, {
  name: 'status',
  label: 'Status',
  options: [
    ['', 'Every status'],
    ['active', 'Active'],
    ['inactive', 'Deactivated'],
  ],
})}`,
  exportButton(pathOf(ctx, 'members/export')),
)}${found.list.items.length > 0 ? memberTable(ctx, found) : noRows('No members match.', pathOf(ctx, 'members'), found.form.values)}
${sizedPager(pathOf(ctx, 'members'), found.form.values, found.list)}
</section>`,
})

export const MEMBER_ORDERS = {
  address: { field: 'email', direction: 'asc' },
  'address-last': { field: 'email', direction: 'desc' },
  since: { field: 'joinedAt', direction: 'desc' },
  'since-first': { field: 'joinedAt', direction: 'asc' },
} satisfies Record<string, MemberOrder>

const memberTable = (ctx: Context, { form, list }: FilteredList<ListedMember>): Html => {
  const sorting = { path: pathOf(ctx, 'members'), query: form.values, orders: MEMBER_ORDERS as Record<string, MemberOrder> }
  return table(
    'members-heading',
    [sortable('Member, by address', 'email', sorting), 'Roles', 'Department', 'Status', sortable('Since', 'joinedAt', sorting)],
    list.items.map((member) => [
      person({ name: namesOf(member), email: member.email, address: pathOf(ctx, `members/${member.id}`) }),
      rolesOf(member),
      member.department !== '' && departmentLink(ctx, member.department),
      badge(stateOf(member)),
      timeAgo(ctx, new Date(member.joinedAt)),
    ]),
  )
}

const departmentLink = (ctx: Context, department: string): Html =>
  html`<a href="${pathOf(ctx, 'members')}?${new URLSearchParams({ department }).toString()}">${department}</a>`

/** @property named text that filters the assessments. */
type AssessmentChoices = { assessments: Choice[]; named: string }

export const inviteMemberPage = (ctx: Context, form: Form, { assessments, named }: AssessmentChoices): Page => ({
  title: 'Invite a member',
  trail: [['Members', pathOf(ctx, 'members')]],
  body: html`${mistakes(form)}${nameFilterForm(pathOf(ctx, 'members/invite'), named, [assessments])}<form class="panel" method="post" action="${pathOf(ctx, 'members/invite')}">${onceField()}
<p>They get an email with a link to set their name and password. You see the link too, in case you want to share it another way.</p>
${field(form, { name: 'email', label: 'Email address', type: 'email' })}
${checkboxes(form, { name: 'roles', label: 'Roles', options: ROLES })}
<div class="if-client">${assessmentBoxes(form, { assessments, named }, [])}</div>
${askToReactivate(form)}<div class="flex flex-wrap gap-2"><button class="btn btn-primary">Send invitation</button><a class="btn btn-ghost" href="${pathOf(ctx, 'members')}">Cancel</a></div>
</form>`,
})

const assessmentBoxes = (form: Form, { assessments, named }: AssessmentChoices, values: string[]): Html =>
  assessments.length === 0
    ? html`<p class="hint mb-4" id="assessments">${named ? 'No assessments match.' : 'There are no assessments yet. Share them with the client once you have created some.'}</p>`
    : checkboxes(form, {
        name: 'assessments',
        label: 'Assessments the client sees',
        options: assessments.map(({ id, name }) => [id, name]),
        values,
        isLong: assessments.length > SHORT_LIST,
        hint: `Clients see released results of these, and nothing else. ${limitHint(assessments).hint ?? ''}`.trim(),
      })
const SHORT_LIST = 8

/** Asks to confirm reactivation of a deactivated member. The checkbox's value is the email address, so another address clears it. */
function askToReactivate(form: Form): Html | false {
  if (!form.issues.some((issue) => issue.rule === 'account' && issue.problem === 'deactivated')) return false
  const address = readFields(form.values, 'email').email.trim()
  return checkboxes(form, {
    name: 'reactivate',
    label: `Activate ${address} again?`,
    options: [[address, 'Yes, with the roles chosen above instead of their earlier roles']],
    hint: 'This member was deactivated. If they had joined before, they sign in with the password they had, or set a new one with “Forgot your password?”.',
  })
}

/** The invitation link, for the admin to pass on. */
export const joinLinkPage = (ctx: Context, { email, url, expiresAt }: PersonalLink & { email: string }): Page => ({
  title: 'Invitation link',
  trail: [['Members', pathOf(ctx, 'members')]],
  body: html`<section class="panel">
<p>This link is on its way to <strong>${email}</strong>. It works once, until ${time(expiresAt)}. Share it with nobody else.</p>
<div class="mt-4">${copyBox('link', url)}</div>
<p class="hint mt-2">The link in the email also verifies the address. People who join by this copy verify their address before they add a second step.</p>
${linkButton(pathOf(ctx, 'members'), 'Back to members', undefined, 'main')}
</section>`,
})

type Facts = {
  ctx: Context
  member: Member
  /** Names of active API keys that the member generated. */
  keys: readonly string[]
  owning: OwnershipFacts
  factors: readonly SecondFactorKind[]
  sessions: readonly MemberSession[]
  tags: Choice[]
  named: string
  /** Choices for a client, and the ids of assessments shared with them; null for other members. */
  sharing: { assessments: Choice[]; sharedIds: string[] } | null
  languages: Language[]
  done: string
}

export function memberPage(
  form: Form,
  { ctx, member, keys, owning, factors, sessions, tags, named, sharing, languages, done }: Facts,
): Page {
  return {
    title: calledOf(member),
    state: badge(stateOf(member)),
    subtitle: member.email,
    trail: [['Members', pathOf(ctx, 'members')]],
    notice: NOTICES.get(done),
    actions:
      may(ctx, 'erase_candidates') && linkButton(pathOf(ctx, `members/${member.id}/archive`), 'Download all data', 'archive'),
    body: html`${mistakes(form)}${nameFilterForm(pathOf(ctx, `members/${member.id}`), named, [tags, ...(sharing ? [sharing.assessments] : [])])}<div class="grid items-start gap-6 lg:grid-cols-3">
<form class="panel lg:col-span-2" method="post" action="${pathOf(ctx, `members/${member.id}`)}">
<h2 class="mb-4">Roles and grading</h2>
${seenField(form, member)}
${checkboxes(form, {
  name: 'roles',
  label: 'Roles',
  options: ROLES,
  values: [...member.roles, ...member.portalRoles],
  ...hintOf(member),
})}
${field(form, { name: 'department', label: 'Department', value: member.department, optional: true })}
${
  tags.length > 0
    ? checkboxes(form, {
        name: 'tags',
        label: 'Tags',
        options: tags.map(({ id, name }) => [id, name]),
        values: member.tagIds,
        ...((named !== '' || tags.length === MAX_CHOICES) && {
          hint: `Their own, and ${named === '' ? '' : 'of those found '}the first ${MAX_CHOICES.toLocaleString('en')} by name.`,
        }),
      })
    : html`<p id="tags" class="hint">There are no tags yet.</p>`
}
${
  languages.length > 0
    ? checkboxes(form, {
        name: 'languages',
        label: 'Grading languages',
        options: languages.map(({ id, code }) => [id, labelLanguage(code)]),
        values: member.gradingLanguageIds,
        isLong: languages.length > SHORT_LIST,
        hint: 'Languages of the answers this member can grade. Assessments that assign graders go by these.',
      })
    : html`<p id="languages" class="hint">There are no languages yet: they come from your assessments.</p>`
}
${checkbox(form, { name: 'canViewTranscription', label: 'May read transcripts of recordings', checked: member.canViewTranscription })}
<p class="hint">Of the recorded answers this member can hear. Without it they see no text, no captions, and no search.</p>
<button class="btn btn-primary mt-4">Save</button>
</form>
${panel('access', 'Access', html`${pictureLink(member)}${access(form, { ctx, member, keys, owning })}${factors.length > 0 && secondStep(form, ctx, { member, factors })}`)}
</div>
${sharing && sharingPanel(form, { ctx, member, sharing, named })}${member.credentialId && member.status === 'active' && sessionsPanel(ctx, member, sessions)}`,
  }
}

const sharingPanel = (
  form: Form,
  { ctx, member, sharing, named }: Pick<Facts, 'ctx' | 'member' | 'named'> & { sharing: NonNullable<Facts['sharing']> },
): Html =>
  panel(
    'sharing',
    'Shared assessments',
    html`<form method="post" action="${pathOf(ctx, `members/${member.id}/assessments`)}">
${sharing.sharedIds.map((id) => html`<input type="hidden" name="shared" value="${id}">`)}
${assessmentBoxes(form.values.has('shared') ? form : emptyForm, { ...sharing, named }, sharing.sharedIds)}
${sharing.assessments.length > 0 && html`<button class="btn">Save shared assessments</button>`}
</form>`,
  )

/** Link to the picture, which is on another host: it is loaded only when somebody follows the link. */
const pictureLink = ({ user: { avatarUrl } }: Member): Html | false =>
  isWebAddress(avatarUrl) &&
  html`<p class="mb-4"><a href="${avatarUrl}" target="_blank" rel="noopener noreferrer">Picture at ${new URL(avatarUrl).host}</a></p>`

function access(form: Form, { ctx, member, keys, owning }: Pick<Facts, 'ctx' | 'member' | 'keys' | 'owning'>): Html {
  const address = pathOf(ctx, `members/${member.id}`)
  const erasing =
    may(ctx, 'erase_candidates') &&
    !(ctx.actor.kind === 'member' && ctx.actor.id === member.id) &&
    html`<p class="mt-4"><a href="${`${address}/erase`}">Erase the member</a></p>`
  const log =
    may(ctx, 'read_audit_log') &&
    html`<p class="mt-4"><a href="${pathOf(ctx, 'settings/audit-log')}?${new URLSearchParams({ who: member.email }).toString()}">Their activity in the audit log</a></p>`
  if (member.status === 'inactive')
    return html`<p class="mb-4">This member is deactivated and can’t sign in.</p>
${keys.length > 0 && html`<p class="mb-4">API keys that they generated still work: ${keys.join(', ')}. <a href="${pathOf(ctx, 'settings/integrations')}">Revoke them under Integrations</a></p>`}
<form method="post" action="${address}/reactivate">
${checkboxes(form, { name: 'defaultRoles', label: 'Reactivate with these roles', options: ROLES })}<button class="btn">Reactivate</button>
</form>${log}${erasing}`
  return html`${
    member.credentialId
      ? html`<p class="mb-4">This member has joined, and can sign in.</p>`
      : html`<p class="mb-4">This member has not joined yet.</p>
<form class="mb-3" method="post" action="${address}/link">${onceField()}<button class="btn">Send a new invitation link</button></form>`
  }
${confirmButton({ label: 'Deactivate', question: `Deactivate ${calledOf(member)}?`, consequence: 'They are signed out at once. You can reactivate them later.', address: `${address}/deactivate`, ...(keys.length > 0 && { hidden: remainingKeys(keys) }) })}${ownershipActions(ctx, member, owning)}${log}${erasing}`
}

/** API keys keep working after the member who created them has left. */
const remainingKeys = (names: readonly string[]): Html => html`
<p class="hint mb-2">They generated ${formatCount(names.length, 'API key')} that still work${names.length === 1 ? 's' : ''}: ${names.join(', ')}.</p>
<label class="mb-3 flex items-center gap-2.5 py-1 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="revokesKeys" value="1">Revoke ${names.length === 1 ? 'it' : 'them'} as well</label>`

/** The member's second factors, and how to reset them. Members reset their own under My account. */
const secondStep = (form: Form, ctx: Context, { member, factors }: Pick<Facts, 'member' | 'factors'>): Html => html`
<h3 class="mt-6">Two-step sign-in</h3>
<p class="mb-3">${factors.map((kind) => FACTOR_NAMES[kind]).join(', ')}</p>
${
  !(ctx.actor.kind === 'member' && ctx.actor.id === member.id) &&
  html`<details ${form.values.has('reason') && html`open`}><summary class="mb-3 text-sm font-medium">Lost the second step?</summary>
<form method="post" action="${pathOf(ctx, `members/${member.id}/reset-factors`)}">
<p class="hint mb-3">Make sure that the request really comes from them. Their second step and password are removed, they are signed out, and get an email to set a new password.</p>
${field(form, { name: 'reason', label: 'Reason', hint: 'Kept in the audit log.' })}
<button class="btn text-error">Reset second step</button>
</form></details>`
}`

export const FACTOR_NAMES = { totp: 'Authenticator app', passkey: 'Passkey' } as const
