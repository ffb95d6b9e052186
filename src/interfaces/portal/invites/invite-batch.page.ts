import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Issue } from '../../../domain/errors.ts'
import { BATCH_ROW_STATES, type Batch, type BatchRow, type InviteBatchRowState } from '../../../domain/invites/batches/batches.ts'
import type { BatchTerms } from '../../../domain/invites/batches/check-rows.ts'
import { needsConfirmation } from '../../../domain/invites/batches/control-batch.ts'
import type { MissingTags } from '../../../domain/invites/batches/missing-tags.ts'
import type { MailPlan } from '../../../domain/invites/batches/plan-mails.ts'
import { parseTerms, type TermNames } from '../../../domain/invites/batches/term-names.ts'
import type { FollowUp } from '../../../domain/invites/bulk/follow-up.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import type { Column } from '../../../http/sending/send-csv.ts'
import { nameLanguageIn } from '../../../locales/names.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { choice } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { pager } from '../kit/paging.ts'
import { addressCell, empty, linkButton, progressBar } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { SUPPRESSIONS } from '../organization/suppressions.page.ts'
import { ERASE_PEOPLE } from './bulk.page.ts'
import { creatorOf, nameOfBatch } from './invite-batches.page.ts'

const STATES: Record<InviteBatchRowState, string> = {
  ready: 'to be invited',
  invited: 'invited',
  already: 'already invited',
  repeated: 'duplicate',
  invalid: 'not possible',
  refused: 'refused',
}

/** @property isPaused true if the organization's bounce rate stops lists from sending. */
type Facts = {
  ctx: Context
  batch: Batch
  list: ListPage<BatchRow>
  names: TermNames
  values: URLSearchParams
  isPaused: boolean
  /** Schedule of the list's mails; null once it is started. */
  plan: MailPlan | null
  followUp: FollowUp
  /** Tags that can be created for the list; null once it is started. */
  missingTags: MissingTags | null
}

/** True while rows are being invited: the page then reloads by itself. */
export const isRunning = ({ startedAt, stoppedAt, finishedAt }: Batch): boolean => !!startedAt && !stoppedAt && !finishedAt

export const batchPage = ({ ctx, batch, list, names, values, isPaused, plan, followUp, missingTags }: Facts): Page => ({
  title: nameOfBatch(batch),
  subtitle: html`List for ${batch.assessment.name} · ${creatorOf(batch)}, ${timeAgo(ctx, batch.createdAt)}`,
  trail: [
    ['Invites', pathOf(ctx, 'invites')],
    ['Import candidates', pathOf(ctx, 'invites/batches')],
  ],
  body: html`<section class="panel" aria-labelledby="sum-heading">
<h2 class="mb-4" id="sum-heading">${headingOf(batch)}</h2>
${progress(batch)}
<dl class="details">${BATCH_ROW_STATES.map((state) => batch.counts[state] > 0 && html`<dt>${STATES[state]}</dt><dd>${batch.counts[state].toLocaleString('en')}</dd>\n`)}</dl>
${
  !batch.finishedAt &&
  html`<h3>Settings for everyone</h3>
<dl class="details">${formatTerms(parseTerms(batch.terms), names).map(([term, value]) => html`<dt>${term}</dt><dd class="preformatted">${value}</dd>\n`)}</dl>`
}
${batchWarnings(batch, followUp)}
${plan && mailPlan(plan)}
${whatNext(ctx, batch, { isPaused, isTooLate: !!plan?.tooLate, nameless: followUp.nameless, missingTags })}
</section>
${createdInvitesPanel(ctx, batch, followUp)}${earlierInvitesPanel(ctx, batch, followUp)}<section class="panel" aria-labelledby="rows-heading">
<h2 class="mb-4" id="rows-heading">Rows</h2>
<form method="get" action="${pathOf(ctx, `invites/batches/${batch.id}`)}" class="filters">
${choice({ values, issues: [] }, { name: 'state', label: 'Show', options: [['', 'All'], ...BATCH_ROW_STATES.map((state): [string, string] => [state, STATES[state]])] })}
<button class="btn">Apply</button>
</form>
${list.items.length === 0 ? empty('list-checks', 'No rows match.') : rowTable(ctx, list.items, names)}
${pager(pathOf(ctx, `invites/batches/${batch.id}`), values, list, ['row', 'rows'])}
</section>`,
})

