import type { AuditEntry, AuditPage } from '../../../domain/access/audit-log.ts'
import { AUDIT_ACTIONS, type AuditAction } from '../../../domain/audit/record-audit.ts'
import type { Context } from '../../../domain/context.ts'
import { html, type Value } from '../../../html/html.ts'
import { choice, exportButton, field } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows } from '../kit/paging.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ago } from '../kit/wording.ts'

/** What was done, as a list shows it. */
export const WORDS: Record<AuditAction, string> = {
  signed_in: 'signed in',
  failed_sign_in: 'gave a wrong password',
  joined: 'joined',
  invited_member: 'invited a member',
  changed_name: 'changed their name',
  changed_password: 'changed their password',
  reset_password: 'set a new password by a link',
  ended_sessions: 'ended sessions',
  generated_key: 'generated an API key',
  rotated_key: 'rotated an API key',
  changed_key: 'changed what an API key may do',
  revoked_key: 'revoked an API key',
  sent_join_link: 'sent a link to join',
  changed_member: 'changed a member',
  deactivated_member: 'deactivated a member',
  reactivated_member: 'activated a member',
  created_tag: 'made a tag',
  changed_tag: 'changed a tag',
  deleted_tag: 'deleted a tag',
  changed_settings: 'changed the organization’s settings',
  created_assessment: 'made an assessment',
  updated_assessment: 'changed an assessment',
  duplicated_assessment: 'copied an assessment',
  deleted_assessment: 'deleted an assessment',
  archived_assessment: 'archived an assessment',
  unarchived_assessment: 'unarchived an assessment',
  added_question: 'added a question',
  updated_question: 'changed a question',
  moved_question: 'moved a question',
  deleted_question: 'deleted a question',
  duplicated_question: 'copied a question',
  ordered_questions: 'changed the order of questions',
  invited: 'invited a candidate',
  invited_many: 'invited a list of candidates',
  stopped_batch: 'stopped inviting a list of candidates',
  resumed_batch: 'had a list of candidates go on',
  discarded_batch: 'discarded a list of candidates',
  changed_many: 'changed many invites',
  stopped_bulk_change: 'stopped a bulk change',
  resumed_bulk_change: 'resumed a bulk change',
  resent_invite: 'sent an invitation again',
  extended_invite: 'extended an invite',
  shortened_invite: 'had an invite expire earlier',
  corrected_invite: 'corrected the name, the message or the limits of an invite',
  changed_extra_time: 'changed the extra time of a candidate',
  revoked_invite: 'revoked an invite',
  reactivated_invite: 'reactivated an invite',
  assigned_grader: 'assigned a grader',
  tagged_invite: 'tagged an invite',
  untagged_invite: 'took a tag off an invite',
  created_webhook: 'made a webhook',
  changed_webhook: 'changed a webhook',
  enabled_webhook: 'enabled a webhook',
  disabled_webhook: 'disabled a webhook',
  deleted_webhook: 'deleted a webhook',
  rotated_webhook_secret: 'gave a webhook a new secret',
  tested_webhook: 'sent a webhook a test',
  replayed_webhook: 'sent a webhook events again',
  generated_ats_key: 'generated a key for a recruiting system',
  revoked_ats_key: 'revoked a key of a recruiting system',
  entered_key_of_ats: 'entered a recruiting system’s own key',
  tested_ats: 'tested a connection to a recruiting system',
  reported_to_ats_again: 'reported to a recruiting system again',
  exported_invites: 'exported invites',
  exported_members: 'exported members',
  exported_invite_batch: 'exported a list of candidates',
  exported_audit_log: 'exported the audit log',
  exported_grades: 'exported grades',
  waived_requirement: 'let a candidate start without something',
  deleted_media: 'deleted photos and recordings',
  assigned_second_grader: 'assigned a second grader',
  graded: 'graded answers for a member',
  released_result: 'released a result',
  reopened_result: 'reopened a result',
  deleted_test_data: 'deleted all test data',
}

/** Those that are nobody by name. */
const ACTORS: Record<string, string> = { operator: 'the operator', system: 'the service', candidate: 'a candidate' }

