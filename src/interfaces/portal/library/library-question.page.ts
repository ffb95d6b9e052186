import { assetIdIn } from '../../../domain/assets/references.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import { MAX_CATEGORY_DEPTH } from '../../../domain/library/categories.ts'
import type { LibraryQuestion, LibraryUse, LibraryVersion } from '../../../domain/library/library.ts'
import type { AnswerScoring } from '../../../domain/ports/question-kind.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, isWebAddress, questionText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { type Pictures, picturesBelow } from '../../../http/pages/pictures.ts'
import { answerControl } from '../../../kinds/answer-control.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { shippedLanguages } from '../../../locales/languages.ts'
import { limitHint, nameFilterForm } from '../kit/choices.ts'
import { time } from '../kit/formatting.ts'
import { choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { factList } from '../kit/parts.ts'
import { linesOfRubric } from '../kit/rubric.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

export const NOTICES = new Map([
  ['saved', 'The question is saved.'],
  ['retired', 'The question is archived. Assessments that have it keep it.'],
  ['restored', 'The question is active again.'],
])

type Facts = {
  ctx: Context
  question: LibraryQuestion
  shown: LibraryVersion
  uses: LibraryUse[]
  assessments: Choice[]
  named: string
  /** An answer that was tried out, and its score. */
  tried: { value: unknown; score: AnswerScoring } | null
  notice: string | undefined
}

/** A library question: preview, usage, and actions. */
export function libraryQuestionPage(form: Form, facts: Facts): Page {
  const { ctx, question, notice } = facts
  const mayWrite = may(ctx, 'write_assessments')
  const path = pathOf(ctx, `questions/${question.id}`)
  return {
    title: question.name,
    trail: [['Questions', pathOf(ctx, 'questions')]],
    state: question.retiredAt !== null && badge('archived'),
    subtitle: [labelKind(question.responseType), question.category?.path, `version ${question.number}`]
      .filter(Boolean)
      .join(' · '),
    notice,
    body: html`${mistakes(form)}<div class="grid items-start gap-6 lg:grid-cols-3">
<div class="space-y-6 lg:col-span-2">${preview(facts, path)}${usageTable(facts)}</div>
<div class="space-y-6">${mayWrite && question.retiredAt === null && adding(form, facts, path)}${about(facts)}${mayWrite && editing(form, question, path)}</div>
</div>`,
  }
}

/** The question as candidates see it. Answers that are tried out are scored and not stored. */
function preview({ ctx, shown, tried }: Facts, path: string): Html {
  const pictures = picturesBelow(pathOf(ctx, 'pictures'))
  const { input, definition } = shown
  const t = shippedLanguages.candidate('en', 'UTC')
  const control =
    definition &&
    answerControl(
      t,
      {
        responseType: input.responseType,
        version: definition,
        shown: [],
        text: tried && { text: '', revision: 1, value: tried.value },
        targetLanguage: input.targetLanguage || null,
      },
      pictures,
    ).fields
  const trying =
    control &&
    html`<form method="post" action="${path}/try">
${control}
${tried && html`<p class="alert alert-soft alert-info mt-4" role="status">${icon('info', 'size-5')}<span>${formatScore(tried.score)}</span></p>`}
<button class="btn mt-4">Try this answer</button>
</form>`
  return panel(
    'preview',
    'Candidate’s view',
    html`${input.script && html`<div class="text-xl font-semibold tracking-tight">${questionText(input, input.sourceLanguage || null, pictures)}</div>`}
${isPlayed(input.audioUrl) && html`<p><a href="${addressOf(pictures, input.audioUrl)}" rel="noreferrer">${t.text('paper.listen')}</a></p>`}
${isPlayed(input.videoUrl) && html`<p><a href="${addressOf(pictures, input.videoUrl)}" rel="noreferrer">${t.text('paper.watch')}</a></p>`}
${trying ?? html`<p class="hint mt-4">Answer format: ${labelKind(input.responseType).toLowerCase()}. Graded by people.</p>`}`,
  )
}

const isPlayed = (address: string): boolean => isWebAddress(address) || assetIdIn(address) !== null

function addressOf(pictures: Pictures, address: string): string {
  const id = assetIdIn(address)
  return id === null ? address : pictures.urlOf(id)
}

const formatScore = (score: AnswerScoring): string =>
  score.state === 'people'
    ? 'A grader would have to grade this answer.'
    : `This answer gets ${Math.round((100 * score.got) / score.of)} % of the points.`

const usageTable = ({ ctx, question, uses }: Facts): Html =>
  panel(
    'uses',
    'Used in',
    uses.length === 0
      ? html`<p class="hint">Not used in any assessment yet.</p>`
      : table(
          'uses-heading',
          ['Assessment', 'Version'],
          uses.map(({ assessmentId, name, questionId, number }) => [
            may(ctx, 'write_assessments')
              ? html`<a href="${pathOf(ctx, `assessments/${assessmentId}/questions/${questionId}`)}">${name}</a>`
              : name,
            number === question.number ? `${number}, the newest` : number,
          ]),
        ),
  )

function about({ question, shown: { input } }: Facts): Html {
  const [newest] = question.versions
  return panel(
    'about',
    'Details',
    factList([
      ['Points', formatCount(input.points, 'point')],
      ['Time limit', input.timeLimit > 0 && formatDuration(input.timeLimit)],
      ['Preparation time', input.preparationTime > 0 && formatDuration(input.preparationTime)],
      ['Rubric', input.rubric && linesOfRubric(input.rubric).map((line) => html`<span class="block">${line}</span>`)],
      ['Recording', input.simultaneous && 'While the prompt plays'],
      ['First saved', time(question.createdAt)],
      ['Newest version', newest && time(newest.createdAt)],
      ['Archived', question.retiredAt && time(question.retiredAt)],
    ]),
  )
}

const adding = (form: Form, { ctx, question, assessments, named }: Facts, path: string): Html =>
  html`${nameFilterForm(pathOf(ctx, `questions/${question.id}`), named, [assessments])}${panel(
    'add',
    'Add to an assessment',
    html`<form method="post" action="${path}/add">${onceField()}
${choice(form, { name: 'assessmentId', label: 'Assessment', options: [['', 'Choose…'], ...assessments.map(({ id, name }): [string, string] => [id, name])], ...limitHint(assessments) })}
<button class="btn btn-primary">${icon('plus')}Add the question</button>
</form>`,
  )}`

const editing = (form: Form, { name, category, retiredAt }: LibraryQuestion, path: string): Html =>
  panel(
    'edit',
    'In the library',
    html`<form method="post" action="${path}">
${field(form, { name: 'name', label: 'Name', value: name })}
${field(form, { name: 'category', label: 'Category', value: category?.path ?? '', hint: `Such as Math / Algebra, up to ${MAX_CATEGORY_DEPTH} deep. A new one is created.`, optional: true })}
<button class="btn">Save</button>
</form>
<form class="mt-4" method="post" action="${path}/${retiredAt ? 'restore' : 'retire'}">
<p class="hint mb-2">${retiredAt ? 'This question can’t be added to assessments. Those that have it keep it.' : 'An archived question can’t be added to assessments any more. Those that have it keep it.'}</p>
<button class="btn btn-sm">${icon(retiredAt ? 'undo-2' : 'archive')}${retiredAt ? 'Restore' : 'Archive'}</button>
</form>`,
  )
