import {
  type AssessmentInput,
  EMPTY_ASSESSMENT,
  PROCTORING,
  type Proctoring,
} from '../../../domain/assessments/assessment-input.ts'
import { type Assessment, AUDIENCES, MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatDurationField, readDuration, readText } from '../../../http/forms/read-form.ts'
import { shippedLanguages } from '../../../locales/languages.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import { AUDIENCE_LABELS, FORMAT_LABELS } from '../kit/assessment-labels.ts'
import {
  area,
  checkbox,
  checkboxes,
  choice,
  type Form,
  field,
  foldedFields,
  mistakes,
  readFields,
  readLines,
  seenField,
} from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { linkButton } from '../kit/parts.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { languageOptions } from './languages.ts'
import { readScoring, scoringFields } from './scoring.form.ts'

/** Values as typed. Invalid values of selects and checkboxes fall back to their defaults. */
export function readAssessment(values: URLSearchParams): AssessmentInput {
  const { name, defaultQuestionFormat, defaultAnswerFormat, audience, instructionTitle, interfaceLanguage } = readFields(
    values,
    'name',
    'defaultQuestionFormat',
    'defaultAnswerFormat',
    'audience',
    'instructionTitle',
    'interfaceLanguage',
  )
  return {
    name: name.trim(),
    defaultQuestionFormat:
      MEDIA_FORMATS.find((format) => format === defaultQuestionFormat) ?? EMPTY_ASSESSMENT.defaultQuestionFormat,
    defaultAnswerFormat: MEDIA_FORMATS.find((format) => format === defaultAnswerFormat) ?? EMPTY_ASSESSMENT.defaultAnswerFormat,
    audience: AUDIENCES.find((word) => word === audience) ?? EMPTY_ASSESSMENT.audience,
    timeLimit: readDuration(values, 'timeLimit'),
    secondGrader: values.get('secondGrader') === 'yes',
    thirdGrader: values.get('thirdGrader') === 'yes',
    assignsGraders: values.get('assignsGraders') === 'yes',
    blindGrading: values.get('blindGrading') === 'yes',
    ...readScoring(values),
    interfaceLanguage: interfaceLanguage || null,
    ...readProctoring(values),
    instructionTitle: instructionTitle.trim(),
    instruction: readText(values, 'instruction'),
    languages: readLines(values, 'languages'),
    categories: readLines(values, 'categories'),
    skillTypes: readLines(values, 'skillTypes'),
    tags: readLines(values, 'tags'),
    clients: readLines(values, 'clients'),
  }
}

export const readProctoring = (values: URLSearchParams): Proctoring =>
  Object.fromEntries(PROCTORING.map((name) => [name, values.has(name)])) as Proctoring

const PROCTORING_LABELS: Record<keyof Proctoring, string> = {
  screenRecording: 'Screen recording',
  webcamMonitoring: 'Webcam',
  requireIdCapture: 'ID photo',
  facePhotoRequired: 'Face photo',
}

export const proctoringBoxes = (form: Form, legend: string, checked?: Proctoring): Html => html`<fieldset>
<legend>${legend}</legend>
${PROCTORING.map((name) => checkbox(form, { name, label: PROCTORING_LABELS[name], checked: checked?.[name] ?? false }))}
</fieldset>
`

export const newAssessmentPage = (form: Form, ctx: Context): Page => ({
  title: 'New assessment',
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  actions: linkButton(pathOf(ctx, 'assessments/templates'), 'Start from a template', 'files'),
  body: html`${mistakes(form)}<section class="panel">
<form method="post" action="${pathOf(ctx, 'assessments')}">${onceField()}
${fields(ctx, form, EMPTY_ASSESSMENT, (label, content) => foldedFields(form, label, content))}
<button class="btn btn-primary">Create assessment</button>
<a class="btn btn-ghost" href="${pathOf(ctx, 'assessments')}">Cancel</a>
</form>
</section>`,
})

type Facts = { ctx: Context; assessment: Assessment; input: AssessmentInput }