function headingOf({ startedAt, stoppedAt, finishedAt }: Batch): string {
  if (finishedAt) return 'Outcome'
  if (stoppedAt) return 'Stopped'
  return startedAt ? 'Inviting' : 'Preview'
}

function progress({ startedAt, finishedAt, counts }: Batch): Html | false {
  if (!startedAt || finishedAt) return false
  const done = counts.invited
  return progressBar(done, done + counts.ready)
}

/** Duration of the mailing, if it takes more than a day. */
function mailPlan({ perDay, mails, days, lastAt, tooLate }: MailPlan): Html | false {
  if (days === 0) return false
  const duration = html`Your organization can send ${perDay.toLocaleString('en')} emails a day. The ${mails.toLocaleString('en')} of this list take ${days} ${days === 1 ? 'day' : 'days'}: the last ones leave on ${time(lastAt)}.`
  if (!tooLate) return html`<p class="mt-2">${duration}</p>`
  return html`<p class="alert alert-soft alert-error mt-2" role="note">${duration} That is too late for invites of ${tooLate.expiresInDays} ${tooLate.expiresInDays === 1 ? 'day' : 'days'}: their emails have to leave in the first half of that time. Give the invites more days, or split the list. Your service’s operator can allow more emails a day.</p>`
}

type StartState = { isTooLate: boolean; nameless: number; missingTags: MissingTags | null }

function whatNext(ctx: Context, batch: Batch, { isPaused, ...state }: { isPaused: boolean } & StartState): Html {
  const path = pathOf(ctx, `invites/batches/${batch.id}`)
  return html`<div class="mt-4 flex flex-wrap items-start gap-2">${isPaused ? paused(ctx, path) : actions(batch, path, state)}
<form method="post" action="${`${path}/export`}"><button class="btn">Export all rows as CSV</button></form></div>`
}

const paused = (
  ctx: Context,
  path: string,
): Html => html`<div>${notice('More than a tenth of your newest emails went to mailboxes that don’t exist. Mail servers may then treat your other emails as spam. Lists are paused until an admin has checked where they come from.')}
<p class="mt-2"><a href="${pathOf(ctx, SUPPRESSIONS)}">Blocked addresses</a></p>
${
  may(ctx, 'manage_settings') &&
  html`<form class="mt-4" method="post" action="${`${path}/resume`}"><label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="sure" value="yes" required> I have checked where the list comes from</label>
<button class="btn btn-primary">Resume</button></form>`
}</div>`

const notice = (words: string): Html => html`<p class="alert alert-soft alert-error" role="note">${words}</p>`

function actions(batch: Batch, path: string, state: StartState): Html | false {
  if (batch.finishedAt) return false
  if (!batch.startedAt) return beforeStart(batch, path, state)
  if (batch.stoppedAt)
    return html`<form method="post" action="${`${path}/resume`}"><p>Nobody else on the list is invited until you resume. <button class="btn btn-primary">Resume</button></p></form>`
  return html`<form method="post" action="${`${path}/stop`}"><p><button class="btn btn-error">Stop</button> The remaining candidates are not invited.</p></form>
<form method="post" action="${`${path}/resume`}"><p>Failures are retried automatically. If the number above stops moving: <button class="btn">Try again now</button></p></form>`
}

