import type { Context } from '../../../domain/context.ts'
import type { FormChoices } from '../../../domain/invites/form-options.ts'
import { type CompleteNewInvite, INVITE_DEFAULTS } from '../../../domain/invites/new-invite.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { shippedLanguages } from '../../../locales/languages.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import { proctoringBoxes, readProctoring } from '../assessments/assessments.form.ts'
import { limitHint, nameFilterForm } from '../kit/choices.ts'
import { area, checkbox, checkboxes, choice, type Form, field, foldedFields, mistakes, readFields } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { linkButton } from '../kit/parts.ts'

/** @param facts.assessmentId assessment whose page led here; empty if none. */
type Facts = {
  ctx: Context
  choices: FormChoices
  named: string
  assessmentId: string
  cautions: Html | false
  suppressed: string | undefined
}

export const newInvitePage = (form: Form, { ctx, choices, named, assessmentId, cautions, suppressed }: Facts): Page => ({
  title: 'Invite a candidate',
  trail: [['Invites', pathOf(ctx, 'invites')]],
  actions: linkButton(pathOf(ctx, `invites/batches${batchQuery(choices, assessmentId)}`), 'Import candidates', 'upload'),
  body: html`${mistakes(form)}${cautions}${nameFilterForm(pathOf(ctx, 'invites/new'), named, Object.values(choices))}<form method="post" action="${pathOf(ctx, 'invites')}" class="panel">${onceField()}
${assessmentField(form, choices, assessmentId)}
${field(form, { name: 'recipientEmail', label: 'Email address', type: 'email' })}
${suppressed !== undefined && checkbox(form, { name: 'unmailed', label: `Invite them without an email: ${suppressed}` })}
${field(form, { name: 'recipientName', label: 'Name', optional: true })}
${termFields(form, choices)}
<div class="flex flex-wrap gap-2"><button class="btn btn-primary">${icon('send')}Invite</button><a class="btn btn-ghost" href="${pathOf(ctx, 'invites')}">Cancel</a></div>
</form>`,
})

/** Keeps the chosen assessment on the page that invites many. */
const batchQuery = ({ assessments }: FormChoices, assessmentId: string): string =>
  assessments.some(({ id }) => id === assessmentId) ? `?assessment=${assessmentId}` : ''

/** No assessment is preselected: a mail to the wrong candidate can't be recalled. */
export const assessmentField = (form: Form, { assessments }: FormChoices, value = ''): Html =>
  choice(form, {
    name: 'assessmentId',
    label: 'Assessment',
    value,
    options: [['', 'Choose…'], ...assessments.map(({ id, name }): [string, string] => [id, name])],
    ...limitHint(assessments),
  })

const PROCTORING_CHOICES: [value: string, label: string][] = [
  ['assessment', 'Same as the assessment'],
  ['own', 'Chosen for this invite'],
]

/** Fields of an invite besides candidate and assessment. @param fold wraps the rarely used fields. */
export const termFields = (form: Form, { graders, tags }: FormChoices, fold = foldedFields): Html => html`${field(form, {
  name: 'expiresInDays',
  label: 'Days until it expires',
  type: 'number',
  value: String(DEFAULT_EXPIRES_IN_DAYS),
})}
${area(form, { name: 'customMessage', label: 'Message in the email' })}
${choice(form, { name: 'language', label: 'Language', options: [['', 'Language of the candidate’s browser'], ...shippedLanguages.codes.map((code): [string, string] => [code, nameOfLanguage(code)])], hint: 'For pages and emails. Only languages that your organization offers count.' })}
${checkbox(form, { name: 'sendEmail', label: 'Send the invitation by email', checked: true })}
${fold(
  form,
  'Limits, requirements, grader and tags',
  html`${field(form, { name: 'questionReplayLimit', label: 'Replays of each question', type: 'number', value: String(INVITE_DEFAULTS.questionReplayLimit) })}
${field(form, { name: 'answerRecordLimit', label: 'Recordings of each answer', type: 'number', value: String(INVITE_DEFAULTS.answerRecordLimit) })}
${field(form, { name: 'extraTimePercent', label: 'Extra time, in percent', type: 'number', value: String(INVITE_DEFAULTS.extraTimePercent), hint: 'More time for each question, its preparation, and the whole, up to 300. Graders don’t see it.' })}
${choice(form, { name: 'proctoring', label: 'Requirements', options: PROCTORING_CHOICES, value: 'assessment' })}
<div class="if-own mb-4">${proctoringBoxes(form, 'Required of this candidate')}</div>
${choice(form, { name: 'assignedGraderId', label: 'Grader', options: [['', 'Nobody yet'], ...graders.map(({ id, name }): [string, string] => [id, name])], ...limitHint(graders) })}
${
  tags.length > 0
    ? checkboxes(form, { name: 'tagIds', label: 'Tags', options: tags.map(({ id, name }) => [id, name]), ...limitHint(tags) })
    : html`<p id="tagIds" class="hint">There are no tags yet.</p>`
}`,
)}`

/** Values of those fields, checked by the domain. Proctoring is undefined if the assessment decides it. A forgotten field doesn't compile. */
export function readTerms(values: URLSearchParams): Omit<CompleteNewInvite, 'assessmentId' | 'recipientEmail' | 'recipientName'> {
  const { customMessage, language, assignedGraderId, ...numbers } = readFields(
    values,
    'customMessage',
    'language',
    'assignedGraderId',
    'expiresInDays',
    'questionReplayLimit',
    'answerRecordLimit',
    'extraTimePercent',
  )
  const proctoring = values.get('proctoring') === 'assessment' ? undefined : readProctoring(values)
  return {
    customMessage: customMessage.replaceAll('\r\n', '\n'),
    language: language || null,
    assignedGraderId: assignedGraderId || null,
    expiresInDays: readNumber(numbers.expiresInDays),
    questionReplayLimit: readNumber(numbers.questionReplayLimit),
    answerRecordLimit: readNumber(numbers.answerRecordLimit),
    extraTimePercent: readNumber(numbers.extraTimePercent),
    screenRecording: proctoring?.screenRecording,
    webcamMonitoring: proctoring?.webcamMonitoring,
    requireIdCapture: proctoring?.requireIdCapture,
    facePhotoRequired: proctoring?.facePhotoRequired,
    externalId: undefined,
    metadata: undefined,
    returnUrl: undefined,
    tagIds: values.getAll('tagIds'),
    sendEmail: values.has('sendEmail'),
  }
}

export const selectedIds = (values: URLSearchParams): string[] =>
  ['assessmentId', 'assignedGraderId', 'tagIds'].flatMap((name) => values.getAll(name))

/** @returns undefined if empty; a number out of every range if it is no whole number. */
export function readNumber(text: string): number | undefined {
  const typed = text.trim()
  if (typed === '') return undefined
  return /^\d{1,10}$/.test(typed) ? Number(typed) : -1
}
