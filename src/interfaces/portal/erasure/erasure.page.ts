import type { Context } from '../../../domain/context.ts'
import { RETENTION_RULES, type RetentionRule } from '../../../domain/erasure/due-invites.ts'
import {
  ERASED_KINDS,
  type ErasedKind,
  type Erasure,
  MEMBER_KINDS,
  type MemberKind,
  RETAINED_DATA,
  RETAINED_MEMBER_DATA,
  type Subject,
} from '../../../domain/erasure/erasures.ts'
import type { Traces } from '../../../domain/erasure/find-traces.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { RETAINED_DATA_REASONS } from '../../../http/erasures/retained-data.ts'
import { time } from '../kit/formatting.ts'
import { checkboxes, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { sizedPager } from '../kit/paging.ts'
import { empty, personalDataLinks } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

export const ERASURES = 'settings/erasures'

/** Counts shown before an erasure. */
export const TRACE_LABELS: readonly (readonly [keyof Traces, string])[] = [
  ['invites', 'Invites, live and test'],
  ['submissions', 'Submissions, with their answers, grades, and results'],
  ['media', 'Photos and recordings'],
  ['mails', 'Emails to them'],
  ['listRows', 'Rows in imported lists'],
  ['suppressions', 'Blocked addresses'],
]

type ErasingFacts = { ctx: Context; inviteId: string; email: string; traces: Traces }

export const confirmErasurePage = (form: Form, { ctx, inviteId, email, traces }: ErasingFacts): Page => ({
  title: `Erase ${email}`,
  heading: 'Erase the candidate',
  subtitle: email,
  trail: [
    ['Candidates', pathOf(ctx, 'candidates')],
    [email, pathOf(ctx, `candidates/${inviteId}`)],
  ],
  body: html`${mistakes(form)}${panel(
    'found',
    'Data to erase',
    html`${table(
      'found-heading',
      ['Data', 'Count'],
      TRACE_LABELS.map(([kind, label]) => [label, traces[kind]]),
    )}
<p class="hint mt-3">Everything attached to these is erased too, such as replies from mail servers and webhooks. Backups keep the data until they are deleted.</p>`,
  )}${panel('stays', 'Data that is kept', retainedDataList('candidate'))}<section class="panel" aria-labelledby="erase-heading">
<h2 class="mb-4" id="erase-heading">Erase</h2>
${traces.open > 0 && html`<p class="mb-3">${traces.open === 1 ? 'One invite is' : `${traces.open} invites are`} still open: the candidate may be taking the assessment. ${traces.open === 1 ? 'It is' : 'They are'} revoked first.</p>`}
<form method="post" action="${pathOf(ctx, `candidates/${inviteId}/erase`)}">${onceField()}
${checkboxes(form, { name: 'sure', label: 'This can’t be undone', options: [['yes', 'Erase all of this for good']] })}
<button class="btn btn-error mt-3">Erase the candidate</button>
</form>
</section>`,
})

const ERASED: Record<ErasedKind, string> = {
  invites: 'Invites',
  submissions: 'Submissions',
  media: 'Photos and recordings',
  mails: 'Emails',
  listRows: 'Rows in imported lists',
  events: 'Events, which no longer name the candidate',
  webhookAnswers: 'Replies from webhooks',
  requestRecords: 'Stored API responses',
  otherTraces: 'Other traces',
  suppressions: 'Blocked addresses',
}

const OF_MEMBER: Record<MemberKind, string> = {
  members: 'Members',
  accounts: 'Sign-in methods',
  memberMails: 'Emails to them',
  auditEntries: 'Audit log entries, now without address and browser',
}

const MEMBER_RETENTION_REASONS: Record<(typeof RETAINED_MEMBER_DATA)[number], string> = {
  grades: 'Grades, comments, and released results, as those of a former grader',
  made: 'Assessments, questions, invites, and settings that they created or changed, as those of a former member',
  audit_entries: 'Their entries in the audit log, without name, address, and browser',
  keys: 'API keys that they generated, unless they were revoked',
  words: 'Texts that others wrote about them, and the organization’s own texts and addresses',
}

/** Lists the retained data, with reasons. */
export function retainedDataList(subject: Subject): Html {
  const reasons =
    subject === 'member'
      ? RETAINED_MEMBER_DATA.map((item) => MEMBER_RETENTION_REASONS[item])
      : RETAINED_DATA.map((item) => RETAINED_DATA_REASONS[item])
  return html`<ul class="list-disc pl-5">${reasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`
}

/** @param name of the member or key, if still known. */
export function formatRequester({ actorKind, actorId }: Pick<Erasure, 'actorKind' | 'actorId'>, name: string | null): string {
  if (actorKind === 'system') return 'the rules under Retention'
  if (actorId === null) return 'the operator'
  return name ?? (actorKind === 'apiKey' ? 'an API key' : 'a former member')
}

const TRACE_KINDS = ['requestRecords', 'otherTraces'] as const

export const RETENTION_RULE_LABELS: Record<RetentionRule, string> = {
  completed: 'Completed',
  expired: 'Expired',
  revoked: 'Revoked or declined',
}

const SUBJECT_LABELS: Record<Subject, string> = {
  candidate: 'A candidate',
  member: 'A member',
  retention: 'Ended invites',
}

const labelProgress = ({ finishedAt }: Erasure) => (finishedAt ? html`Done ${time(finishedAt)}` : 'In progress')

type ListFacts = { ctx: Context; list: ListPage<Erasure>; query: URLSearchParams }

export const erasuresPage = ({ ctx, list, query }: ListFacts): Page => ({
  title: 'Erasures',
  subtitle: 'Receipts of what was erased. They contain no names.',
  trail: [['Settings', pathOf(ctx, 'settings')]],
  body: html`<section class="panel" aria-labelledby="erasures-heading">
<h2 class="mb-4" id="erasures-heading">Receipts</h2>
${
  list.items.length === 0
    ? empty('file-text', 'Nothing has been erased. To erase a candidate or a member, open their page.', personalDataLinks(ctx))
    : table(
        'erasures-heading',
        ['Started', 'What', 'State', 'Invites'],
        list.items.map((erasure) => [
          html`<a class="named" href="${pathOf(ctx, `${ERASURES}/${erasure.id}`)}">${time(erasure.createdAt)}</a>`,
          SUBJECT_LABELS[erasure.subject],
          labelProgress(erasure),
          erasure.counts.invites,
        ]),
      )
}
${sizedPager(pathOf(ctx, ERASURES), query, list)}
</section>`,
})

type ErasureFacts = { ctx: Context; erasure: Erasure; requester: string; isAgain: boolean }

/**
 * Progress of an erasure, or its receipt. @param facts.requester name, if still known. @param facts.isAgain true if the reader
 * was led here from an erased candidate.
 */
export const erasurePage = ({ ctx, erasure, requester, isAgain }: ErasureFacts): Page => ({
  title: erasure.finishedAt ? 'Receipt of an erasure' : 'Erasure in progress',
  subtitle:
    erasure.subject === 'retention'
      ? html`Started ${time(erasure.createdAt)}, for ended invites`
      : html`Requested ${time(erasure.createdAt)} by ${requester}`,
  notice: isAgain
    ? erasure.finishedAt
      ? 'The candidate is erased already. This is the receipt.'
      : 'The candidate is being erased already.'
    : undefined,
  trail: [
    ['Settings', pathOf(ctx, 'settings')],
    ['Erasures', pathOf(ctx, ERASURES)],
  ],
  body: html`${panel(
    'state',
    'State',
    erasure.finishedAt
      ? html`<p>Done ${time(erasure.finishedAt)}. Backups keep what was erased until ${erasure.backupsUntil && time(erasure.backupsUntil)}.</p>`
      : html`<p>This can take a while. It continues until everything is erased, even if you leave this page.</p><p class="mt-3"><a class="btn" href="${pathOf(ctx, `${ERASURES}/${erasure.id}`)}">Refresh</a></p>`,
  )}${panel(
    'erased',
    erasure.finishedAt ? 'Erased data' : 'Data erased so far',
    table(
      'erased-heading',
      ['Data', 'Count'],
      [
        ...(erasure.subject === 'member' ? MEMBER_KINDS.map((kind) => [OF_MEMBER[kind], erasure.ofMember[kind]]) : []),
        ...(erasure.subject === 'member' ? TRACE_KINDS : ERASED_KINDS).map((kind) => [ERASED[kind], erasure.counts[kind]]),
        ...(erasure.subject === 'retention'
          ? RETENTION_RULES.map((rule) => [`Invites: ${RETENTION_RULE_LABELS[rule].toLowerCase()}`, erasure.byRule[rule]])
          : []),
      ],
    ),
  )}${panel(
    'stays',
    'Data that is kept',
    html`${retainedDataList(erasure.subject)}
<p class="hint mt-3">Receipt number: ${erasure.id}</p>`,
  )}`,
})