const beforeStart = (batch: Batch, path: string, { isTooLate, nameless, missingTags }: StartState): Html => html`${
  batch.counts.ready + (missingTags?.rows ?? 0) === 0
    ? html`<p>There is nobody to invite in this list.</p>`
    : !isTooLate &&
      html`<form method="post" action="${`${path}/start`}">${missingTags && missingTags.rows > 0 && tagOffer(missingTags, batch.counts.ready === 0)}${needsConfirmation(batch, nameless) && html`<label class="mb-2 flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="sure" value="yes" required> The list is right as it is</label>`}<p><button class="btn btn-primary">${inviteLabel(batch.counts.ready, missingTags?.rows ?? 0)}</button></p></form>`
}
<form method="post" action="${`${path}/discard`}"><p><button class="btn">Discard list</button></p></form>`

/** Rows that need new tags count only while the box that creates these is ticked. */
const inviteLabel = (ready: number, tagged: number): Html =>
  tagged === 0
    ? html`Invite ${formatCount(ready, 'candidate')}`
    : html`<span class="if-tags">Invite ${formatCount(ready + tagged, 'candidate')}</span><span class="if-no-tags">Invite ${formatCount(ready, 'candidate')}</span>`

/** @param isRequired true if nobody could be invited without the tags. */
const tagOffer = ({ names, rows }: MissingTags, isRequired: boolean): Html => {
  const [are, need] = rows === 1 ? ['is', 'needs'] : ['are', 'need']
  return html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="createTags" value="yes" checked ${isRequired && html`required`}> Create ${formatCount(names.length, 'tag')}: ${names.join(', ')}</label>
<p class="hint mb-2">${formatCount(rows, 'row')} ${need} ${names.length === 1 ? 'it' : 'them'}. If you untick the box, ${rows === 1 ? 'this row' : 'these rows'} ${are} not invited.</p>`
}

/** Warnings before the list is started. */
function batchWarnings({ unusedColumns, counts, startedAt }: Batch, { nameless }: FollowUp): Html {
  const unused = unusedColumns.length > 0 && html`<p>Unused columns: ${unusedColumns.join(', ')}.</p>`
  if (startedAt || (nameless === 0 && !unused)) return html`${unused}`
  return html`<div class="alert alert-soft alert-warning mt-3 block" role="note">${nameless > 0 && html`<p>${nameless.toLocaleString('en')} of ${formatCount(counts.ready, 'candidate')} ${nameless === 1 ? 'has' : 'have'} no name: their emails greet them without a name.</p>`}${unused}</div>`
}

/** Bulk actions for the invites that the list created. */
function createdInvitesPanel(ctx: Context, batch: Batch, { statuses }: FollowUp): Html | false {
  const { id, counts } = batch
  if (counts.invited === 0) return false
  const open = (statuses.get('pending') ?? 0) + (statuses.get('accepted') ?? 0)
  const started = statuses.get('started') ?? 0
  const revoking = (more: Record<string, string> = {}) =>
    `${pathOf(ctx, 'invites/changes/new')}?${new URLSearchParams({ action: 'revoke', all: 'yes', list: id, ...more })}`
  const canRevoke = may(ctx, 'operate_invites') && open + started > 0
  return panel(
    'made',
    'Invites from this list',
    html`<dl class="details">${[...statuses].map(([status, count]) => html`<dt>${status}</dt><dd>${count.toLocaleString('en')}</dd>\n`)}</dl>
${isRunning(batch) && notice('This list is still being invited. If it is wrong, stop it first: revoking now leaves out everyone who is invited later.')}
<div class="mt-4 flex flex-wrap gap-2">${linkButton(`${pathOf(ctx, 'invites')}?list=${id}`, 'Show these invites', 'list-checks')}${canRevoke && html`${linkButton(revoking(), open > 0 ? `Revoke ${formatCount(open, 'invite')}` : 'Revoke invites', 'ban')}${linkButton(revoking({ email: 'yes' }), 'Revoke and send an apology', 'mail-x')}`}${may(ctx, 'erase_candidates') && linkButton(`${pathOf(ctx, ERASE_PEOPLE)}?all=yes&list=${id}`, 'Erase these people', 'trash-2')}</div>
${canRevoke && html`<p class="hint mt-3">You can check who is affected before you confirm. Candidates who have started are not included unless you choose to.</p>`}`,
  )
}

/** Bulk actions for people on the list who were invited before. */
function earlierInvitesPanel(ctx: Context, { id }: Batch, { unnamed, closed }: FollowUp): Html | false {
  if (!may(ctx, 'operate_invites') || unnamed + closed === 0) return false
  const changing = (action: string, part: string) =>
    `${pathOf(ctx, 'invites/changes/new')}?${new URLSearchParams({ action, all: 'yes', list: id, part })}`
  return panel(
    'earlier',
    'Invited before',
    html`${unnamed > 0 && html`<p class="mb-4">${formatCount(unnamed, 'earlier invite')} ${unnamed === 1 ? 'has' : 'have'} no name, and this list has one. ${linkButton(changing('name', 'unnamed'), `Fill in ${formatCount(unnamed, 'name')}`, 'pencil', 'small')}</p>`}${closed > 0 && html`<p>${formatCount(closed, 'earlier invite')} ${closed === 1 ? 'is' : 'are'} revoked or expired. ${linkButton(changing('reactivate', 'closed'), `Reactivate ${formatCount(closed, 'invite')}`, 'rotate-ccw', 'small')}</p>`}`,
  )
}

/** Settings of the invites, in the order of the list's columns. */
function formatTerms(terms: BatchTerms, names: TermNames): [term: string, value: string][] {
  const nameOf = (id: string) => names.get(id) ?? 'deleted'
  const rows: [string, string | undefined | false][] = [
    ['Tags', terms.tagIds?.map(nameOf).join(', ')],
    ['Message', terms.customMessage],
    ['Extra time', terms.extraTimePercent ? `${terms.extraTimePercent} %` : undefined],
    ['Language', terms.language ? nameLanguageIn('en', terms.language) : undefined],
    ['Days until it expires', terms.expiresInDays === undefined ? undefined : String(terms.expiresInDays)],
    ['Grader', terms.assignedGraderId ? nameOf(terms.assignedGraderId) : undefined],
    ['Emails', terms.sendEmail === false && 'not sent'],
  ]
  return rows.flatMap(([term, value]): [string, string][] => (value ? [[term, value]] : []))
}

const rowTable = (ctx: Context, rows: BatchRow[], names: TermNames): Html =>
  table(
    'rows-heading',
    ['Email', 'Status', 'Reason', 'Name', 'Row settings', 'Row'],
    rows.map((row) => [
      row.inviteId
        ? html`<a href="${pathOf(ctx, `invites/${row.inviteId}`)}">${addressCell(row.email)}</a>`
        : addressCell(row.email),
      badge(STATES[row.state]),
      reasonOf(row),
      row.name,
      row.state !== 'invalid' &&
        formatTerms(parseTerms(row.terms), names).map(([term, value]) => html`<p class="preformatted">${term}: ${value}</p>`),
      row.number,
    ]),
  )

/** Reason why a row is not invited, or the current status of its invite. */
function reasonOf({ state, issues, repeats, status }: BatchRow): string {
  if (state === 'invited' || state === 'already') return status === null ? '' : `The invite is ${status}.`
  if (state === 'repeated') return `The same address as in row ${repeats}.`
  if (state === 'refused') return 'Whoever started the list no longer has permission to invite.'
  return (issues as Issue[]).map(formatIssue).join(' ')
}

/** Columns of the CSV with the outcome of each row. */
export const outcomeColumns: Column<BatchRow>[] = [
  ['row', ({ number }) => number],
  ['email', ({ email }) => email],
  ['name', ({ name }) => name],
  ['state', ({ state }) => STATES[state]],
  ['why', reasonOf],
  ['invite', ({ inviteId }) => inviteId],
]
