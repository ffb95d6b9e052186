import type { AuditEntry, AuditPage } from '../../../domain/audit/audit-log.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../../domain/audit/record-audit.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { FORMER_MEMBER } from '../../../domain/look-ups/former-members.ts'
import { html, type Value } from '../../../html/html.ts'
import { ARCHIVES } from '../archives/archives.page.ts'
import { ERASURES } from '../erasure/erasure.page.ts'
import { breakableAddress, timeAgo } from '../kit/formatting.ts'
import { choice, exportButton, field } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows } from '../kit/paging.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { formatDetails } from './audit-details.ts'

export const AUDIT_ACTION_LABELS: Record<AuditAction, string> = {
  signed_in: 'signed in',
  failed_sign_in: 'entered a wrong password',
  joined: 'joined',
  invited_member: 'invited a member',
  changed_client_assessments: 'changed which assessments a client sees',
  changed_name: 'changed their name',
  changed_password: 'changed their password',
  refused: 'was refused',
  resumed_form: 'sent a form that was kept until they had signed in again',
  admitted_browser: 'let a browser in by a mailed link',
  added_factor: 'added a second step to their sign-in',
  renamed_factor: 'renamed a second step of their sign-in',
  removed_factor: 'removed a second step of their sign-in',
  made_recovery_codes: 'made new recovery codes',
  reset_factors: 'reset the second step of a member',
  reset_password: 'set a new password with a link',
  proved_address: 'showed that the address is theirs, which removed what the account was set up with before',
  ended_sessions: 'signed out sessions',
  ended_member_sessions: 'signed out a member',
  refused_sign_in: 'refused a sign-in by an identity provider',
  linked_identity: 'linked an account of an identity provider',
  unlinked_identity: 'unlinked an account of an identity provider',
  used_break_glass: 'signed in past single sign-on',
  generated_key: 'generated an API key',
  rotated_key: 'rotated an API key',
  changed_key: 'changed an API key',
  revoked_key: 'revoked an API key',
  sent_join_link: 'sent a new invitation link',
  changed_member: 'changed a member',
  deactivated_member: 'deactivated a member',
  reactivated_member: 'reactivated a member',
  offered_ownership: 'asked a member to become an owner',
  withdrew_ownership_offer: 'withdrew an offer to become an owner',
  refused_ownership: 'declined to become an owner',
  became_owner: 'made a member an owner',
  ended_ownership: 'took the ownership from a member',
  suppressed_address: 'stopped mails to an address',
  lifted_suppression: 'allowed mails to an address again',
  created_tag: 'created a tag',
  changed_tag: 'changed a tag',
  deleted_tag: 'deleted a tag',
  changed_security: 'changed the security settings',
  added_sign_in_provider: 'added an identity provider',
  changed_sign_in_provider: 'changed an identity provider',
  tried_sign_in_provider: 'tried an identity provider',
  removed_sign_in_provider: 'removed an identity provider',
  allowed_relinking: 'allowed members to be linked again',
  discarded_sign_in_settings: 'discarded sign-in settings that were not tried',
  added_sign_in_domain: 'named a domain for single sign-on',
  lost_sign_in_domain: 'lost a domain for single sign-on to another organization',
  verified_sign_in_domain: 'verified a domain for single sign-on',
  removed_sign_in_domain: 'removed a domain from single sign-on',
  enforced_sso: 'made single sign-on the only way in',
  stopped_enforcing_sso: 'allowed other ways in than single sign-on',
  changed_sign_in_exception: 'changed who may sign in past single sign-on',
  changed_settings: 'changed the organization’s settings',
  changed_mail_text: 'changed the text of an email to candidates',
  tested_mail_text: 'mailed a text to themselves, to try it',
  changed_brand: 'changed the colours or the logo',
  changed_page_words: 'changed the links or the consent text of candidates’ pages',
  changed_reminders: 'changed when candidates are reminded',
  changed_notices: 'changed which notices candidates get',
  looked_into_bounces: 'resumed lists after mails had come back',
  stopped_reminders: 'switched reminders off for an invite',
  resumed_reminders: 'switched reminders on for an invite',
  created_assessment: 'created an assessment',
  updated_assessment: 'changed an assessment',
  duplicated_assessment: 'duplicated an assessment',
  deleted_assessment: 'deleted an assessment',
  archived_assessment: 'archived an assessment',
  unarchived_assessment: 'unarchived an assessment',
  added_question: 'added a question',
  updated_question: 'changed a question',
  moved_question: 'moved a question',
  deleted_question: 'deleted a question',
  duplicated_question: 'duplicated a question',
  ordered_questions: 'reordered questions',
  corrected_key: 'corrected an answer key',
  saved_to_library: 'saved a question to the library',
  saved_library_version: 'saved a version of a question in the library',
  changed_library_question: 'changed a question of the library',
  retired_library_question: 'archived a question of the library',
  restored_library_question: 'restored a question of the library',
  imported_questions: 'imported questions',
  undid_import: 'undid an import of questions',
  exported_questions: 'exported questions',
  invited: 'invited a candidate',
  invited_many: 'invited a list of candidates',
  stopped_batch: 'stopped a list of candidates',
  resumed_batch: 'resumed a list of candidates',
  discarded_batch: 'discarded a list of candidates',
  changed_many: 'changed invites in bulk',
  stopped_bulk_change: 'stopped a bulk change',
  resumed_bulk_change: 'resumed a bulk change',
  resent_invite: 'sent an invitation again',
  extended_invite: 'extended an invite',
  shortened_invite: 'shortened an invite',
  corrected_invite: 'corrected an invite',
  changed_extra_time: 'changed the extra time of a candidate',
  revoked_invite: 'revoked an invite',
  reactivated_invite: 'reactivated an invite',
  assigned_grader: 'assigned a grader',
  tagged_invite: 'tagged an invite',
  untagged_invite: 'untagged an invite',
  created_webhook: 'created a webhook',
  changed_webhook: 'changed a webhook',
  enabled_webhook: 'enabled a webhook',
  disabled_webhook: 'disabled a webhook',
  deleted_webhook: 'deleted a webhook',
  rotated_webhook_secret: 'rotated the secret of a webhook',
  tested_webhook: 'tested a webhook',
  replayed_webhook: 'replayed events to a webhook',
  generated_ats_key: 'generated a key for a recruiting system',
  revoked_ats_key: 'revoked a key of a recruiting system',
  entered_key_of_ats: 'entered a recruiting system’s own key',
  tested_ats: 'tested a connection to a recruiting system',
  reported_to_ats_again: 'reported to a recruiting system again',
  exported_invites: 'exported invites',
  exported_members: 'exported members',
  asked_for_erasure: 'asked for the erasure of a candidate',
  asked_for_organization_erasure: 'asked for the erasure of the organization',
  kept_organization: 'stopped the erasure of the organization',
  asked_for_archive: 'asked for an archive about somebody',
  fetched_archive: 'fetched an archive about somebody',
  erased_member: 'erased a member',
  changed_retention: 'changed how long ended invites are kept',
  erased_ended_invites: 'erased ended invites',
  exported_invite_batch: 'exported a list of candidates',
  exported_audit_log: 'exported the audit log',
  exported_bulk_change: 'exported the outcome of a bulk change',
  exported_grades: 'exported grades',
  exported_results: 'exported results',
  waived_requirement: 'waived a requirement',
  deleted_media: 'deleted photos and recordings',
  assigned_second_grader: 'assigned a second grader',
  graded: 'graded answers',
  released_result: 'released a result',
  reopened_result: 'reopened a result',
  deleted_test_data: 'deleted all test data',
}

