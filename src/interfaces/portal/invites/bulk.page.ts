import type { Context } from '../../../domain/context.ts'
import type { Issue } from '../../../domain/errors.ts'
import {
  BULK_ROW_STATES,
  type BulkAction,
  type BulkChange,
  type BulkChangeRow,
  type BulkRowState,
  type ListedBulkChange,
} from '../../../domain/invites/bulk/bulk-changes.ts'
import { parseParams } from '../../../domain/invites/bulk/bulk-params.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import type { Column } from '../../../http/sending/send-csv.ts'
import { timeAgo } from '../kit/formatting.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { pager } from '../kit/paging.ts'
import { empty, linkButton, person, progressBar, tabs } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { type BulkFormFacts, bulkFields, countRevocable } from './bulk-fields.ts'

type ActionTexts = { label: string; icon: IconName; title: (count: number) => string; explanation: string }
const invites = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'invite' : 'invites'}`

/** Bulk actions, in the order of their buttons. */
export const BULK_ACTION_TEXTS: Record<BulkAction, ActionTexts> = {
  resend: {
    label: 'Send again',
    icon: 'send',
    title: (count) => `Send ${count.toLocaleString('en')} ${count === 1 ? 'invitation' : 'invitations'} again`,
    explanation:
      'Candidates who can still take the assessment get the invitation again, with the same link. Those who got it less than a minute ago are skipped.',
  },
  extend: {
    label: 'Extend',
    icon: 'calendar-plus',
    title: (count) => `Extend ${invites(count)}`,
    explanation: 'Pending and accepted invites get a new expiry date. No invite expires earlier than before.',
  },
  tag: {
    label: 'Tag',
    icon: 'tags',
    title: (count) => `Tag ${invites(count)}`,
    explanation: 'The tag is added to each invite that doesn’t have it.',
  },
  assign: {
    label: 'Assign',
    icon: 'user-cog',
    title: (count) => `Assign ${invites(count)} to a grader`,
    explanation: 'This grader replaces the invites’ present graders.',
  },
  revoke: {
    label: 'Revoke',
    icon: 'ban',
    title: (count) => `Revoke ${invites(count)}`,
    explanation:
      'Their links stop working. Completed invites stay as they are. You can reactivate the invites later, with new links.',
  },
  reactivate: {
    label: 'Reactivate',
    icon: 'rotate-ccw',
    title: (count) => `Reactivate ${invites(count)}`,
    explanation:
      'Expired and revoked invites become pending again, and each candidate is emailed a new link. Candidates who have declined are skipped.',
  },
  name: {
    label: 'Fill in names',
    icon: 'pencil',
    title: (count) => `Fill in the names of ${invites(count)}`,
    explanation: 'Pending invites without a name get the name that the list has for their address.',
  },
  erase: {
    label: 'Erase people',
    icon: 'trash-2',
    title: (count) => `Erase the people of ${invites(count)}`,
    explanation: 'All data of these people is erased for good.',
  },
  decide: {
    label: 'Decide',
    icon: 'list-checks',
    title: (count) => `Decide about ${count.toLocaleString('en')} ${count === 1 ? 'candidate' : 'candidates'}`,
    explanation: 'Replaces earlier decisions and their notes. Candidates are not told.',
  },
}

export const ERASE_PEOPLE = 'candidates/erase'

/** Page of the imported list that a selection is limited to. */
const listPathOf = (ctx: Context, selection: URLSearchParams): string | undefined => {
  const id = selection.get('list') ?? ''
  return isUuid(id) ? pathOf(ctx, `invites/batches/${id}`) : undefined
}

/** Page of a bulk change. Remembers the imported list that the change began on. */
export const changePathOf = (ctx: Context, id: string, selection: URLSearchParams): string =>
  pathOf(ctx, `invites/changes/${id}${listPathOf(ctx, selection) ? `?list=${selection.get('list')}` : ''}`)

/** Actions offered for any selection. The others are reached from other pages. */
export const LIST_ACTIONS = ['resend', 'extend', 'tag', 'assign', 'reactivate', 'revoke'] as const satisfies BulkAction[]

export function newBulkChangePage(form: Form, facts: BulkFormFacts): Page {
  const { ctx, action, count, chosen } = facts
  const { title, explanation } = BULK_ACTION_TEXTS[action]
  return {
    title: title(action === 'revoke' ? countRevocable(facts) : count),
    trail: [['Invites', pathOf(ctx, 'invites')]],
    body: html`${mistakes(form)}<form class="panel max-w-2xl" method="post" action="${pathOf(ctx, 'invites/changes')}">${onceField()}
