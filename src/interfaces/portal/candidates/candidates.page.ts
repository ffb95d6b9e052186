import { may } from '../../../domain/authorization/permissions.ts'
import {
  type Candidate,
  type CandidateOrder,
  type CandidatePage,
  MAX_COUNTED,
  MAX_SEARCHED,
} from '../../../domain/candidates/list-candidates.ts'
import type { CandidateDetail, CandidateMail, InviteOfCandidate } from '../../../domain/candidates/read-candidate.ts'
import { MAX_INVITES, MAX_MAILS } from '../../../domain/candidates/read-candidate.ts'
import type { Context } from '../../../domain/context.ts'
import { shownEmailState } from '../../../domain/invites/emails.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { ERASE_PEOPLE } from '../invites/bulk.page.ts'
import { formatExpiry } from '../invites/invite-list.ts'
import { timelineList } from '../invites/timeline.ts'
import { labelInviteStatus, time, timeAgo } from '../kit/formatting.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { filterLine, noRows, pageSizes } from '../kit/paging.ts'
import { empty, linkButton, person } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { type SortableHeading, table } from '../kit/table.ts'
import { labelMail } from '../reminders/reminder-labels.ts'

type ListFacts = { ctx: Context; page: CandidatePage | null; undelivered: Set<string>; order: CandidateOrder; size: number }

/** @param facts.page null if the search is refused. */
export function candidatesPage(form: Form, { ctx, page, undelivered, order, size }: ListFacts): Page {
  const path = pathOf(ctx, 'candidates')
  const query = form.values
  const search = field(form, { name: 'search', label: 'Name or email', type: 'search', optional: true })
  return {
    title: 'Candidates',
    actions: may(ctx, 'erase_candidates') && linkButton(erasingPath(ctx, query), 'Erase people', 'trash-2'),
    body: html`${mistakes(form)}<section class="panel" aria-label="Candidates">
<h2 class="sr-only" id="candidates-heading">Candidates</h2>
${filterLine(path, query, search)}
${page?.isCut && html`<p class="hint mb-3">Many invites match, and only the first ${MAX_SEARCHED.toLocaleString('en')} are searched for candidates. Enter more of the name or address.</p>`}
${page && page.candidates.length > 0 ? candidateTable(ctx, path, query, page.candidates, { order, undelivered }) : noCandidates(ctx, path, query)}
${page && pageLinks(path, query, page, size)}
</section>`,
  }
}

const erasingPath = (ctx: Context, query: URLSearchParams): string => {
  const search = query.get('search')
  return pathOf(ctx, search ? `${ERASE_PEOPLE}?${new URLSearchParams({ all: 'yes', search })}` : ERASE_PEOPLE)
}

const noCandidates = (ctx: Context, path: string, query: URLSearchParams): Html =>
  query.get('search') || query.get('after')
    ? noRows('No candidates match.', path, query)
    : empty(
        'users',
        'No candidates yet. Everyone you invite to an assessment appears here, with all their invites and results.',
        may(ctx, 'invite') && linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus'),
      )

function candidateTable(
  ctx: Context,
  path: string,
  query: URLSearchParams,
  candidates: Candidate[],
  { order, undelivered }: Pick<ListFacts, 'order' | 'undelivered'>,
): Html {
  const head = (label: string, column: CandidateOrder, direction: 'ascending' | 'descending'): SortableHeading => {
    const sortedQuery = new URLSearchParams(query)
    sortedQuery.delete('after')
    sortedQuery.set('sort', column)
    return { label, address: `${path}?${sortedQuery}`, ...(column === order && { direction }) }
  }
  return table(
    'candidates-heading',
    [
      head('Candidate', 'address', 'ascending'),
      'Latest assessment',
      'Status',
      head('Invited', 'latest', 'descending'),
      'Invites',
    ],
    candidates.map((candidate) => [
      person({ name: candidate.name, email: candidate.email, address: pathOf(ctx, `candidates/${candidate.id}`) }),
      candidate.assessment,
      badge(undelivered.has(candidate.id) ? 'not delivered' : labelInviteStatus(candidate)),
      timeAgo(ctx, candidate.sentAt),
      candidate.count < MAX_COUNTED ? candidate.count : `${MAX_COUNTED} or more`,
    ]),
  )
}

