import type { Context } from '../../domain/context.ts'
import type { Terms } from '../../domain/invites/batches/batches.ts'
import type { Choices } from '../../domain/invites/choices.ts'
import { INVITE_DEFAULTS, withDefaults } from '../../domain/invites/new-invite.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../domain/limits.ts'
import { type Html, html } from '../../http/html.ts'
import { limitHint, narrowing } from './choices.ts'
import { area, checkbox, checkboxes, choice, type Form, field, mistakes, readFields } from './forms.ts'
import { type Page, pathOf } from './layout.ts'
import { onceField } from './once.ts'

/** What is asked for unless it is chosen otherwise. */
const DEFAULTS = withDefaults({})
const SWITCHES = [
  ['screenRecording', 'Record the screen'],
  ['webcamMonitoring', 'Watch by webcam'],
  ['requireIdCapture', 'Ask for a photo of the ID'],
  ['facePhotoRequired', 'Ask for a photo of the face'],
] as const

export const newInvitePage = (form: Form, { ctx, choices, named }: { ctx: Context; choices: Choices; named: string }): Page => ({
  title: 'Invite a candidate',
  body: html`${mistakes(form)}${narrowing(pathOf(ctx, 'invites/new'), named, Object.values(choices))}<form method="post" action="${pathOf(ctx, 'invites')}" class="panel">${onceField()}
${assessmentField(form, choices)}
${field(form, { name: 'recipientEmail', label: 'Address of the candidate', type: 'email' })}
${field(form, { name: 'recipientName', label: 'Name', optional: true })}
${termFields(form, choices)}
<button>Invite</button>
</form>
<p><a href="${pathOf(ctx, 'invites')}">All invites</a></p>`,
})

export const assessmentField = (form: Form, { assessments }: Choices): Html =>
  choice(form, {
    name: 'assessmentId',
    label: 'Assessment',
    options: assessments.map(({ id, name }) => [id, name]),
    ...limitHint(assessments),
  })

/** What can be chosen of an invite besides who is invited to what, with its defaults. */
export const termFields = (form: Form, { graders, tags }: Choices): Html => html`${field(form, {
  name: 'expiresInDays',
  label: 'Days until it expires',
  type: 'number',
  value: String(DEFAULT_EXPIRES_IN_DAYS),
})}
${area(form, { name: 'customMessage', label: 'Message, in the mail' })}
${field(form, { name: 'questionReplayLimit', label: 'Replays of each question', type: 'number', value: String(INVITE_DEFAULTS.questionReplayLimit) })}
${field(form, { name: 'answerRecordLimit', label: 'Recordings of each answer', type: 'number', value: String(INVITE_DEFAULTS.answerRecordLimit) })}
<fieldset>
<legend>Of the candidate</legend>
${SWITCHES.map(([name, label]) => checkbox(form, { name, label, checked: DEFAULTS[name] }))}
</fieldset>
${choice(form, { name: 'assignedGraderId', label: 'Who grades it', options: [['', 'Nobody yet'], ...graders.map(({ id, name }): [string, string] => [id, name])], ...limitHint(graders) })}
${
  tags.length > 0
    ? checkboxes(form, { name: 'tagIds', label: 'Tags', options: tags.map(({ id, name }) => [id, name]), ...limitHint(tags) })
    : html`<p id="tagIds" class="hint">There are no tags to give to it.</p>`
}
${checkbox(form, { name: 'sendEmail', label: 'Mail the invitation', checked: true })}`

/** What was chosen in those fields; the domain checks it. */
export function readTerms(values: URLSearchParams): Terms {
  const { customMessage, assignedGraderId, ...numbers } = readFields(
    values,
    'customMessage',
    'assignedGraderId',
    'expiresInDays',
    'questionReplayLimit',
    'answerRecordLimit',
  )
  return {
    customMessage: customMessage.replaceAll('\r\n', '\n'),
    assignedGraderId: assignedGraderId || null,
    expiresInDays: readNumber(numbers.expiresInDays),
    questionReplayLimit: readNumber(numbers.questionReplayLimit),
    answerRecordLimit: readNumber(numbers.answerRecordLimit),
    screenRecording: values.has('screenRecording'),
    webcamMonitoring: values.has('webcamMonitoring'),
    requireIdCapture: values.has('requireIdCapture'),
    facePhotoRequired: values.has('facePhotoRequired'),
    tagIds: values.getAll('tagIds'),
    sendEmail: values.has('sendEmail'),
  }
}

/** What of the lists is chosen in a form. */
export const chosenIn = (values: URLSearchParams): string[] =>
  ['assessmentId', 'assignedGraderId', 'tagIds'].flatMap((name) => values.getAll(name))

/** undefined: nothing was typed. What is no whole number becomes one that is out of every range. */
export function readNumber(text: string): number | undefined {
  const typed = text.trim()
  if (typed === '') return undefined
  return /^\d{1,10}$/.test(typed) ? Number(typed) : -1
}
