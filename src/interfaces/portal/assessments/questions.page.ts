import type { Assessment } from '../../../domain/assessments/assessments.ts'
import { MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import { EMPTY_QUESTION, type QuestionInput } from '../../../domain/assessments/edit-questions.ts'
import type { ListedQuestion, Question } from '../../../domain/assessments/questions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Listing } from '../../../domain/lists/page.ts'
import { type Html, html } from '../../../html/html.ts'
import { wordDuration } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { area, choice, type Form, field, mistakes, readFields, seenField } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { printDuration, readDuration, readNumber, readText } from '../kit/read-typed.ts'
import { table } from '../kit/table.ts'
import { confirmation, FORMAT_LABELS, labelOf } from '../kit/wording.ts'
import { changesReach } from './cautions.ts'
import { languageOptions } from './languages.ts'

/** Characters of a question in a table. */
const EXCERPT = 140

/** A page of an assessment's questions, each with what can be done with it. @param path the assessment's address. */
export const questionTable = (path: string, { items, total, page, pageSize }: Listing<ListedQuestion>): Html =>
  table(
    'questions-heading',
    ['Question', 'Question is', 'Answer is', 'Points', 'Time limit', 'Order'],
    items.map((question, i) => {
      const place = (page - 1) * pageSize + i + 1
      return [
        html`${place}. <a id="${`question-${question.id}`}" href="${path}/questions/${question.id}">${excerpt(question.script) || 'Without text'}</a>`,
        labelOf(FORMAT_LABELS, question.inputType),
        labelOf(FORMAT_LABELS, question.responseType),
        question.points,
        question.timeLimit > 0 ? wordDuration(question.timeLimit) : 'none',
        html`<div class="flex gap-1">${place > 1 && move(path, question, place - 1, `Move question ${place} up`, 'Up')}${place < total && move(path, question, place + 1, `Move question ${place} down`, 'Down')}</div>`,
      ]
    }),
  )

function excerpt(text: string): string {
  const characters = [...text]
  return characters.length > EXCERPT ? `${characters.slice(0, EXCERPT).join('')}…` : text
}

const move = (path: string, { id, order }: Pick<Question, 'id' | 'order'>, place: number, label: string, text: string): Html =>
  html`<form method="post" action="${path}/questions/${id}/move">
<input type="hidden" name="order" value="${order}">
<input type="hidden" name="place" value="${place}">
<button class="btn btn-ghost btn-square btn-sm" aria-label="${label}" title="${label}">${icon(text === 'Up' ? 'arrow-up' : 'arrow-down')}</button>
</form>`

/** What was typed into the form. */
export const readQuestion = (values: URLSearchParams): QuestionInput => {
  const { inputType, responseType, audioUrl, videoUrl, sourceLanguage, targetLanguage } = readFields(
    values,
    'inputType',
    'responseType',
    'audioUrl',
    'videoUrl',
    'sourceLanguage',
    'targetLanguage',
  )
  return {
    inputType,
    responseType,
    script: readText(values, 'script'),
    audioUrl: audioUrl.trim(),
    videoUrl: videoUrl.trim(),
    points: readNumber(values, 'points'),
    timeLimit: readDuration(values, 'timeLimit'),
    sourceLanguage: sourceLanguage.trim(),
    targetLanguage: targetLanguage.trim(),
  }
}

/** @param facts.open how many are invited and have not started. */
type Facts = { ctx: Context; assessment: Assessment; open: number }

export const newQuestionPage = (form: Form, { ctx, assessment, open }: Facts): Page => {
  const { defaultQuestionFormat: inputType, defaultAnswerFormat: responseType } = assessment
  const empty = { ...EMPTY_QUESTION, inputType, responseType }
  return {
    title: 'New question',
    trail: [
      ['Assessments', pathOf(ctx, 'assessments')],
      [assessment.name, pathOf(ctx, `assessments/${assessment.id}`)],
    ],
    body: html`${mistakes(form)}${open > 0 && html`<p class="alert alert-soft alert-warning">${changesReach(open)}</p>`}
<section class="panel">
<form method="post" action="${pathOf(ctx, `assessments/${assessment.id}/questions`)}">${onceField()}
${fields(form, empty)}
<button class="btn btn-primary">Add the question</button>
</form>
</section>`,
  }
}

export const editQuestionPage = (
  form: Form,
  { ctx, assessment, question, input, open }: Facts & { question: Question; input: QuestionInput },
): Page => {
  const path = pathOf(ctx, `assessments/${assessment.id}/questions/${question.id}`)
  return {
    title: 'Edit a question',
    trail: [
      ['Assessments', pathOf(ctx, 'assessments')],
      [assessment.name, pathOf(ctx, `assessments/${assessment.id}`)],
    ],
    body: html`${mistakes(form)}${open > 0 && html`<p class="alert alert-soft alert-warning">${changesReach(open)}</p>`}
<section class="panel">
<form method="post" action="${path}">
${seenField(form, question)}
${fields(form, input)}
<button class="btn btn-primary">Save</button>
</form>
</section>
<section class="panel" aria-labelledby="place-heading">
<h2 class="mb-4" id="place-heading">Its place</h2>
<form method="post" action="${path}/move">
<input type="hidden" name="order" value="${question.order}">
${field(form, { name: 'place', label: 'Move it to place', hint: `From 1 to ${assessment.questionCount}.` })}
<button class="btn">Move</button>
</form>
${confirmation('Delete', 'Delete this question? That can not be undone.', `${path}/delete`)}
</section>`,
  }
}

const fields = (form: Form, input: QuestionInput): Html => html`
${choice(form, { name: 'inputType', label: 'The question is', options: formats(input.inputType), value: input.inputType })}
${area(form, { name: 'script', label: 'Text', value: input.script, rows: 5 })}
${field(form, { name: 'audioUrl', label: 'Address of the audio', value: input.audioUrl, hint: 'Begins with https://', optional: true })}
${field(form, { name: 'videoUrl', label: 'Address of the video', value: input.videoUrl, hint: 'Begins with https://', optional: true })}
${choice(form, { name: 'responseType', label: 'The answer is', options: formats(input.responseType), value: input.responseType })}
${field(form, { name: 'points', label: 'Points', value: String(input.points), optional: true })}
${field(form, { name: 'timeLimit', label: 'Time limit', value: printDuration(input.timeLimit), hint: 'In minutes, or minutes and seconds as 1:30. Empty for none.', optional: true })}
${language(form, 'sourceLanguage', 'Language of the question', input.sourceLanguage)}
${language(form, 'targetLanguage', 'Language of the answer', input.targetLanguage)}`

const language = (form: Form, name: string, label: string, value: string): Html =>
  choice(form, { name, label, options: [['', 'Not said'], ...languageOptions([value])], value })

/** The formats, and the organization's own word if this is one. */
const formats = (own: string): [value: string, label: string][] =>
  MEDIA_FORMATS.some((format) => format === own) ? FORMAT_LABELS : [...FORMAT_LABELS, [own, own]]
