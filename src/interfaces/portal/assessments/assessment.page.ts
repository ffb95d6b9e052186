import type { AssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import type { Assessment } from '../../../domain/assessments/assessments.ts'
import type { Cautions } from '../../../domain/assessments/cautions.ts'
import type { ListedQuestion } from '../../../domain/assessments/questions.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { wordCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { AUDIENCE_LABELS, demandsOf, FORMAT_LABELS, labelOf } from '../kit/assessment-words.ts'
import { confirmation } from '../kit/confirm.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { pager } from '../kit/paging.ts'
import { facts as factList, linkButton, more } from '../kit/parts.ts'
import { parted, time } from '../kit/wording.ts'
import { deleteTestData } from '../test-data/test-data.page.ts'
import { headOf, inviting } from './assessment-head.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { cautionsShown } from './cautions.ts'
import { whyNoKinds } from './kind-form.ts'
import { addQuestionBox, questionCards, readCards } from './question-cards.ts'

/** What all pages of an assessment show. @property cautions what might not be thought of. */
export type Facts = {
  ctx: Context
  assessment: Assessment
  input: AssessmentInput
  questions: Listing<ListedQuestion>
  cautions: Cautions
}

/** An assessment's questions, with what there is to know of it beside them. */
export function assessmentPage(form: Form, facts: Facts & { notice: string | undefined }): Page {
  const { ctx, assessment, questions, notice } = facts
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const importPath = pathOf(ctx, `questions/imports/new?assessment=${assessment.id}`)
  return {
    ...headOf(
      facts,
      html`${linkButton(`${path}/preview`, 'Preview', 'eye')}${may(ctx, 'write_assessments') && more(confirmable(assessment, path))}${inviting(ctx, assessment)}`,
    ),
    notice,
    tabs: assessmentTabs(ctx, assessment, 'questions'),
    body: html`${mistakes(form)}${isHeldByTests(form) && deleteTestData(ctx)}<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
${may(ctx, 'write_assessments') ? questionList(path, questions, { refusal: whyNoKinds(ctx), importPath }) : readList(path, questions)}
${panel(
  'facts',
  'Details',
  html`${details(facts)}
${cautionsShown(facts.cautions, assessment.questionCount)}`,
)}
</div>`,
  }
}

/**
 * An assessment's questions with the form of one beside them; on a phone the form alone. The form comes first for who goes through the page
 * by keys, or hears it.
 *
 * @param open.currentId the question whose form it is; undefined: a new one's. @param open.side the form. @param open.previewAddress of the
 *   candidate's page with the question.
 */
export function editorPage(facts: Facts, open: { title: string; currentId?: string; side: Html; previewAddress: string }): Page {
  const { ctx, assessment, questions } = facts
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const importPath = pathOf(ctx, `questions/imports/new?assessment=${assessment.id}`)
  return {
    ...headOf(
      facts,
      html`<a class="btn" href="${open.previewAddress}" target="_blank" data-preview-link>${icon('eye')}Preview</a>`,
    ),
    title: `${open.title}: ${assessment.name}`,
    heading: assessment.name,
    tabs: assessmentTabs(ctx, assessment, 'questions'),
    body: html`<div class="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_26rem]">
<div data-side class="lg:sticky lg:top-4 lg:col-start-2 lg:row-start-1 lg:max-h-[calc(100dvh-2rem)] lg:scroll-pb-24 lg:overflow-y-auto">${open.side}</div>
<div class="space-y-6 max-lg:hidden lg:col-start-1 lg:row-start-1"><div data-preview-place></div>${questionList(path, questions, { refusal: whyNoKinds(ctx), importPath }, open.currentId)}</div>
</div>`,
  }
}

const questionList = (
  path: string,
  questions: Listing<ListedQuestion>,
  { refusal, importPath }: { refusal: string | undefined; importPath: string },
  currentId?: string,
): Html => html`<section id="order" aria-labelledby="questions-heading">
<div class="mb-3 flex items-center gap-3"><h2 id="questions-heading">Questions</h2><div class="ml-auto flex flex-wrap gap-2">${linkButton(`${path}/library`, 'Add from library', 'book-open', 'small')}${linkButton(importPath, 'Import', 'upload', 'small')}${linkButton('#add', 'Add a question', 'plus', 'small')}</div></div>
${questionCards(path, questions, currentId)}
${pager(path, new URLSearchParams(), questions)}
${addQuestionBox(path, refusal)}
</section>`

/** For those who do not write them. */
const readList = (path: string, questions: Listing<ListedQuestion>): Html => html`<section aria-labelledby="questions-heading">
<h2 class="mb-3" id="questions-heading">Questions</h2>
${readCards(questions)}
${pager(path, new URLSearchParams(), questions)}
</section>`

/** What is seldom done with an assessment. */
const confirmable = (assessment: Assessment, path: string): Html =>
  html`<form method="post" action="${path}/duplicate">${onceField()}<button class="btn btn-ghost btn-sm w-full justify-start">${icon('files')}Duplicate</button></form>
<form method="post" action="${path}/${assessment.archivedAt === null ? 'archive' : 'unarchive'}"><button class="btn btn-ghost btn-sm w-full justify-start">${icon('archive')}${assessment.archivedAt === null ? 'Archive' : 'Unarchive'}</button></form>
${
  assessment.inviteCount === 0
    ? confirmation({
        label: 'Delete',
        question: `Delete ${assessment.name}?`,
        consequence: 'Its questions are deleted too. This can’t be undone.',
        address: `${path}/delete`,
      })
    : html`<p class="hint border-base-300 border-t px-3 pt-2">Can’t be deleted because it has ${wordCount(assessment.inviteCount, 'invite')}.${assessment.archivedAt === null && ' Archive it to take it out of your lists.'}</p>`
}`

/** Whether it was to be deleted, and test invites alone are in the way. */
const isHeldByTests = ({ issues }: Form): boolean => issues.some((issue) => issue.rule === 'invited' && issue.value === 'test')

const details = ({ ctx, assessment, input }: Pick<Facts, 'ctx' | 'assessment' | 'input'>): Html => {
  const rows: [string, string | number | Html | false][] = [
    ['Question format', labelOf(FORMAT_LABELS, input.defaultQuestionFormat)],
    ['Answer format', labelOf(FORMAT_LABELS, input.defaultAnswerFormat)],
    [
      'Graded by',
      `${input.secondGrader ? 'two graders' : 'one grader'}${input.blindGrading ? ', blind: names and photos are hidden' : ''}`,
    ],
    ['Practice', input.practice && 'an example of each kind, before the start'],
    ['Wrong choices', input.penaltyPercent > 0 && `cost ${input.penaltyPercent} % of the points`],
    [
      'Release',
      input.releaseAutomatically
        ? `automatically, if everything is auto-scored${input.releaseToCandidate ? '; candidates see it' : ''}`
        : html`by hand, one by one${may(ctx, 'write_assessments') && html` (<a href="${pathOf(ctx, `assessments/${assessment.id}/edit`)}">change</a>)`}`,
    ],
    ['Requirements', list(demandsOf(input))],
    ['Audience', labelOf(AUDIENCE_LABELS, input.audience)],
    ['Categories', list(input.categories)],
    ['Skills', list(input.skillTypes)],
    ['Tags', list(input.tags)],
    ['Clients', html`<span class="wrap-break-word">${parted(list(input.clients))}</span>`],
    [
      'Instructions',
      input.instruction
        ? html`${input.instructionTitle && html`<strong>${input.instructionTitle}</strong><br>`}<span class="script block text-start" lang="" dir="auto">${input.instruction}</span>`
        : 'none',
    ],
    ['Created', time(assessment.createdAt)],
    ['Changed', time(assessment.updatedAt)],
  ]
  return factList(rows, 'aside')
}

const list = (names: string[]): string => names.join(', ') || 'none'
