import {
  type AssessmentInput,
  EMPTY_ASSESSMENT,
  PROCTORING,
  type Proctoring,
} from '../../../domain/assessments/assessment-input.ts'
import { type Assessment, AUDIENCES, MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { printDuration, readDuration, readText } from '../../../http/forms/read-typed.ts'
import { area, checkbox, choice, choices, type Form, field, mistakes, readFields, readLines, seenField } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { AUDIENCE_LABELS, FORMAT_LABELS } from '../kit/wording.ts'
import { assessmentTabs } from './assessment-tabs.ts'
import { languageOptions } from './languages.ts'

/** What was typed into the form. What can only be chosen is what it was at first, should something else be sent. */
export function readAssessment(values: URLSearchParams): AssessmentInput {
  const { name, defaultQuestionFormat, defaultAnswerFormat, audience, instructionTitle } = readFields(
    values,
    'name',
    'defaultQuestionFormat',
    'defaultAnswerFormat',
    'audience',
    'instructionTitle',
  )
  return {
    name: name.trim(),
    defaultQuestionFormat:
      MEDIA_FORMATS.find((format) => format === defaultQuestionFormat) ?? EMPTY_ASSESSMENT.defaultQuestionFormat,
    defaultAnswerFormat: MEDIA_FORMATS.find((format) => format === defaultAnswerFormat) ?? EMPTY_ASSESSMENT.defaultAnswerFormat,
    audience: AUDIENCES.find((word) => word === audience) ?? EMPTY_ASSESSMENT.audience,
    timeLimit: readDuration(values, 'timeLimit'),
    secondGrader: values.get('secondGrader') === 'yes',
    gradedBlind: values.get('gradedBlind') === 'yes',
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

/** What was ticked among the {@link proctoringBoxes}. */
export const readProctoring = (values: URLSearchParams): Proctoring =>
  Object.fromEntries(PROCTORING.map((name) => [name, values.has(name)])) as Proctoring

const PROCTORING_LABELS: Record<keyof Proctoring, string> = {
  screenRecording: 'Record the screen',
  webcamMonitoring: 'Watch by webcam',
  requireIdCapture: 'Ask for a photo of the ID',
  facePhotoRequired: 'Ask for a photo of the face',
}

/** What can be asked of candidates, to be ticked. */
export const proctoringBoxes = (form: Form, legend: string, checked?: Proctoring): Html => html`<fieldset>
<legend>${legend}</legend>
${PROCTORING.map((name) => checkbox(form, { name, label: PROCTORING_LABELS[name], checked: checked?.[name] ?? false }))}
</fieldset>
`

export const newAssessmentPage = (form: Form, ctx: Context): Page => ({
  title: 'New assessment',
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  body: html`${mistakes(form)}<section class="panel">
<form method="post" action="${pathOf(ctx, 'assessments')}">${onceField()}
${fields(form, EMPTY_ASSESSMENT)}
<button class="btn btn-primary">Make the assessment</button>
<a class="btn btn-ghost" href="${pathOf(ctx, 'assessments')}">Cancel</a>
</form>
</section>`,
})

type Facts = { ctx: Context; assessment: Assessment; input: AssessmentInput }

export const editAssessmentPage = (form: Form, { ctx, assessment, input }: Facts): Page => ({
  title: `Edit ${assessment.name}`,
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  tabs: assessmentTabs(ctx, assessment, 'settings'),
  body: html`<div data-side class="space-y-6">${mistakes(form)}<section class="panel">
<form method="post" action="${pathOf(ctx, `assessments/${assessment.id}/edit`)}" data-guarded>
${seenField(form, assessment)}
${fields(form, input)}
<button class="btn btn-primary">Save</button>
<a class="btn btn-ghost" href="${pathOf(ctx, `assessments/${assessment.id}`)}">Cancel</a>
</form>
</section></div>`,
})

const fields = (form: Form, input: AssessmentInput): Html => html`
${field(form, { name: 'name', label: 'Name', value: input.name, hint: 'Candidates see it, too.' })}
${choice(form, { name: 'defaultQuestionFormat', label: 'Questions are asked by', options: FORMAT_LABELS, value: input.defaultQuestionFormat })}
${choice(form, { name: 'defaultAnswerFormat', label: 'They are answered by', options: FORMAT_LABELS, value: input.defaultAnswerFormat })}
${choice(form, { name: 'audience', label: 'Audience', options: AUDIENCE_LABELS, value: input.audience, hint: 'A label for the systems that read it: whoever takes it is invited either way.' })}
${field(form, { name: 'timeLimit', label: 'Time limit for the whole', value: printDuration(input.timeLimit), hint: 'In minutes, or minutes and seconds as 1:30. Empty for none.', optional: true })}
${checkbox(form, { name: 'secondGrader', label: 'Two graders grade it, neither seeing the other’s grades', checked: input.secondGrader })}
${checkbox(form, { name: 'gradedBlind', label: 'Graded blind: graders see neither the candidates’ names nor their photos, webcam and screen', checked: input.gradedBlind })}
${proctoringBoxes(form, 'Of each candidate, unless the invite says otherwise', input)}
${field(form, { name: 'instructionTitle', label: 'Title of the instruction', value: input.instructionTitle, optional: true })}
${area(form, { name: 'instruction', label: 'Instruction', value: input.instruction, hint: 'What candidates read before they start.', rows: 6 })}
${choices(form, { name: 'languages', label: 'Languages', options: languageOptions(input.languages), values: input.languages, hint: 'With Ctrl, or ⌘, you can choose several.' })}
${lines(form, 'categories', 'Categories', 'One a line. A new one is added to your categories.', input.categories)}
${lines(form, 'skillTypes', 'Skills', 'One a line.', input.skillTypes)}
${lines(form, 'tags', 'Tags', 'Names of your tags, one a line.', input.tags)}
${lines(form, 'clients', 'Clients', 'Addresses of members who may see its results, one a line.', input.clients)}`

const lines = (form: Form, name: string, label: string, hint: string, value: string[]): Html =>
  area(form, { name, label, hint, value: value.join('\n') })
