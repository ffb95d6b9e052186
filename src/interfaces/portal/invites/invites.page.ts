import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import { INVITE_STATUSES, type ListedInvite } from '../../../domain/invites/invites.ts'
import type { InviteOrder } from '../../../domain/invites/listing/filter.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { namedField, readNamed } from '../kit/choices.ts'
import { choice, exportButton, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { noRows, pager } from '../kit/paging.ts'
import { linkButton, person, tabs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { ago, wordState } from '../kit/wording.ts'

/** The orders of the list, by the word in its address. The first is the one without a word. */
export const orders: Record<string, { label: string; order: InviteOrder }> = {
  sent: { label: 'Sent last', order: { field: 'sentAt', direction: 'desc' } },
  'sent-first': { label: 'Sent first', order: { field: 'sentAt', direction: 'asc' } },
  expires: { label: 'Expires first', order: { field: 'expiresAt', direction: 'asc' } },
  'expires-last': { label: 'Expires last', order: { field: 'expiresAt', direction: 'desc' } },
  created: { label: 'Created last', order: { field: 'createdAt', direction: 'desc' } },
  state: { label: 'State', order: { field: 'status', direction: 'asc' } },
}

type Facts = { ctx: Context; assessments: Named[]; tags: Named[]; list: Listing<ListedInvite> | null }

/** @param facts.list null: there is nothing to list. */
export function invitesPage(form: Form, { ctx, assessments, tags, list }: Facts): Page {
  const path = pathOf(ctx, 'invites')
  const readsAll = may(ctx, 'read')
  const grades = !readsAll && may(ctx, 'read_as_grader')
  const everything = readsAll ? 'Every assessment' : 'Assigned to me'
  const anyOf = (named: Named[], any: string): [string, string][] => [
    ...(any ? [['', any] as [string, string]] : []),
    ...named.map(({ id, name }): [string, string] => [id, name]),
  ]
  return {
    title: 'Invites',
    actions:
      may(ctx, 'invite') &&
      html`${linkButton(pathOf(ctx, 'invites/batches'), 'Invite many', 'upload')}${linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus', 'main')}`,
    tabs: statusTabs(path, form.values),
    body: html`${mistakes(form)}<section class="panel" aria-label="Invites">
<h2 class="sr-only" id="list-heading">Invites</h2>
<form method="get" action="${path}" class="filters">
<input type="hidden" name="state" value="${form.values.get('state')}">
${field(form, { name: 'search', label: 'Name or address, or words of it', type: 'search', optional: true })}
${choice(form, { name: 'assessment', label: 'Assessment', options: anyOf(assessments, readsAll || grades ? everything : '') })}
${readsAll && choice(form, { name: 'tag', label: 'Tag', options: anyOf(tags, 'Every tag') })}
${namedField(readNamed(form.values), [assessments, tags])}
${choice(form, { name: 'sort', label: 'Order', options: Object.entries(orders).map(([word, { label }]) => [word, label]) })}
<button class="btn">Show</button>
${isNarrowed(form.values) && html`<a class="btn btn-ghost" href="${path}">Reset</a>`}
${list && exportButton(`${path}/export`)}
</form>
${list && list.items.length > 0 ? inviteTable(ctx, list.items) : noRows(assessments.length > 0 || readsAll || grades ? 'There are none.' : 'You are not a client of any assessment.', path, form.values)}
${list && pager(path, form.values, list, ['invite', 'invites'])}
</section>`,
  }
}

const isNarrowed = (values: URLSearchParams): boolean =>
  ['state', 'search', 'assessment', 'tag', 'named'].some((name) => (values.get(name) ?? '') !== '')

/** A tab for each status, which keeps what else the list is narrowed to. */
function statusTabs(path: string, values: URLSearchParams): Html {
  const current = values.get('state') ?? ''
  return tabs(
    'Status',
    ['', ...INVITE_STATUSES].map((status) => {
      const query = new URLSearchParams(values)
      query.delete('page')
      query.set('state', status)
      const label = status === '' ? 'All' : `${status.charAt(0).toUpperCase()}${status.slice(1)}`
      return { label, address: `${path}?${query}`, isCurrent: status === current }
    }),
  )
}

const inviteTable = (ctx: Context, invites: ListedInvite[]) =>
  table(
    'list-heading',
    ['Candidate', 'Assessment', 'Status', 'Sent', 'Expires'],
    invites.map((invite) => {
      const { id, recipientEmail, recipientName, attempt, assessmentName, sentAt, expiresAt } = invite
      return [
        person({ name: recipientName, email: recipientEmail, address: pathOf(ctx, `invites/${id}`) }),
        attempt > 1 ? `${assessmentName} (attempt ${attempt})` : assessmentName,
        badge(wordState(invite)),
        ago(ctx, new Date(sentAt)),
        ago(ctx, new Date(expiresAt)),
      ]
    }),
  )
