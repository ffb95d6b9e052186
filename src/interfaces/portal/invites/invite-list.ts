import type { INVITE_SOURCES } from '../../../domain/authorization/author.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Declinable } from '../../../domain/invites/declined.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import { INVITE_STATUSES, type ListedInvite } from '../../../domain/invites/invites.ts'
import type { InviteOrder } from '../../../domain/invites/listing/invite-filter.ts'
import type { RowExtras } from '../../../domain/invites/listing/row-extras.ts'
import type { StateCounts } from '../../../domain/invites/overview/count-states.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { nameFilterField, readNameFilter } from '../kit/choices.ts'
import { doesNotExpire, labelInviteStatus, timeAgo } from '../kit/formatting.ts'
import { choice, exportButton, type Form, field } from '../kit/forms.ts'
import { pathOf } from '../kit/layout.ts'
import { filterLine, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { empty, linkButton, person, tabs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { BULK_ACTION_TEXTS, ERASE_PEOPLE, LIST_ACTIONS } from './bulk.page.ts'
import { FILTERS, type FilterChoices, UNDELIVERED } from './read-filter.ts'

/** Orders of the list by their parameter. The first is the default. */
export const INVITE_ORDERS: Record<string, InviteOrder> = {
  sent: { field: 'sentAt', direction: 'desc' },
  'sent-first': { field: 'sentAt', direction: 'asc' },
  expires: { field: 'expiresAt', direction: 'asc' },
  'expires-last': { field: 'expiresAt', direction: 'desc' },
  created: { field: 'createdAt', direction: 'desc' },
  state: { field: 'status', direction: 'asc' },
  'state-last': { field: 'status', direction: 'desc' },
}

const SOURCE_LABELS: Record<(typeof INVITE_SOURCES)[number], string> = {
  portal: 'Portal',
  api: 'API',
  ats: 'Recruiting system',
  open: 'Open link',
  import: 'Import',
}
const SOURCES: [value: string, label: string][] = [['', 'Every source'], ...Object.entries(SOURCE_LABELS)]

export type ListFacts = {
  ctx: Context
  choices: FilterChoices
  /** Counts by status, if known. */
  counts: StateCounts | null
  /** Number of undelivered invites, if known. */
  undelivered: number | undefined
  /** Null if the reader may see no invites. */
  list: ListPage<ListedInvite> | null
  extras: RowExtras
  /** Set on an assessment's own page: lists only its invites. */
  assessment?: { id: string }
}

export const listPath = ({ ctx, assessment }: Pick<ListFacts, 'ctx' | 'assessment'>): string =>
  pathOf(ctx, assessment ? `assessments/${assessment.id}/invites` : 'invites')

export function inviteList(form: Form, facts: ListFacts): Html {
  const { ctx, choices, list, assessment } = facts
  const path = listPath(facts)
  const isBulk = may(ctx, 'operate_invites')
  const exporting = list !== null && exportButton(pathOf(ctx, 'invites/export'), assessment && ['assessment', assessment.id])
  return html`<section class="panel" aria-label="Invites">
<h2 class="sr-only" id="list-heading">Invites</h2>
${assessment && html`<div class="-mt-3 mb-4">${statusTabs(path, form.values, facts)}</div>`}${filterLine(path, form.values, filterFields(form, choices, facts), exporting)}
${list && list.items.length > 0 ? html`${isBulk && bulkBar(facts, form.values, list)}${inviteTable(facts, form.values, list.items, isBulk)}` : emptyList(facts, form.values)}
${list && sizedPager(path, form.values, list, ['invite', 'invites'])}
</section>`
}

function filterFields(form: Form, { assessments, tags, graders, lists }: FilterChoices, { ctx, assessment }: ListFacts): Html {
  const readsAll = may(ctx, 'read')
  const anyOf = (items: Choice[], any: string): [string, string][] => [
    ...(any ? [['', any] as [string, string]] : []),
    ...items.map(({ id, name }): [string, string] => [id, name]),
  ]
  const anyLabel = readsAll ? 'Every assessment' : may(ctx, 'read_as_grader') ? 'Assigned to me' : ''
  return html`<input type="hidden" name="state" value="${form.values.get('state')}">
${field(form, { name: 'search', label: 'Name or email', type: 'search', optional: true })}
${!assessment && choice(form, { name: 'assessment', label: 'Assessment', options: anyOf(assessments, anyLabel) })}
${readsAll && choice(form, { name: 'tag', label: 'Tag', options: anyOf(tags, 'Every tag') })}
${readsAll && choice(form, { name: 'grader', label: 'Grader', options: anyOf(graders, 'Every grader') })}
${readsAll && choice(form, { name: 'source', label: 'Source', options: SOURCES })}
${lists.length > 0 && choice(form, { name: 'list', label: 'List', options: anyOf(lists, 'Every list') })}
${form.values.get('part') && html`<input type="hidden" name="part" value="${form.values.get('part')}">`}
${nameFilterField(readNameFilter(form.values), [...(assessment ? [] : [assessments]), tags, graders])}`
}

function emptyList({ ctx, choices, counts, assessment }: ListFacts, values: URLSearchParams): Html {
  const path = listPath({ ctx, ...(assessment && { assessment }) })
  const seesAny = may(ctx, 'read') || may(ctx, 'read_as_grader') || choices.assessments.length > 0
  if (!seesAny) return noRows('No assessments are shared with you yet.', path, values)
  if (counts?.size !== 0 || !may(ctx, 'invite')) return noRows('No invites match.', path, values)
  return empty(
    'send',
    assessment
      ? 'Nobody is invited to this assessment yet. Invite a candidate, and follow here how far they are.'
      : 'No invites yet. Invite a candidate to an assessment and follow their progress here.',
    linkButton(pathOf(ctx, assessment ? `invites/new?assessment=${assessment.id}` : 'invites/new'), 'Invite a candidate', 'plus'),
  )
}

/**
 * One tab per status, keeping the other filters. Without stored counts only the current list's number is shown: counting the others would
 * slow down with the number of invites.
 */
export function statusTabs(
  path: string,
  values: URLSearchParams,
  { counts, undelivered, list }: Pick<ListFacts, 'counts' | 'undelivered' | 'list'>,
): Html {
  const total = list?.total
  const current = values.get('state') ?? ''
  const allCount = counts && [...counts.values()].reduce((sum, count) => sum + count, 0)
  return tabs(
    'Status',
    (['', 'pending', UNDELIVERED, ...INVITE_STATUSES.slice(1)] as const).map((status) => {
      const query = new URLSearchParams(values)
      query.delete('page')
      query.set('state', status)
      const label = status === '' ? 'All' : status === UNDELIVERED ? 'Not delivered' : capitalize(status)
      const isCurrent = status === current
      const storedCount = status === '' ? allCount : status === UNDELIVERED ? undelivered : counts && (counts.get(status) ?? 0)
      return { label, address: `${path}?${query}`, isCurrent, count: storedCount ?? (isCurrent ? total : undefined) }
    }),
  )
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const BULK = 'bulk'

function inviteTable(facts: ListFacts, query: URLSearchParams, invites: ListedInvite[], isBulk: boolean): Html {
  const { ctx, extras, assessment } = facts
  const sorting = { path: listPath(facts), query, orders: INVITE_ORDERS }
  const readsAll = may(ctx, 'read')
  return table(
    'list-heading',
    [
      'Candidate',
      ...(assessment ? [] : ['Assessment']),
      sortable('Status', 'status', sorting),
      sortable('Sent', 'sentAt', sorting),
      sortable('Expires', 'expiresAt', sorting),
      ...(readsAll ? ['Grader'] : []),
    ],
    invites.map((invite) => {
      const { id, recipientEmail, recipientName, attempt, assessmentName, sentAt, assignedGraderId } = invite
      const attemptNote = attempt > 1 && `(attempt ${attempt})`
      const recipient = person({ name: recipientName, email: recipientEmail, address: pathOf(ctx, `invites/${id}`) })
      return [
        isBulk
          ? html`<span class="flex items-center gap-3"><input type="checkbox" class="checkbox checkbox-sm" form="${BULK}" name="id" value="${id}" aria-label="${`Select ${recipientName || recipientEmail}`}">${recipient}</span>`
          : recipient,
        ...(assessment ? [] : [attemptNote ? `${assessmentName} ${attemptNote}` : assessmentName]),
        html`${badge(extras.undelivered.has(id) ? 'not delivered' : labelInviteStatus(invite))}${assessment && attemptNote && html` ${attemptNote}`}`,
        timeAgo(ctx, new Date(sentAt)),
        formatExpiry(ctx, invite),
        ...(readsAll ? [assignedGraderId && extras.graders.get(assignedGraderId)] : []),
      ]
    }),
  )
}

/** Expiry, or nothing if the invite no longer expires. */
export const formatExpiry = (ctx: Context, invite: Declinable & { expiresAt: Date | string }): Html =>
  doesNotExpire(invite)
    ? html`<span title="${`It is ${labelInviteStatus(invite)} and does not expire any more`}">–</span>`
    : timeAgo(ctx, new Date(invite.expiresAt))

/** Actions for the selected invites, or for all that match. */
function bulkBar({ ctx, assessment }: ListFacts, values: URLSearchParams, { items, total }: ListPage<ListedInvite>): Html {
  const keptValue = (name: string) => (name === 'assessment' && assessment ? assessment.id : values.get(name))
  const keptFields = FILTERS.filter((name) => keptValue(name)).map(
    (name) => html`<input type="hidden" name="${name}" value="${keptValue(name)}">`,
  )
  return html`<form id="${BULK}" method="get" action="${pathOf(ctx, 'invites/changes/new')}" class="bulk" aria-label="Bulk actions">${keptFields}
<div class="flex flex-wrap items-center gap-x-4 gap-y-2" data-bulk>
<span class="text-sm font-medium" data-bulk-count>For selected invites</span>
<label class="flex items-center gap-2 py-1 text-sm" data-bulk-page hidden><input type="checkbox" class="checkbox checkbox-sm"> Select this page</label>
${total > items.length && html`<label class="flex items-center gap-2 py-1 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="all" value="yes"> All ${total.toLocaleString('en')} that match</label>`}
<div class="bulk-actions flex flex-wrap gap-2">${LIST_ACTIONS.map((action) => html`<button class="${action === 'revoke' ? 'btn btn-sm text-error' : 'btn btn-sm'}" name="action" value="${action}">${icon(BULK_ACTION_TEXTS[action].icon)}${BULK_ACTION_TEXTS[action].label}</button>\n`)}${may(ctx, 'erase_candidates') && html`<button class="btn btn-sm text-error" formaction="${pathOf(ctx, ERASE_PEOPLE)}">${icon(BULK_ACTION_TEXTS.erase.icon)}${BULK_ACTION_TEXTS.erase.label}</button>`}</div>
<a class="ml-auto text-sm hover:underline" href="${pathOf(ctx, 'invites/changes')}">Bulk changes</a>
</div>
</form>`
}
