import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import {
  type AnswerKeyChange,
  type CorrectableVersion,
  type CorrectedKey,
  type CorrectionProgress,
  isRunning,
} from '../../../domain/submissions/corrections/correct-key.ts'
import type { UnchangedAnswer, UnchangedReason } from '../../../domain/submissions/corrections/list-unchanged.ts'
import type { UnacceptedAnswer } from '../../../domain/submissions/corrections/unaccepted-answers.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { type KindPart, kindFields } from '../assessments/kind-form.ts'
import { time } from '../kit/formatting.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { pager } from '../kit/paging.ts'
import { empty, progressBar } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { correctionCounts } from './counts.ts'

type KeyEffect = AnswerKeyChange['effect']

export const EFFECTS: Record<KeyEffect, string> = {
  key: 'Another key',
  full: 'Full points for everybody',
  none: 'The question is not counted',
}

export type KeyFacts = {
  ctx: Context
  version: CorrectableVersion
  kind: KindPart | null
  unaccepted: UnacceptedAnswer[]
  outcome: UnchangedReason
  unchanged: ListPage<UnchangedAnswer>
  query: URLSearchParams
}

/** The answer key of a question that was used, its earlier versions, and the form that corrects it. */
export function keyPage(form: Form, facts: KeyFacts): Page {
  const { ctx, version, unaccepted } = facts
  const path = pathOf(ctx, `keys/${version.versionId}`)
  const [newest] = version.keys
  return {
    title: 'Answer key',
    trail: [['Assessments', pathOf(ctx, 'assessments')]],
    subtitle: html`<span dir="auto">${plainQuestionText(version).slice(0, 300)}</span>`,
    body: html`${mistakes(form)}${newest && newest.number > 1 && correctionOutcome(facts, newest, path)}
<div class="grid items-start gap-6 lg:grid-cols-2">
${panel('correct', 'Correct the key', newest && isRunning(newest) ? html`<p>The last correction is still in progress.</p>` : correctionForm(form, facts, path))}
<div class="space-y-6">${unaccepted.length > 0 && panel('unaccepted', 'Answers that are not accepted', unacceptedList(ctx, unaccepted, path))}
${panel('keys', 'Keys', history(ctx, version))}</div>
</div>`,
  }
}

function correctionForm(form: Form, { kind }: KeyFacts, path: string): Html {
  const chosen = form.values.get('effect') ?? 'key'
  return html`<p class="mb-4">All submitted answers to this question are scored again, in live and test data. You see a preview of the changes first.</p>
<form method="post" action="${`${path}/preview`}"><button class="sr-only" tabindex="-1" aria-hidden="true">Preview changes</button>
<fieldset class="mb-4" id="effect" tabindex="-1"><legend class="mb-1.5 text-sm font-medium">From now on</legend>
${(Object.keys(EFFECTS) as KeyEffect[]).map((effect) => html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="radio" class="radio radio-sm" name="effect" value="${effect}" ${effect === chosen && html`checked`}> ${EFFECTS[effect]}</label>`)}</fieldset>
${kind ? html`<div class="mb-4 border-l-4 border-base-300 pl-4"><p class="hint mb-2">Applies to the first choice only. Candidates’ own pages don’t change.</p>${kindFields(form, kind, true)}</div>` : html`<p class="hint mb-4">This service doesn’t know the answer format, so you can’t write another key.</p>`}
${field(form, { name: 'reason', label: 'Reason', hint: 'For your organization. Shown in the audit log.' })}
<button class="btn btn-primary">Preview changes</button>
</form>`
}

const unacceptedList = (
  ctx: Context,
  unaccepted: UnacceptedAnswer[],
  path: string,
): Html => html`<p class="hint mb-3" id="unaccepted" tabindex="-1">In ${ctx.mode === 'test' ? 'test data' : 'submitted answers'}, the most frequent first. If you accept one, the key is corrected. You see the changes first.</p>
${table(
  'unaccepted-heading',
  ['Answer', 'Count', '(Accept)'],
  unaccepted.map(({ answer, count, canAccept }) => [
    html`<span class="script" dir="auto">${answer}</span>`,
    count,
    canAccept
      ? html`<form method="post" action="${`${path}/preview`}" class="flex items-center gap-2"><input type="hidden" name="accept" value="${answer}"><input type="hidden" name="reason" value="${`Accepted: ${answer}`.slice(0, 200)}"><input class="input input-sm w-16" name="share" value="100" inputmode="numeric" autocomplete="off" aria-label="${`Percent of the points for ${answer}`}">% <button class="btn btn-sm">Accept<span class="sr-only"> ${answer}</span></button></form>`
      : html`<span class="quiet">can’t be accepted on its own</span>`,
  ]),
)}`

const history = (ctx: Context, { keys, replacesId }: CorrectableVersion): Html =>
  html`${table(
    'keys-heading',
    ['Key', 'Since', 'By', 'Effect', 'Reason'],
    keys.map(({ number, createdAt, createdBy, effect, reason }) => [
      number,
      time(createdAt),
      createdBy ? displayNameOf(createdBy.user) : number === 1 && 'original',
      number === 1 ? 'the first key' : EFFECTS[effect as KeyEffect],
      html`<span class="preformatted" dir="auto">${reason}</span>`,
    ]),
  )}