<input type="hidden" name="action" value="${action}">
<input type="hidden" name="most" value="${count}">
${chosen.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<p class="mb-4">${explanation}</p>
${bulkFields(form, facts)}
<div class="flex flex-wrap gap-2">${submitButton(facts)}<a class="btn" href="${listPathOf(ctx, new URLSearchParams(chosen)) ?? pathOf(ctx, action === 'decide' ? 'results' : 'invites')}">Cancel</a></div>
</form>`,
  }
}

/** An extension previews its dates before it can be submitted. */
function submitButton({ ctx, action, extension }: BulkFormFacts): Html {
  const { label, icon: name } = BULK_ACTION_TEXTS[action]
  const isSeen = action !== 'extend' || extension !== null
  return html`${action === 'extend' && html`<button class="${isSeen ? 'btn' : 'btn btn-primary'}" formmethod="get" formaction="${pathOf(ctx, 'invites/changes/new')}">Show the new dates</button>`}${isSeen && html`<button class="${action === 'revoke' ? 'btn btn-error' : 'btn btn-primary'}">${icon(name)}${label}</button>`}`
}

const STATES: Record<BulkRowState, string> = { ready: 'waiting', done: 'done', invalid: 'not possible', refused: 'not allowed' }

/** True while rows are being changed: the page then reloads by itself. */
export const isInProgress = ({ stoppedAt, finishedAt }: ListedBulkChange): boolean => !stoppedAt && !finishedAt

const stateOf = ({ stoppedAt, finishedAt }: ListedBulkChange): string =>
  finishedAt ? 'finished' : stoppedAt ? 'stopped' : 'in progress'

type Facts = {
  ctx: Context
  change: BulkChange
  list: ListPage<BulkChangeRow>
  names: Map<string, string>
  values: URLSearchParams
}

export function bulkChangePage({ ctx, change, list, names, values }: Facts): Page {
  const path = pathOf(ctx, `invites/changes/${change.id}`)
  const total = change.count
  const readyCount = change.counts.ready
  const from = listPathOf(ctx, values)
  return {
    title: BULK_ACTION_TEXTS[change.action].title(total),
    state: badge(stateOf(change)),
    subtitle: html`${formatParameters(change, names)}${displayNameOf(change.createdBy.user)}, ${timeAgo(ctx, change.createdAt)}`,
    trail: [
      ['Invites', pathOf(ctx, 'invites')],
      ['Bulk changes', pathOf(ctx, 'invites/changes')],
    ],
    actions: html`${from !== undefined && linkButton(from, 'Back to the list', 'list-checks')}<form method="post" action="${`${path}/export`}"><button class="btn">${icon('download')}Export as CSV</button></form>`,
    tabs: stateTabs(changePathOf(ctx, change.id, values), change, values),
    body: html`${!change.finishedAt && panel('progress', 'Progress', html`${progressBar(total - readyCount, total)}${controls(change, path)}`)}
<section class="panel" aria-label="Invites"><h2 class="sr-only" id="rows-heading">Invites</h2>
${change.action === 'erase' && html`<p class="hint mb-3">Erased people disappear from this page.</p>\n`}${list.items.length === 0 ? empty('list-checks', 'No invites here.') : rowTable(ctx, list.items)}
${pager(path, values, list, ['invite', 'invites'])}
</section>`,
  }
}

const stateTabs = (path: string, change: BulkChange, values: URLSearchParams): Html => {
  const current = values.get('state') ?? ''
  const tab = (state: '' | BulkRowState, label: string, count: number) => ({
    label,
    count,
    address: state === '' ? path : `${path}${path.includes('?') ? '&' : '?'}state=${state}`,
    isCurrent: current === state,
  })
  return tabs('Outcome', [
    tab(
      '',
      'All',
      BULK_ROW_STATES.reduce((sum, state) => sum + change.counts[state], 0),
    ),
    ...BULK_ROW_STATES.map((state) => tab(state, capitalize(STATES[state]), change.counts[state])),
  ])
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Parameters of a change, for the line before its author. */
function formatParameters(change: BulkChange, names: Map<string, string>): string {
  const { expiresOn, addedDays, expiresInDays, tagId, graderId, message, sendsAgain, includesStarted, decision } =
    parseParams(change)
  const nameOf = (id: string) => names.get(id) ?? 'deleted'
  const parts: Record<BulkAction, (string | false | undefined)[]> = {
    resend: [],
    extend: [
      expiresOn ? `To ${day.format(new Date(expiresOn))}` : `${addedDays} ${addedDays === 1 ? 'day' : 'days'} after each expiry`,
    ],
    tag: [nameOf(tagId ?? '')],
    assign: [graderId ? nameOf(graderId) : 'Nobody'],
    revoke: [message !== undefined && 'With an email', includesStarted && 'Including started invites'],
    reactivate: [`For ${expiresInDays} days`],
    name: [sendsAgain && 'Sent again'],
    decide: [nameOf(`decision ${decision}`)],
    erase: [includesStarted && 'Including people who have started'],
  }
  return parts[change.action].flatMap((part) => (part ? [`${part} · `] : [])).join('')
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const controls = (change: BulkChange, path: string): Html =>
  change.stoppedAt
    ? html`<form class="mt-4" method="post" action="${`${path}/resume`}"><p class="mb-3">The waiting invites don’t change until you resume.</p><button class="btn btn-primary">Resume</button></form>`
    : html`<div class="mt-4 flex flex-wrap items-center gap-3"><form method="post" action="${`${path}/stop`}"><button class="btn btn-error">Stop</button></form>
<form method="post" action="${`${path}/resume`}"><button class="btn">Try again now</button></form><p class="hint grow basis-64">Failures are retried automatically. If the number stops moving, press “Try again now”.</p></div>`

const rowTable = (ctx: Context, rows: BulkChangeRow[]): Html =>
  table(
    'rows-heading',
    ['Candidate', 'Assessment', 'Outcome', 'Reason'],
    rows.map(({ inviteId, invite, state, issues }) => [
      person({
        name: invite.recipientName,
        email: invite.recipientEmail,
        address: pathOf(ctx, `invites/${inviteId}`),
      }),
      invite.assessment.name,
      badge(STATES[state]),
      reasonOf({ state, issues }),
    ]),
  )

const reasonOf = ({ state, issues }: Pick<BulkChangeRow, 'state' | 'issues'>): string =>
  state === 'refused'
    ? 'The member who started this no longer has permission for it.'
    : (issues as Issue[]).map(reviveDates).map(formatIssue).join(' ')

/** Columns of the CSV with the outcome of each invite. */
export const bulkOutcomeColumns: Column<BulkChangeRow>[] = [
  ['row', ({ number }) => number],
  ['email', ({ invite }) => invite.recipientEmail],
  ['name', ({ invite }) => invite.recipientName],
  ['assessment', ({ invite }) => invite.assessment.name],
  ['outcome', ({ state }) => STATES[state]],
  ['why', reasonOf],
  ['invite', ({ inviteId }) => inviteId],
]

/** JSON has times as text; messages need a date. */
const reviveDates = (issue: Issue): Issue =>
  issue.rule === 'mailed' && issue.limit !== null ? { ...issue, limit: new Date(issue.limit) } : issue

export const bulkChangesPage = (ctx: Context, changes: ListedBulkChange[]): Page => ({
  title: 'Bulk changes',
  trail: [['Invites', pathOf(ctx, 'invites')]],
  body: html`<section class="panel" aria-label="Bulk changes"><h2 class="sr-only" id="changes-heading">Bulk changes</h2>
${
  changes.length === 0
    ? empty(
        'list-checks',
        'No bulk changes yet. Select some invites in the list, then choose what to do with them.',
        html`<a class="btn btn-sm" href="${pathOf(ctx, 'invites')}">Go to the invites</a>`,
      )
    : table(
        'changes-heading',
        ['Action', 'Status', 'By', 'When'],
        changes.map((change) => [
          html`<a href="${pathOf(ctx, `invites/changes/${change.id}`)}">${BULK_ACTION_TEXTS[change.action].label}</a>`,
          badge(stateOf(change)),
          displayNameOf(change.createdBy.user),
          timeAgo(ctx, change.createdAt),
        ]),
      )
}
</section>`,
})