const ACTORS: Record<string, string> = { operator: 'the operator', system: 'the service', candidate: 'a candidate' }

export function auditLogPage(ctx: Context, { values, page }: { values: URLSearchParams; page: AuditPage }): Page {
  const { entries, names, hasOlder } = page
  const address = pathOf(ctx, 'settings/audit-log')
  const form = { values, issues: [] }
  const filter = Object.fromEntries(['who', 'action', 'from', 'to'].map((name) => [name, values.get(name) ?? '']))
  const older = new URLSearchParams({ ...filter, before: entries.at(-1)?.id ?? '' }).toString()
  const newest = new URLSearchParams(filter).toString()
  return {
    title: 'Audit log',
    body: html`<section class="panel" aria-labelledby="log-heading">
<h2 class="mb-4" id="log-heading">Who did what</h2>
<p class="hint mb-4">Entries are kept for a year, or for as long as an owner has chosen. “The operator” is whoever runs this service; “the service” stands for what happens automatically.${ctx.mode === 'test' && ' This page shows changes to test data only: the log of live data has everything.'}</p>
<form class="filters" method="get" action="${address}">
${field(form, { name: 'who', label: 'Email of a member, or name of a key', type: 'search', optional: true })}
${choice(form, {
  name: 'action',
  label: 'Action',
  options: [['', 'Every action'], ...AUDIT_ACTIONS.map((action): [string, string] => [action, AUDIT_ACTION_LABELS[action]])],
})}
${field(form, { name: 'from', label: 'From (UTC)', type: 'date', optional: true })}
${field(form, { name: 'to', label: 'To (UTC)', type: 'date', optional: true })}
<button class="btn">Apply</button>
${exportButton(`${address}/export`)}${exportButton(`${address}/export`, ['format', 'ndjson'], 'Export as NDJSON')}
</form>
${
  entries.length === 0
    ? noRows('No entries match.', address, values)
    : table(
        'log-heading',
        ['When', 'Who', 'What'],
        entries.map((entry) => [
          html`${timeAgo(ctx, entry.at)}${entry.address !== null && html`<span class="text-base-content/70 block text-xs wrap-anywhere">from ${entry.address}</span>`}`,
          breakableText(whoOf(entry, names)),
          entryCell(ctx, entry, names),
        ]),
      )
}
<nav class="mt-4 flex gap-2" aria-label="Pages of the log">
${values.has('before') && html`<a class="btn btn-sm" href="${address}?${newest}">Newest</a>`}
${hasOlder && html`<a class="btn btn-sm" href="${address}?${older}">Older</a>`}
</nav>
</section>`,
  }
}

