import { MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import { EMPTY_QUESTION, type QuestionInput } from '../../../domain/assessments/question-input.ts'
import type { Question } from '../../../domain/assessments/questions.ts'
import { assetIdIn } from '../../../domain/assets/references.ts'
import type { Context } from '../../../domain/context.ts'
import type { LibraryOrigin } from '../../../domain/library/add-from-library.ts'
import { type Html, html } from '../../../html/html.ts'
import { previewPath } from '../../../http/addresses/preview.ts'
import { formatDurationField } from '../../../http/forms/read-form.ts'
import { icon } from '../../../http/pages/icon.ts'
import { FORMAT_LABELS } from '../kit/assessment-labels.ts'
import { confirmButton } from '../kit/confirm.ts'
import { area, checkbox, choice, type Form, field, hiddenStateField, mistakes, seenField } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { libraryBox } from '../library/library-box.ts'
import { type AssessmentFacts, editorPage } from './assessment.page.ts'
import { captionsPath } from './captions.page.ts'
import { describeChangeReach } from './cautions.ts'
import { keyBox } from './key-box.ts'
import { DEFINITION_HASH_FIELD, explainUnavailableKinds, type KindPart, kindFields, responseTypeLabel } from './kind-form.ts'
import { languageOptions } from './languages.ts'
import { pictureField } from './picture-field.ts'
import { readRubric, rubricFields } from './rubric.form.ts'

type NewQuestion = { responseType: string; kind: KindPart | null; added: boolean }

/** @param added true if the previous question was just added. */
export function newQuestionPage(form: Form, facts: AssessmentFacts, { responseType, kind, added }: NewQuestion): Page {
  const { ctx, assessment } = facts
  const inputType = kind ? 'text' : assessment.defaultQuestionFormat
  const refusal = kind && explainUnavailableKinds(ctx)
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  const place = assessment.questionCount + 1
  const title = `Question ${place}`
  return editorPage(facts, {
    title,
    previewAddress: previewPath(ctx, assessment.id, `question-${place}`),
    side: html`${mistakes(form)}<section class="panel" aria-labelledby="question-heading">
<h2 class="mb-4" id="question-heading">${title}</h2>
${added && html`<p class="alert alert-soft alert-success mb-4" role="status">${icon('circle-check', 'size-5')}<span>Question ${place - 1} is added.</span></p>`}
${responseTypeLine(responseType, `${path}#add`)}${
  refusal
    ? html`<p class="alert alert-soft alert-warning">${refusal}</p>`
    : html`${reachWarning(facts)}<form method="post" action="${path}/questions" enctype="multipart/form-data" data-guarded>${enterSaves}${onceField()}
${fields(ctx, form, { ...EMPTY_QUESTION, inputType, responseType, scriptFormat: 'markdown', points: kind ? 1 : 0 }, kind)}
<div class="form-foot"><button class="btn btn-primary">Add question</button><button class="btn" name="next" value="another">Save and add another</button><a class="btn btn-ghost" href="${path}">Cancel</a></div>
</form>`
}
</section>`,
  })
}

export function editQuestionPage(
  form: Form,
  facts: AssessmentFacts,
  {
    question,
    input,
    kind,
    origin,
    keyPath,
  }: { question: Question; input: QuestionInput; kind: KindPart | null; origin: LibraryOrigin | null; keyPath: string | null },
): Page {
  const { ctx, assessment, questions } = facts
  const assessmentPath = pathOf(ctx, `assessments/${assessment.id}`)
  const path = `${assessmentPath}/questions/${question.id}`
  const index = questions.items.findIndex(({ id }) => id === question.id)
  const place = (questions.page - 1) * questions.pageSize + index + 1
  const title = index === -1 ? 'Question' : `Question ${place}`
  return editorPage(facts, {
    title,
    currentId: question.id,
    previewAddress: previewPath(ctx, assessment.id, `question-${Math.max(1, place)}`),
    side: html`${mistakes(form)}<section class="panel" aria-labelledby="question-heading">
<h2 class="mb-4" id="question-heading">${title}</h2>
${kind && responseTypeLine(kind.word)}${reachWarning(facts)}<form method="post" action="${path}" enctype="multipart/form-data" data-guarded>${enterSaves}
${seenField(form, question)}${kind?.hash && hiddenStateField(form, DEFINITION_HASH_FIELD, kind.hash)}
${fields(ctx, form, input, kind)}
<div class="form-foot"><button class="btn btn-primary">Save</button><button class="btn" name="next" value="another">Save and add another</button><a class="btn btn-ghost" href="${assessmentPath}">Cancel</a></div>
</form>
${kind && keyPath !== null && keyBox(ctx, keyPath, kind.word)}
${libraryBox(ctx, path, origin)}
<details class="mt-4"><summary class="quiet text-sm">Move or delete this question</summary>
<form class="mt-3" method="post" action="${path}/move">
<input type="hidden" name="order" value="${question.order}">
${field(form, { name: 'place', label: 'New position', hint: `From 1 to ${assessment.questionCount}.` })}
<button class="btn btn-sm">Move</button>
</form>
${confirmButton({ label: 'Delete', question: 'Delete this question?', consequence: 'This can’t be undone.', address: `${path}/delete` })}
</details>
</section>`,
  })
}

const reachWarning = ({ cautions: { open } }: AssessmentFacts): Html | false =>
  open > 0 && html`<p class="alert alert-soft alert-warning mb-4">${describeChangeReach(open)}</p>\n`

/** The Enter key presses a form's first button. Without this one it would add a row. */
const enterSaves = html`<button class="sr-only" tabindex="-1" aria-hidden="true">Save</button>`

/** @param other link to the list of types. */
const responseTypeLine = (word: string, other?: string): Html =>
  html`<p class="quiet mb-4 flex items-center gap-2 text-sm">${icon(responseTypeLabel(word).icon)}${responseTypeLabel(word).label}${other && html` <a class="link ml-auto" href="${other}">Change type</a>`}</p>`

const fields = (ctx: Context, form: Form, input: QuestionInput, kind: KindPart | null): Html => html`
${area(form, { name: 'script', label: kind ? 'Question' : 'Text', value: input.script, rows: 4, hasFocus: form.issues.length === 0 && !form.values.has('row') })}
${choice(form, { name: 'scriptFormat', label: 'Formatting', options: TEXT_FORMATS, value: input.scriptFormat, hint: 'Formatted text: **bold**, *italic*, - lists, > quotes, `code`, ```python blocks of code```, [links](https://…), $formulas$' })}
${pictureField(form, kind)}
${kind ? kindFields(form, kind) : html`${questionFormatField(form, input)}${choice(form, { name: 'responseType', label: 'Answer format', options: formats(input.responseType), value: input.responseType })}`}
<div class="side-by-side">
${field(form, { name: 'points', label: 'Points', value: String(input.points), optional: true, ...(hasRubric(form, input) && { hint: 'The rubric makes the points.' }) })}
${field(form, { name: 'timeLimit', label: 'Time limit', value: formatDurationField(input.timeLimit), hint: 'Minutes, or 1:30. Leave empty for no limit.', optional: true })}
</div>
${field(form, { name: 'preparationTime', label: 'Preparation time', value: formatDurationField(input.preparationTime), hint: PREPARATION_HINT, optional: true })}
${!kind && rubricFields(ctx, form, input.rubric)}
<details class="mb-4" ${(input.inputType !== 'text' || input.audioUrl || input.videoUrl || form.issues.length > 0) && html`open`}><summary class="quiet mb-2 text-sm">Audio or video</summary>
${kind && questionFormatField(form, input)}
${field(form, { name: 'audioUrl', label: 'Audio URL', value: input.audioUrl, hint: MEDIA_HINT, optional: true })}
${field(form, { name: 'videoUrl', label: 'Video URL', value: input.videoUrl, hint: MEDIA_HINT, optional: true })}${captionLinks(ctx, input)}${!kind && html`${checkbox(form, { name: 'simultaneous', label: 'Record the answer while this plays (simultaneous interpreting)', checked: input.simultaneous })}<p class="hint">${SIMULTANEOUS_HINT}</p>`}</details>
<details class="mb-4" ${(input.sourceLanguage || input.targetLanguage || form.issues.length > 0) && html`open`}><summary class="quiet mb-2 text-sm">Languages</summary>
${language(form, 'sourceLanguage', 'Language of the question', input.sourceLanguage)}
${language(form, 'targetLanguage', 'Language of the answer', input.targetLanguage)}</details>`

/** Links to the captions of stored files. Nothing if the operator has not connected a speech recognition service. */
const captionLinks = (ctx: Context, { audioUrl, videoUrl, sourceLanguage, simultaneous }: QuestionInput): Html | false =>
  ctx.deps.transcriber !== undefined &&
  !simultaneous &&
  html`${[audioUrl, videoUrl].map(assetIdIn).map((id) => id !== null && html`<p class="mb-4"><a href="${pathOf(ctx, captionsPath(id, sourceLanguage))}">Captions for candidates</a></p>`)}`

const hasRubric = (form: Form, { rubric }: QuestionInput): boolean =>
  (form.values.size > 0 ? readRubric(form.values) : rubric) !== null

const TEXT_FORMATS = [
  ['markdown', 'Formatted'],
  ['plain', 'Plain text'],
] as const

const PREPARATION_HINT =
  'Minutes, or 0:30. Candidates see the question, but can’t answer until this time is over or they press “Answer now”. The time limit begins then. Extra time extends both.'

const MEDIA_HINT = 'A link that begins with https://, or upload or record a file: WebM, MP4 or M4A.'

const SIMULTANEOUS_HINT =
  'For an audio or video answer, and one uploaded file. Candidates wear headphones. The file plays once without a pause, and they record once, whatever the invite allows.'

const questionFormatField = (form: Form, input: QuestionInput): Html =>
  choice(form, { name: 'inputType', label: 'Question format', options: formats(input.inputType), value: input.inputType })

const language = (form: Form, name: string, label: string, value: string): Html =>
  choice(form, { name, label, options: [['', 'Not specified'], ...languageOptions([value])], value })

/** The formats, and the organization's own format if this is one. */
const formats = (currentFormat: string): [value: string, label: string][] =>
  MEDIA_FORMATS.some((format) => format === currentFormat) ? FORMAT_LABELS : [...FORMAT_LABELS, [currentFormat, currentFormat]]
