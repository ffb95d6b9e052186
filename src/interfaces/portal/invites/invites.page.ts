import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { BULK_ACTIONS } from '../../../domain/invites/bulk/bulk-changes.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import { INVITE_STATUSES, type ListedInvite } from '../../../domain/invites/invites.ts'
import type { InviteOrder } from '../../../domain/invites/listing/filter.ts'
import type { StateCounts } from '../../../domain/invites/overview/count-states.ts'
import type { SavedFilter } from '../../../domain/invites/saved-filters.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { namedField, readNamed } from '../kit/choices.ts'
import { choice, exportButton, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { filterLine, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { empty, linkButton, person, tabs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ago, wordState } from '../kit/wording.ts'
import { ACTIONS } from './bulk.page.ts'
import { FILTERS } from './read-filter.ts'
import { savedFilters } from './saved-filters.ts'

/** The orders of the list, by the word in its address. The first is the one without a word. */
export const orders: Record<string, InviteOrder> = {
  sent: { field: 'sentAt', direction: 'desc' },
  'sent-first': { field: 'sentAt', direction: 'asc' },
  expires: { field: 'expiresAt', direction: 'asc' },
  'expires-last': { field: 'expiresAt', direction: 'desc' },
  created: { field: 'createdAt', direction: 'desc' },
  state: { field: 'status', direction: 'asc' },
  'state-last': { field: 'status', direction: 'desc' },
}

type Facts = {
  ctx: Context
  assessments: Named[]
  tags: Named[]
  /** How many are in each state, where that is known. */
  counts: StateCounts | null
  list: Listing<ListedInvite> | null
  saved: SavedFilter[]
  /** What was typed to keep the filter. */
  saving: Form
}

/** @param facts.list null: there is nothing to list. */
export function invitesPage(form: Form, { ctx, assessments, tags, counts, list, saved, saving }: Facts): Page {
  const path = pathOf(ctx, 'invites')
  const readsAll = may(ctx, 'read')
  const grades = !readsAll && may(ctx, 'read_as_grader')
  const everything = readsAll ? 'Every assessment' : 'Assigned to me'
  const anyOf = (named: Named[], any: string): [string, string][] => [
    ...(any ? [['', any] as [string, string]] : []),
    ...named.map(({ id, name }): [string, string] => [id, name]),
  ]
  const fields = html`<input type="hidden" name="state" value="${form.values.get('state')}">
${field(form, { name: 'search', label: 'Name or email', type: 'search', optional: true })}
${choice(form, { name: 'assessment', label: 'Assessment', options: anyOf(assessments, readsAll || grades ? everything : '') })}
${readsAll && choice(form, { name: 'tag', label: 'Tag', options: anyOf(tags, 'Every tag') })}
${namedField(readNamed(form.values), [assessments, tags])}`
  const isBulk = may(ctx, 'operate_invites')
  return {
    title: 'Invites',
    actions:
      may(ctx, 'invite') &&
      html`${linkButton(pathOf(ctx, 'invites/batches'), 'Invite many', 'upload')}${linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus', 'main')}`,
    tabs: statusTabs(path, form.values, counts, list?.total),
    body: html`${mistakes(form)}${mistakes(saving)}${savedFilters({ ctx, saved, values: form.values, form: saving })}<section class="panel" aria-label="Invites">
<h2 class="sr-only" id="list-heading">Invites</h2>
${filterLine(path, form.values, fields, list !== null && exportButton(`${path}/export`))}
${list && list.items.length > 0 ? html`${inviteTable(ctx, form.values, list.items, isBulk)}${isBulk && bulkBar(ctx, form.values, list)}` : nothing(ctx, form.values, readsAll || grades || assessments.length > 0, counts)}
${list && sizedPager(path, form.values, list, ['invite', 'invites'])}
</section>`,
  }
}

function nothing(ctx: Context, values: URLSearchParams, seesAny: boolean, counts: StateCounts | null): Html {
  const path = pathOf(ctx, 'invites')
  if (!seesAny) return noRows('No assessments are shared with you yet.', path, values)
  if (counts?.size !== 0 || !may(ctx, 'invite')) return noRows('No invites match.', path, values)
  return empty(
    'send',
    'No invites yet. Invite a candidate to an assessment and follow their progress here.',
    linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus'),
  )
}

/**
 * A tab for each status, which keeps what else the list is narrowed to. Where no counts are kept of that, only the list's own number is said:
 * to count the others would take the longer, the more invites there are.
 *
 * @param total of the list that is shown.
 */
function statusTabs(path: string, values: URLSearchParams, counts: StateCounts | null, total: number | undefined): Html {
  const current = values.get('state') ?? ''
  const all = counts && [...counts.values()].reduce((sum, count) => sum + count, 0)
  return tabs(
    'Status',
    (['', ...INVITE_STATUSES] as const).map((status) => {
      const query = new URLSearchParams(values)
      query.delete('page')
      query.set('state', status)
      const label = status === '' ? 'All' : `${status.charAt(0).toUpperCase()}${status.slice(1)}`
      const isCurrent = status === current
      const kept = status === '' ? all : counts && (counts.get(status) ?? 0)
      return { label, address: `${path}?${query}`, isCurrent, count: kept ?? (isCurrent ? total : undefined) }
    }),
  )
}

const BULK = 'bulk'

function inviteTable(ctx: Context, query: URLSearchParams, invites: ListedInvite[], isBulk: boolean): Html {
  const of = { path: pathOf(ctx, 'invites'), query, orders }
  return table(
    'list-heading',
    [
      'Candidate',
      'Assessment',
      sortable('Status', 'status', of),
      sortable('Sent', 'sentAt', of),
      sortable('Expires', 'expiresAt', of),
    ],
    invites.map((invite) => {
      const { id, recipientEmail, recipientName, attempt, assessmentName, sentAt, expiresAt } = invite
      const who = person({ name: recipientName, email: recipientEmail, address: pathOf(ctx, `invites/${id}`) })
      return [
        isBulk
          ? html`<span class="flex items-center gap-3"><input type="checkbox" class="checkbox checkbox-sm" form="${BULK}" name="id" value="${id}" aria-label="${`Select ${recipientName || recipientEmail}`}">${who}</span>`
          : who,
        attempt > 1 ? `${assessmentName} (attempt ${attempt})` : assessmentName,
        badge(wordState(invite)),
        ago(ctx, new Date(sentAt)),
        ago(ctx, new Date(expiresAt)),
      ]
    }),
  )
}

/** What can be done with the ticked invites, or with all that match. */
function bulkBar(ctx: Context, values: URLSearchParams, { items, total }: Listing<ListedInvite>): Html {
  const kept = FILTERS.map((name) => html`<input type="hidden" name="${name}" value="${values.get(name)}">`)
  return html`<form id="${BULK}" method="get" action="${pathOf(ctx, 'invites/changes/new')}" class="bulk" aria-label="Bulk actions">${kept}
<div class="flex flex-wrap items-center gap-x-4 gap-y-2" data-bulk>
<span class="text-sm font-medium" data-bulk-count>For selected invites</span>
<label class="flex items-center gap-2 text-sm" data-bulk-page hidden><input type="checkbox" class="checkbox checkbox-sm"> Select this page</label>
${total > items.length && html`<label class="flex items-center gap-2 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="all" value="yes"> All ${total.toLocaleString('en')} that match</label>`}
<div class="flex flex-wrap gap-2">${BULK_ACTIONS.map((action) => html`<button class="${action === 'revoke' ? 'btn btn-sm text-error' : 'btn btn-sm'}" name="action" value="${action}">${icon(ACTIONS[action].icon)}${ACTIONS[action].label}</button>\n`)}</div>
<a class="ml-auto text-sm hover:underline" href="${pathOf(ctx, 'invites/changes')}">Bulk changes</a>
</div>
</form>`
}