${replacesId !== null && html`<p class="mt-3"><a href="${pathOf(ctx, `keys/${replacesId}`)}">The earlier version of the question</a> has its own key.</p>`}`

/** Progress of the last correction, and its effects. */
function correctionOutcome({ ctx, outcome, unchanged, query }: KeyFacts, newest: CorrectedKey, path: string): Html {
  const { counts, done, papers, releasedAnew } = newest.progress as CorrectionProgress
  const modeCounts = counts[ctx.mode === 'test' ? 'test' : 'live']
  const lower = newest.releases === 'raise' ? modeCounts.releasedLess : 0
  const keptReasons = [
    lower > 0 && `because they would be lower: ${lower}`,
    modeCounts.releasedOpen > 0 && `because they need a grader: ${modeCounts.releasedOpen}`,
  ].filter((part) => part !== false)
  if (isRunning(newest))
    return html`<div class="mb-6">${panel(
      'running',
      'Correction in progress',
      html`${progressBar(done, Math.max(papers, done))}
<form class="mt-3" method="post" action="${`${path}/resume`}"><button class="btn btn-sm">Continue if it has stopped</button></form>`,
    )}</div>`
  const reasonItem = (reason: UnchangedReason, label: string, count: number) =>
    count > 0 &&
    (reason === outcome && unchanged.total > 0
      ? html`<li><strong>${label}</strong></li>`
      : html`<li><a href="${`${path}?list=${reason}#unchanged`}">${label}</a></li>`)
  return html`<div class="mb-6 space-y-6">${panel(
    'done',
    `Key ${newest.number} is applied`,
    html`${correctionCounts(counts)}
<p>${formatCount(releasedAnew, 'result')} ${releasedAnew === 1 ? 'was' : 'were'} released again.</p>
${modeCounts.decided + keptReasons.length > 0 && html`<ul class="mt-3 list-disc pl-5" id="unchanged">${reasonItem('decided', `Decided before the key was changed: ${modeCounts.decided}`, modeCounts.decided)}${reasonItem('kept', `Released as they were, ${keptReasons.join(', and ')}`, keptReasons.length)}</ul>`}
${unchanged.total > 0 ? html`<div class="mt-3">${list(ctx, unchanged)}${pager(path, query, unchanged, ['answer', 'answers'])}</div>` : counts.live.handedIn + counts.test.handedIn === 0 && empty('list-checks', 'Nothing was submitted.')}`,
  )}</div>`
}

const list = (ctx: Context, { items }: ListPage<UnchangedAnswer>): Html =>
  table(
    'done-heading',
    ['Candidate', 'Assessment', 'Question', 'The key gives'],
    items.map(({ submissionId, recipientName, recipientEmail, assessment, number, points }) => [
      html`<a href="${pathOf(ctx, `grading/${submissionId}#question-${number}`)}">${recipientName ?? recipientEmail}</a>`,
      assessment,
      number,
      points === null ? 'a grader has to decide' : formatCount(points, 'point'),
    ]),
  )