const breakableText = (text: string): Value => text && html`<span class="wrap-break-word">${breakableAddress(text)}</span>`

const whoOf = ({ actorKind, actorId }: AuditEntry, names: Map<string, string>): string =>
  ACTORS[actorKind] ?? names.get(actorId ?? '') ?? actorKind

function entryCell(ctx: Context, entry: AuditEntry, names: Map<string, string>): Value {
  const target = targetOf(ctx, entry, names)
  const lines = formatDetails(entry.details, { names, wordAction: labelAction, target: names.get(entry.targetId ?? '') })
  return html`<div class="min-w-0"><div class="font-medium">${labelEntry(entry)}${ctx.mode === 'live' && entry.mode === 'test' && html` ${badge('test data')}`}</div>
${target && html`<div>${target}</div>\n`}${lines.length > 0 && html`<ul class="text-base-content/70 mt-1 text-sm">${lines}</ul>`}</div>`
}

/** Changes of security settings that only concern API keys have their own text. */
function labelEntry({ action, details }: AuditEntry): string {
  const isOfKeys = Object.keys(details ?? {}).every((field) => field.startsWith('apiKey'))
  return action === 'changed_security' && isOfKeys ? 'changed the limits of all API keys' : labelAction(action)
}

/** Actions recorded by another release are shown as they are. */
const labelAction = (action: string): string =>
  Object.hasOwn(AUDIT_ACTION_LABELS, action) ? AUDIT_ACTION_LABELS[action as AuditAction] : action.replaceAll('_', ' ')

/** Kinds of rows with a page, and its address. */
const PLACES = new Map<string, readonly [path: string, label: string]>([
  ['member', ['members', 'member']],
  ['tag', ['tags', 'tag']],
  ['assessment', ['assessments', 'assessment']],
  ['invite', ['invites', 'invite']],
  ['invite_batch', ['invites/batches', 'list of candidates']],
  ['bulk_change', ['invites/changes', 'bulk change']],
  ['webhook', ['settings/webhooks', 'webhook']],
  ['erasure', [ERASURES, 'receipt']],
  ['archive', [ARCHIVES, 'archive']],
])

/** Kinds whose pages only owners may see. */
const OWNERS_ONLY = ['erasure', 'archive']

/** The changed row, linked to its page. Deleted rows have no link; rows without page and name are described by the action. */
function targetOf(ctx: Context, { action, mode, targetKind, targetId }: AuditEntry, names: Map<string, string>): Value {
  const [path, label] = PLACES.get(targetKind ?? '') ?? []
  const name = names.get(targetId ?? '') ?? label
  const isHidden = OWNERS_ONLY.includes(targetKind ?? '') && !may(ctx, 'erase_candidates')
  if (!path || isHidden || targetId === null || action.startsWith('deleted_') || name === FORMER_MEMBER) return name
  const isNamed = name !== label && targetKind !== 'member' // an address says so itself
  return html`<span class="wrap-break-word"><a href="${pathOf({ ...ctx, mode }, `${path}/${targetId}`)}">${breakableAddress(name ?? '')}</a>${isNamed && html`<span class="text-base-content/70 block text-xs">${label}</span>`}</span>`
}
