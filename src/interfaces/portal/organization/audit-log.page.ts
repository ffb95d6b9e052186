import type { AuditEntry, AuditPage } from '../../../domain/audit/audit-log.ts'
import type { AuditAction } from '../../../domain/audit/record-audit.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { FORMER_MEMBER } from '../../../domain/loaders/former-members.ts'
import { html, type Value } from '../../../html/html.ts'
import { ARCHIVES } from '../archives/archives.page.ts'
import { ERASURES } from '../erasure/erasure.page.ts'
import { breakableAddress, timeAgo } from '../kit/formatting.ts'
import { choice, exportButton, field } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows } from '../kit/paging.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ACTION_GROUPS, ACTION_LABELS } from './audit-actions.ts'
import { formatDetails } from './audit-details.ts'

const AUDIT_LOG = 'settings/audit-log'

const ACTORS: Record<string, string> = { operator: 'the operator', system: 'the service', candidate: 'a candidate' }

export function auditLogPage(ctx: Context, { values, page }: { values: URLSearchParams; page: AuditPage }): Page {
  const { entries, names, hasOlder } = page
  const address = pathOf(ctx, AUDIT_LOG)
  const form = { values, issues: [] }
  const filter = Object.fromEntries(['who', 'action', 'from', 'to', 'bulk'].map((name) => [name, values.get(name) ?? '']))
  const older = new URLSearchParams({ ...filter, before: entries.at(-1)?.id ?? '' }).toString()
  const newest = new URLSearchParams(filter).toString()
  return {
    title: 'Audit log',
    body: html`<section class="panel" aria-labelledby="log-heading">
<h2 class="mb-4" id="log-heading">Entries</h2>
<p class="hint mb-4">Entries are kept for a year, or for as long as an owner has chosen. “The operator” runs this service. “The service” means automatic actions.${ctx.mode === 'test' && ' This page shows changes to test data only. The log of live data shows everything.'}</p>
${values.get('bulk') && html`<p class="mb-4">Only the entries of <a href="${pathOf(ctx, `invites/changes/${values.get('bulk')}`)}">one bulk change</a>. <a href="${address}">Show all entries</a></p>\n`}<form class="filters" method="get" action="${address}">
${field(form, { name: 'who', label: 'Email of a member, or name of a key', type: 'search', optional: true })}
${choice(form, {
  name: 'action',
  label: 'Action',
  options: [['', 'Every action']],
  groups: ACTION_GROUPS,
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
        ['When', 'Who', 'Action'],
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
  const { bulkChangeId: _, ...details } = Object(entry.details)
  const lines = formatDetails(details, { names, wordAction: labelAction, target: names.get(entry.targetId ?? '') })
  return html`<div class="min-w-0"><div class="font-medium">${labelEntry(entry)}${ctx.mode === 'live' && entry.mode === 'test' && html` ${badge('test data')}`}</div>
${target && html`<div>${target}</div>\n`}${entry.action === 'changed_many' && html`<div><a href="${pathOf(ctx, AUDIT_LOG)}?bulk=${entry.targetId}">Show each invite</a></div>\n`}${lines.length > 0 && html`<ul class="text-base-content/70 mt-1 text-sm">${lines}</ul>`}</div>`
}

/** Changes of security settings that only concern API keys have their own text. */
function labelEntry({ action, details }: AuditEntry): string {
  const isOfKeys = Object.keys(details ?? {}).every((field) => field.startsWith('apiKey'))
  return action === 'changed_security' && isOfKeys ? 'changed the limits of all API keys' : labelAction(action)
}

/** Another release may have recorded actions for which this one has no label. */
const labelAction = (action: string): string =>
  Object.hasOwn(ACTION_LABELS, action) ? ACTION_LABELS[action as AuditAction] : action.replaceAll('_', ' ')

/** Kinds of rows with a page, and its address. */
const PLACES = new Map<string, readonly [path: string, label: string]>([
  ['member', ['members', 'member']],
  ['tag', ['tags', 'tag']],
  ['assessment', ['assessments', 'assessment']],
  ['invite', ['invites', 'invite']],
  ['invite_batch', ['invites/batches', 'list of candidates']],
  ['bulk_change', ['invites/changes', 'bulk change']],
  ['share_link', ['shares', 'link to results']],
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
  const isNamed = name !== label && targetKind !== 'member' // an email address needs no label
  return html`<span class="wrap-break-word"><a href="${pathOf({ ...ctx, mode }, `${path}/${targetId}`)}">${breakableAddress(name ?? '')}</a>${isNamed && html`<span class="text-base-content/70 block text-xs">${label}</span>`}</span>`
}