export function auditLogPage(ctx: Context, { values, page }: { values: URLSearchParams; page: AuditPage }): Page {
  const { entries, names, hasOlder } = page
  const address = pathOf(ctx, 'settings/audit-log')
  const form = { values, issues: [] }
  const filter = { who: values.get('who') ?? '', action: values.get('action') ?? '' }
  const older = new URLSearchParams({ ...filter, before: entries.at(-1)?.id ?? '' }).toString()
  const newest = new URLSearchParams(filter).toString()
  return {
    title: 'Audit log',
    body: html`<section class="panel" aria-labelledby="log-heading">
<h2 class="mb-4" id="log-heading">Who did what</h2>
<p class="hint mb-4">Kept for a year.${ctx.mode === 'test' && ' Only what was done to test data: the log of live data has everything.'}</p>
<form class="filters" method="get" action="${address}">
${field(form, { name: 'who', label: 'Address of a member, or name of a key', type: 'search', optional: true })}
${choice(form, {
  name: 'action',
  label: 'What',
  options: [['', 'Every action'], ...AUDIT_ACTIONS.map((action): [string, string] => [action, WORDS[action]])],
})}
<button class="btn">Show</button>
${exportButton(`${address}/export`)}
</form>
${
  entries.length === 0
    ? noRows('Nothing is found.', address, values)
    : table(
        'log-heading',
        ['When', 'Who', 'What', 'To', 'More'],
        entries.map((entry) => [
          ago(ctx, entry.at),
          whoOf(entry, names),
          html`${whatOf(entry)}${ctx.mode === 'live' && entry.mode === 'test' && html` ${badge('test data')}`}`,
          targetOf(ctx, entry, names),
          moreOf(entry.details, names),
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

const whoOf = ({ actorKind, actorId }: AuditEntry, names: Map<string, string>): string =>
  ACTORS[actorKind] ?? names.get(actorId ?? '') ?? actorKind

/** Another release may have recorded what this one has no words for. */
const whatOf = ({ action }: AuditEntry): string => (Object.hasOwn(WORDS, action) ? WORDS[action as AuditAction] : action)

/** The kinds of rows that have a page, and its address. */
const PLACES = new Map<string, readonly [path: string, label: string]>([
  ['member', ['members', 'member']],
  ['tag', ['tags', 'tag']],
  ['assessment', ['assessments', 'assessment']],
  ['invite', ['invites', 'invite']],
  ['invite_batch', ['invites/batches', 'list of candidates']],
  ['bulk_change', ['invites/changes', 'bulk change']],
  ['webhook', ['settings/webhooks', 'webhook']],
])

/** What it was done to, with the way there. What was deleted has none. */
function targetOf(ctx: Context, { action, mode, targetKind, targetId }: AuditEntry, names: Map<string, string>): Value {
  const [path, label] = PLACES.get(targetKind ?? '') ?? []
  const name = names.get(targetId ?? '') ?? label ?? targetKind?.replaceAll('_', ' ')
  if (!path || targetId === null || action.startsWith('deleted_')) return name
  return html`<a href="${pathOf({ ...ctx, mode }, `${path}/${targetId}`)}">${name}</a>`
}

/** Details are whatever was recorded with the action: names, ids, lists of words, or these before and after. What is gone has no name any more. */
function moreOf(details: unknown, names: Map<string, string>): string {
  if (details === null) return 'nobody'
  if (Array.isArray(details)) return details.map((item) => moreOf(item, names)).join(', ') || 'none'
  if (typeof details !== 'object') return names.get(String(details)) ?? String(details)
  if ('before' in details && 'after' in details) return `${moreOf(details.before, names)} → ${moreOf(details.after, names)}`
  const isNamed = (name: string) => name.endsWith('Id') && name.slice(0, -2) in details // recorded by its name, too
  return Object.entries(details)
    .filter(([name]) => !isNamed(name))
    .map(([name, value]) => `${DETAILS.get(name) ?? name}: ${moreOf(value, names)}`)
    .join('; ')
}

/** What details are called, those that are ids by what they are of. */
const DETAILS = new Map([
  ['graderId', 'grader'],
  ['assignedGraderId', 'grader'],
  ['tagId', 'tag'],
  ['expiresInDays', 'days'],
  ['assessmentId', 'assessment'],
  ['requestsPerMinute', 'requests a minute'],
])