/** Links to the first and the next page. Candidates are not counted. */
function pageLinks(path: string, query: URLSearchParams, { candidates, hasMore }: CandidatePage, size: number): Html {
  const first = new URLSearchParams(query)
  first.delete('after')
  const next = new URLSearchParams(query)
  next.set('after', candidates.at(-1)?.id ?? '')
  return html`<nav class="mt-4 flex gap-2" aria-label="Pages">
${query.get('after') && html`<a class="btn btn-sm" href="${`${path}?${first}`}">First</a>`}
${hasMore && html`<a class="btn btn-sm" href="${`${path}?${next}`}">Next</a>`}
</nav>${(hasMore || query.get('after')) && pageSizes(path, first, size)}`
}

export function candidatePage(ctx: Context, candidate: CandidateDetail & { undelivered: Set<string> }): Page {
  const { email, name, invites, hasMore, timeline, mails, undelivered } = candidate
  const assessments = new Map(invites.map(({ id, assessment }) => [id, assessment]))
  return {
    title: `Candidate ${email}`,
    heading: name || email,
    subtitle: name && email,
    trail: [['Candidates', pathOf(ctx, 'candidates')]],
    actions: html`${may(ctx, 'erase_candidates') && invites[0] && html`<a class="btn" href="${pathOf(ctx, `candidates/${invites[0].id}/archive`)}">${icon('archive')}Download all data</a><a class="btn" href="${pathOf(ctx, `candidates/${invites[0].id}/erase`)}">${icon('trash-2')}Erase</a>`}${may(ctx, 'invite') && linkButton(pathOf(ctx, 'invites/new'), 'Invite a candidate', 'plus')}`,
    body: html`${panel(
      'invites',
      'Invites',
      html`${inviteTable(ctx, invites, undelivered)}${hasMore && html`<p class="mt-4">Only the latest ${MAX_INVITES} are shown. <a href="${`${pathOf(ctx, 'invites')}?${new URLSearchParams({ search: email })}`}">All invites of this address</a></p>`}`,
    )}${panel('timeline', 'Timeline', timelineList('timeline-heading', timeline, assessments))}${panel(
      'mails',
      'Emails',
      mails.length === 0 ? html`<p class="hint">No emails yet.</p>` : mailTable(ctx, mails),
    )}`,
  }
}

const inviteTable = (ctx: Context, invites: InviteOfCandidate[], undelivered: Set<string>): Html =>
  table(
    'invites-heading',
    ['Assessment', 'Status', 'Result', 'Sent', 'Expires'],
    invites.map((invite) => [
      html`<a href="${pathOf(ctx, `invites/${invite.id}`)}">${invite.attempt > 1 ? `${invite.assessment} (attempt ${invite.attempt})` : invite.assessment}</a>`,
      badge(undelivered.has(invite.id) ? 'not delivered' : labelInviteStatus(invite)),
      resultOf(ctx, invite),
      timeAgo(ctx, invite.sentAt),
      formatExpiry(ctx, invite),
    ]),
  )

function resultOf(ctx: Context, { id, submissionId, result }: InviteOfCandidate): Value {
  if (submissionId === null) return null
  if (result === null) return html`<a href="${pathOf(ctx, `invites/${id}/submission`)}">Not released</a>`
  const percent = result.percent !== null && ` (${result.percent} %)`
  return html`<a href="${pathOf(ctx, `results/${submissionId}`)}">${result.points} of ${result.ofPoints}${percent}</a>`
}

const mailTable = (ctx: Context, mails: CandidateMail[]): Html =>
  html`${table(
    'mails-heading',
    ['Email', 'Assessment', 'Status', 'Created', 'Sent', 'Reason'],
    mails.map((mail) => [
      labelMail(mail.kind),
      mail.assessment,
      badge(shownEmailState(mail, ctx.deps.clock())),
      time(mail.createdAt),
      mail.sentAt && time(mail.sentAt),
      mail.reason,
    ]),
  )}${mails.length === MAX_MAILS && html`<p class="hint mt-3">Only the latest ${MAX_MAILS} are shown.</p>`}`