export const editAssessmentPage = (form: Form, { ctx, assessment, input }: Facts): Page => ({
  title: `Edit ${assessment.name}`,
  heading: assessment.name,
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  tabs: assessmentTabs(ctx, assessment, 'settings'),
  body: html`<div data-side class="space-y-6">${mistakes(form)}<section class="panel">
<form method="post" action="${pathOf(ctx, `assessments/${assessment.id}/edit`)}" data-guarded>
${seenField(form, assessment)}
${fields(ctx, form, input, (_label, content) => content)}
<button class="btn btn-primary">Save</button>
<a class="btn btn-ghost" href="${pathOf(ctx, `assessments/${assessment.id}`)}">Cancel</a>
</form>
</section>${
    may(ctx, 'manage_settings') &&
    html`<p><a href="${pathOf(ctx, `assessments/${assessment.id}/reminders`)}">Reminders and notices of this assessment</a></p>
<p class="mt-2"><a href="${pathOf(ctx, `assessments/${assessment.id}/words`)}">Email templates of this assessment</a></p>`
  }</div>`,
})

const fields = (ctx: Context, form: Form, input: AssessmentInput, fold: (label: string, fields: Html) => Html): Html => html`
${field(form, { name: 'name', label: 'Name', value: input.name, hint: 'Candidates see this name.' })}
${choice(form, { name: 'defaultQuestionFormat', label: 'Question format', options: FORMAT_LABELS, value: input.defaultQuestionFormat })}
${choice(form, { name: 'defaultAnswerFormat', label: 'Answer format', options: FORMAT_LABELS, value: input.defaultAnswerFormat })}
${field(form, { name: 'timeLimit', label: 'Time limit for the whole assessment', value: formatDurationField(input.timeLimit), hint: 'In minutes, or minutes and seconds like 1:30. Leave empty for no limit.', optional: true })}
${fold(
  'Instructions',
  html`${field(form, { name: 'instructionTitle', label: 'Title of the instructions', value: input.instructionTitle, optional: true })}
${area(form, { name: 'instruction', label: 'Instructions', value: input.instruction, hint: 'Candidates read this before they start.', rows: 6 })}`,
)}
${fold(
  'Grading and requirements',
  html`${checkbox(form, { name: 'secondGrader', label: 'Two graders, who don’t see each other’s grades', checked: input.secondGrader })}
${checkbox(form, { name: 'thirdGrader', label: 'A third grader decides where the two differ by more than 20 %', checked: input.thirdGrader })}
<p class="hint">Only with two graders. Otherwise an admin decides. If one grader has begun to grade a submission, it stays with one grader.</p>
${checkbox(form, { name: 'assignsGraders', label: 'Assign each answer to a grader of its language', checked: input.assignsGraders })}
<p class="hint">The grader with the least open work gets it. Set grading languages under Members. An invite’s own grader still grades the whole submission.</p>
${checkbox(form, { name: 'blindGrading', label: 'Blind grading: hide names, photos, webcam and screen from graders', checked: input.blindGrading })}
${scoringFields(ctx, form, input)}
${proctoringBoxes(form, 'Requirements, unless an invite has its own', input)}`,
)}
${fold(
  'Languages',
  checkboxes(form, {
    name: 'languages',
    label: 'Languages',
    options: languageOptions(input.languages),
    values: input.languages,
    isLong: true,
  }),
)}
${fold(
  'Audience, categories, tags and clients',
  html`${choice(form, { name: 'interfaceLanguage', label: 'Language of the pages', options: [['', 'Each candidate’s'], ...shippedLanguages.codes.map((code): [string, string] => [code, nameOfLanguage(code)])], value: input.interfaceLanguage ?? '', hint: 'Choose one if the assessment tests the language itself.' })}
${choice(form, { name: 'audience', label: 'Audience', options: AUDIENCE_LABELS, value: input.audience, hint: 'A public assessment can have an open link, which lets anybody start. It is off until you switch it on.' })}
${lines(form, 'categories', 'Categories', 'One per line. New ones are added to your categories.', input.categories)}
${lines(form, 'skillTypes', 'Skills', 'One per line.', input.skillTypes)}
${lines(form, 'tags', 'Tags', 'Names of your tags, one per line.', input.tags)}
${may(ctx, 'share_results') && lines(form, 'clients', 'Clients', 'Email addresses of members who can see the results, one per line.', input.clients)}`,
)}`

const lines = (form: Form, name: string, label: string, hint: string, value: string[]): Html =>
  area(form, { name, label, hint, value: value.join('\n') })
