import { may } from '../../../domain/access/permissions.ts'
import type { AssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import type { Assessment, ListedAssessment } from '../../../domain/assessments/assessments.ts'
import type { Cautions } from '../../../domain/assessments/cautions.ts'
import type { ListedQuestion, Question } from '../../../domain/assessments/questions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { expectations, questionList, wordCount, wordDuration, written } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { noRows, pager } from '../kit/paging.ts'
import { empty, facts as factList, linkButton, more } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { AUDIENCE_LABELS, ago, confirmation, demandsOf, FORMAT_LABELS, labelOf, time } from '../kit/wording.ts'
import { deleteTestData } from '../test-data/test-data.page.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { cautionsShown } from './cautions.ts'
import { wordLanguage } from './languages.ts'
import { questionTable } from './questions.page.ts'

const NOTICES = new Map([
  ['created', 'The assessment is made. Now add its questions.'],
  ['saved', 'The assessment is saved.'],
  ['duplicated', 'This is the copy.'],
  ['deleted', 'The assessment is deleted.'],
  ['question-added', 'The question is added.'],
  ['question-saved', 'The question is saved.'],
  ['question-moved', 'The question is moved.'],
  ['question-deleted', 'The question is deleted.'],
])

type ListFacts = { ctx: Context; listing: Listing<ListedAssessment>; search: string; done: string }

export const assessmentsPage = (form: Form, { ctx, listing, search, done }: ListFacts): Page => ({
  title: 'Assessments',
  notice: NOTICES.get(done),
  actions: may(ctx, 'write_assessments') && linkButton(pathOf(ctx, 'assessments/new'), 'New assessment', 'plus', 'main'),
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="list-heading">
<h2 class="mb-4" id="list-heading">${search ? `Assessments with “${search}”` : 'All assessments'}</h2>
<form class="mb-4 flex flex-wrap items-center gap-2" role="search" action="${pathOf(ctx, 'assessments')}">
<label class="sr-only" for="search">Words in the name</label>
<input class="input max-w-sm grow" placeholder="Words in the name" id="search" name="search" type="search" value="${search}" autocomplete="off">
<button class="btn">Search</button>
</form>
${listing.items.length > 0 ? assessmentTable(ctx, listing) : noRows(search || listing.total > 0 ? 'None here.' : 'There are none yet.', pathOf(ctx, 'assessments'), new URLSearchParams({ search }))}
${pager(pathOf(ctx, 'assessments'), new URLSearchParams(search ? { search } : {}), listing)}
</section>`,
})

const assessmentTable = (ctx: Context, { items }: Listing<ListedAssessment>): Html =>
  table(
    'list-heading',
    ['Name', 'Questions', 'Points', 'Questions are', 'Answers are', 'Languages', 'Invites', 'Changed'],
    items.map((assessment) => [
      html`<a href="${pathOf(ctx, `assessments/${assessment.id}`)}">${assessment.name}</a>`,
      assessment.questionCount,
      assessment.totalPoints,
      labelOf(FORMAT_LABELS, assessment.defaultQuestionFormat),
      labelOf(FORMAT_LABELS, assessment.defaultAnswerFormat),
      assessment.languageCodes.join(', '),
      assessment.inviteCount,
      ago(ctx, new Date(assessment.updatedAt)),
    ]),
  )

type Facts = { ctx: Context; assessment: Assessment; input: AssessmentInput }

export function assessmentPage(
  form: Form,
  {
    ctx,
    assessment,
    input,
    questions,
    cautions,
    done,
  }: Facts & { questions: Listing<ListedQuestion>; cautions: Cautions; done: string },
): Page {
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  return {
    title: assessment.name,
    notice: NOTICES.get(done),
    trail: [['Assessments', pathOf(ctx, 'assessments')]],
    subtitle: [
      wordCount(assessment.questionCount, 'question'),
      wordCount(assessment.totalPoints, 'point'),
      input.timeLimit > 0 && wordDuration(input.timeLimit),
      input.languages.map(wordLanguage).join(', '),
    ]
      .filter(Boolean)
      .join(' · '),
    actions: html`${linkButton(`${path}/preview`, 'Preview', 'eye')}${more(html`${confirmable(assessment, path)}`)}${linkButton(pathOf(ctx, `invites/new?assessment=${assessment.id}`), 'Invite a candidate', 'send', 'main')}`,
    tabs: assessmentTabs(ctx, assessment, 'questions'),
    body: html`${mistakes(form)}${isHeldByTests(form) && deleteTestData(ctx)}<div class="grid items-start gap-6 lg:grid-cols-3">
<section class="panel lg:col-span-2" id="order" aria-labelledby="questions-heading">
<div class="mb-4 flex items-center gap-3"><h2 class="mb-4" id="questions-heading">Questions</h2><div class="ml-auto">${linkButton(`${path}/questions/new`, 'Add a question', 'plus', 'small')}</div></div>
${questions.items.length > 0 ? questionTable(path, questions) : empty('list-checks', `There are none ${questions.total > 0 ? 'here' : 'yet'}.`)}
${pager(path, new URLSearchParams(), questions)}
</section>
${panel(
  'facts',
  'Details',
  html`${facts(ctx, assessment, input)}
${cautionsShown(cautions, assessment.questionCount)}`,
)}
</div>`,
  }
}

/** What is seldom done with an assessment. */
const confirmable = (assessment: Assessment, path: string): Html =>
  html`<form method="post" action="${path}/duplicate">${onceField()}<button class="btn btn-ghost btn-sm w-full justify-start">${icon('files')}Duplicate</button></form>
${assessment.inviteCount === 0 && confirmation('Delete', `Delete ${assessment.name} with its questions? That can not be undone.`, `${path}/delete`)}`

/** Whether it was to be deleted, and test invites alone are in the way. */
const isHeldByTests = ({ issues }: Form): boolean => issues.some((issue) => issue.rule === 'invited' && issue.value === 'test')

const facts = (ctx: Context, assessment: Assessment, input: AssessmentInput): Html => {
  const rows: [string, string | number | Html][] = [
    ['Questions', assessment.questionCount],
    ['Points', assessment.totalPoints],
    ['Questions are', labelOf(FORMAT_LABELS, input.defaultQuestionFormat)],
    ['Answers are', labelOf(FORMAT_LABELS, input.defaultAnswerFormat)],
    ['Time limit', input.timeLimit > 0 ? wordDuration(input.timeLimit) : 'none'],
    [
      'Graded by',
      `${input.secondGrader ? 'two graders' : 'one grader'}${input.gradedBlind ? ', who don’t see whose answers they grade' : ''}`,
    ],
    ['Of each candidate', list(demandsOf(input))],
    ['Audience', labelOf(AUDIENCE_LABELS, input.audience)],
    ['Languages', list(input.languages.map(wordLanguage))],
    ['Categories', list(input.categories)],
    ['Skills', list(input.skillTypes)],
    ['Tags', list(input.tags)],
    ['Clients', list(input.clients)],
    [
      'Instruction',
      input.instruction
        ? html`${input.instructionTitle && html`<strong>${input.instructionTitle}</strong><br>`}<span class="script" lang="" dir="auto">${input.instruction}</span>`
        : 'none',
    ],
    ['Invites', html`<a href="${pathOf(ctx, `invites?assessment=${assessment.id}`)}">${assessment.inviteCount}</a>`],
    ['Made', time(assessment.createdAt)],
    ['Changed', time(assessment.updatedAt)],
  ]
  return factList(rows)
}

const list = (names: string[]): string => names.join(', ') || 'none'

/** What a candidate is shown, by the same views. */
export const previewPage = ({ ctx, assessment, input, questions }: Facts & { questions: Question[] }): Page => ({
  title: `Preview of ${assessment.name}`,
  trail: [
    ['Assessments', pathOf(ctx, 'assessments')],
    [assessment.name, pathOf(ctx, `assessments/${assessment.id}`)],
  ],
  heading: 'Preview',
  body: html`<p>What a candidate reads before and after the start. <a href="${pathOf(ctx, `assessments/${assessment.id}`)}">Back to the assessment</a></p>
<section class="panel" aria-labelledby="before-heading">
<h2 class="mb-4" id="before-heading">Before the start</h2>
<p><strong>${assessment.name}</strong><br>from <strong>${ctx.organization.name}</strong></p>
${input.instruction && html`<h3>${input.instructionTitle || 'Instructions'}</h3>${written(input.instruction)}`}
<h3>What to expect</h3>
${expectations(assessment)}
</section>
<section class="panel" aria-labelledby="after-heading">
<h2 class="mb-4" id="after-heading">After the start</h2>
${questions.length > 0 ? questionList(questions) : html`<p>There are no questions yet.</p>`}
</section>`,
})
