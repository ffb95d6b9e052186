import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorKind, type Issue } from '../../../domain/errors.ts'
import { MAX_ENDPOINTS } from '../../../domain/webhooks/endpoints.ts'
import { type Html, html } from '../../../html/html.ts'
import { readFields } from '../../../http/forms/read-form.ts'
import { icon } from '../../../http/pages/icon.ts'
import { parseFields } from '../../../http/requests/form-fields.ts'
import { formatIssue } from './issue-messages.ts'
import { type Page, show } from './layout.ts'

export { readFields }

/** Submitted values of a form, and its mistakes. */
export type Form = { values: URLSearchParams; issues: Issue[] }

export const emptyForm: Form = { values: new URLSearchParams(), issues: [] }

/** Parses the scope's bodies as forms and refuses other content types. */
export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    parseFields(body),
  )
}

/** Non-empty lines of a text field, or non-empty values of a multiple choice. */
export const readLines = (values: URLSearchParams, name: string): string[] =>
  values
    .getAll(name)
    .flatMap((text) => text.replaceAll('\0', '').split(/[\r\n]+/))
    .map((line) => line.trim())
    .filter((line) => line !== '')

type Work = (values: URLSearchParams) => Promise<string | Page>

/**
 * Handles a form. Success answers 303, so that reloading sends nothing again. A refused form is shown again with the values and their
 * mistakes.
 *
 * @param options.work does the work. @returns the address to redirect to, or a page that can be shown only now.
 * @param options.page page with the form.
 */
export async function submit(
  request: FastifyRequest,
  reply: FastifyReply,
  { work, page }: { work: Work; page: (form: Form) => Page | Promise<Page> },
): Promise<FastifyReply> {
  const values = valuesOf(request)
  try {
    const next = await work(values)
    return typeof next === 'string' ? reply.redirect(next, 303) : show(request, reply, next)
  } catch (error) {
    return refuseForm(request, reply, { error, values, page })
  }
}

export const valuesOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()

/**
 * Shows a form again with its values and mistakes. Unlike all other pages browsers may cache it until sign-out: otherwise going back to it
 * would show a browser error.
 *
 * @throws the error, if it is no mistake in the form.
 */
export async function refuseForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { error, values, page }: { error: unknown; values: URLSearchParams; page: (form: Form) => Page | Promise<Page> },
): Promise<FastifyReply> {
  const refusedPage = await page({ values, issues: issuesOf(error) })
  return show(request, reply.header('cache-control', 'private, no-cache'), refusedPage, 422)
}

/** Conflicts that the form shows at a field. */
const conflicts: Partial<Record<ErrorKind, Issue>> = {
  duplicate_tag_name: { field: 'name', rule: 'account', problem: 'taken' },
  too_many_webhooks: { field: '', rule: 'account', problem: 'tooManyWebhooks', limit: MAX_ENDPOINTS },
  webhook_disabled: { field: '', rule: 'account', problem: 'disabled' },
  secret_rotated: { field: '', rule: 'account', problem: 'secretRotated' },
  cursor_gone: { field: '', rule: 'account', problem: 'forgotten' },
}

/** Mistakes in the input. @throws the error, if it is of another kind. */
export function issuesOf(error: unknown): Issue[] {
  if (error instanceof DomainError && ['invalid', 'move_not_allowed', 'too_many_mails', 'invite_declined'].includes(error.kind))
    return error.issues
  const issue = error instanceof DomainError ? conflicts[error.kind] : undefined
  if (!issue) throw error
  return [issue]
}

type Field = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'date' | 'color' | 'number' | 'search'
  /** Value before anything is typed. */
  value?: string
  hint?: string
  autocomplete?: string
  optional?: boolean
}

/** Hidden field with the row's last change, for detecting concurrent changes. */
export const seenField = (form: Form, { updatedAt }: { updatedAt: Date }): Html =>
  hiddenStateField(form, 'seen', updatedAt.toISOString())

/** Hidden field with the state that the form was filled in from, for detecting concurrent changes. */
export function hiddenStateField({ values, issues }: Form, name: string, now: string): Html {
  // If the conflict was shown, the form gets the new state; other mistakes keep the old one.
  const isConflictShown = issues.some(({ rule }) => rule === 'changed')
  return html`<input type="hidden" name="${name}" value="${(isConflictShown ? null : values.get(name)) ?? now}">`
}

/** Last change of the row when the form was filled in; an invalid date if the field is invalid. */
export const readSeen = (values: URLSearchParams): Date => new Date(values.get('seen') ?? Number.NaN)

/** Like readSeen; undefined if the form comes from an earlier release, which did not send it. */
export const findSeen = (values: URLSearchParams): Date | undefined => (values.has('seen') ? readSeen(values) : undefined)

/** A labeled control with its mistakes. @param control gets the attributes that link its descriptions and mark it as invalid. */
function labeled(
  form: Form,
  { name, label, hint }: { name: string; label: string; hint?: string | undefined },
  control: (described: string, invalid: 'true' | 'false') => Html,
): Html {
  const { described, invalid, advice, mistake } = describeControl(form, name, hint)
  return html`<div class="field">
<label class="mb-1.5 block text-sm font-medium" for="${name}">${label}</label>
${advice}
${control(described, invalid)}
${mistake}
</div>
`
}

/** Hint and mistakes of a control, and the attributes that refer to them. */
function describeControl({ issues }: Form, name: string, hint: string | undefined) {
  const mistakes = issues.filter(({ field }) => field === name)
  const isWrong = mistakes.length > 0
  return {
    described: [hint && `${name}-hint`, isWrong && `${name}-mistake`].filter(Boolean).join(' '),
    invalid: isWrong ? ('true' as const) : ('false' as const),
    advice: hint && html`<p class="hint mb-1.5" id="${name}-hint">${hint}</p>`,
    mistake: isWrong && html`<p class="mistake" id="${name}-mistake">${mistakes.map(formatIssue).join(' ')}</p>`,
  }
}

const LOOKS: Partial<Record<NonNullable<Field['type']>, string>> = { color: 'input w-20 p-1' }

/** A labeled input with its value (except a password) and its mistakes. */
export function field(form: Form, { name, label, type = 'text', value = '', hint, autocomplete = 'off', optional }: Field): Html {
  const shownValue = type === 'password' ? '' : (form.values.get(name) ?? value)
  return labeled(
    form,
    { name, label, hint },
    (described, invalid) =>
      html`<input id="${name}" name="${name}" type="${type}" value="${shownValue}" class="${LOOKS[type] ?? 'input w-full'}" autocomplete="${autocomplete}" placeholder="${type === 'search' ? label : ''}" dir="auto" aria-describedby="${described}" aria-invalid="${invalid}" ${!optional && html`required`}>`,
  )
}

type Area = { name: string; label: string; value?: string; hint?: string; rows?: number; hasFocus?: boolean }

/** A labeled, optional text area. */
export const area = (form: Form, { name, label, value = '', hint, rows = 3, hasFocus = false }: Area): Html =>
  labeled(
    form,
    { name, label, hint },
    // Browsers drop the first line break of a text area, so one is added.
    (
      described,
      invalid,
    ) => html`<textarea id="${name}" name="${name}" class="textarea w-full" rows="${rows}" dir="auto" aria-describedby="${described}" aria-invalid="${invalid}" ${hasFocus && html`autofocus`}>
${form.values.get(name) ?? value}</textarea>`,
  )

type Checkboxes = {
  name: string
  label: string
  options: readonly (readonly [value: string, label: string])[]
  /** Values checked before anything is sent. */
  values?: readonly string[]
  hint?: string
  /** Scrolls the list by itself, shows chosen options first, and offers a search where scripts run. */
  isLong?: boolean
}

const SCROLLING = 'border-base-300 rounded-box max-h-56 overflow-y-auto border px-3 py-1 sm:columns-2'

/** A labeled group of checkboxes. */
export function checkboxes(form: Form, { name, label, options, values = [], hint, isLong = false }: Checkboxes): Html {
  const { described, advice, mistake } = describeControl(form, name, hint)
  const chosen = new Set(form.values.size === 0 ? values : form.values.getAll(name))
  const toBox = ([value, text]: (typeof options)[number]) => box({ name, label: text, value, isChecked: chosen.has(value) })
  const checkedBoxes = () => [...chosen].flatMap((value) => options.filter(([other]) => other === value)) // their order is kept
  const uncheckedBoxes = () => options.filter(([value]) => !chosen.has(value))
  return html`<fieldset class="mb-4" id="${name}" tabindex="-1" aria-describedby="${described}">
<legend class="mb-1.5 text-sm font-medium">${label}</legend>
${advice}
${isLong ? html`<input type="search" class="input mb-2 w-full max-w-lg" hidden data-search placeholder="Search" aria-label="${`Search: ${label}`}" autocomplete="off"><div class="${SCROLLING}" tabindex="0">${[...checkedBoxes(), ...uncheckedBoxes()].map(toBox)}</div>` : options.map(toBox)}${mistake}
</fieldset>
`
}

/** A checkbox with the value that was sent, or else its default. */
export const checkbox = (
  { values }: Form,
  { name, label, checked = false }: { name: string; label: string; checked?: boolean },
): Html => box({ name, label, value: 'yes', isChecked: values.size === 0 ? checked : values.has(name) })

/** Boxes of one name differ by value. */
const box = ({ name, label, value, isChecked }: { name: string; label: string; value: string; isChecked: boolean }): Html =>
  html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="${name}" value="${value}" ${isChecked && html`checked`}> ${label}</label>
`

/** @property groups further options under headings. */
type Choice = { name: string; label: string; options: Options; groups?: Groups; value?: string; hint?: string }
type Options = readonly (readonly [value: string, label: string])[]
type Groups = readonly (readonly [label: string, options: Options])[]

/** A labeled list to choose one from. */
export function choice(form: Form, { name, label, options, groups = [], value = '', hint }: Choice): Html {
  const chosen = form.values.get(name) ?? value
  return labeled(
    form,
    { name, label, hint },
    (
      described,
      invalid,
    ) => html`<select id="${name}" name="${name}" class="select w-full" aria-describedby="${described}" aria-invalid="${invalid}">
${optionsOf(options, [chosen])}${groups.map(([heading, grouped]) => html`<optgroup label="${heading}">${optionsOf(grouped, [chosen])}</optgroup>\n`)}
</select>`,
  )
}

const optionsOf = (options: Options, chosen: readonly string[]): Html[] =>
  options.map(([key, text]) => html`<option value="${key}" ${chosen.includes(key) && html`selected`}>${text}</option>`)

/**
 * Export button of a list's filter form. Exports are POST because they are recorded.
 *
 * @param extraField a field that the filter form lacks.
 */
export const exportButton = (
  address: string,
  extraField: [name: string, value: string] = ['', ''],
  label = 'Export as CSV',
): Html =>
  html`<button class="btn" formmethod="post" formaction="${address}" name="${extraField[0]}" value="${extraField[1]}">${icon('download')}${label}</button>`

/** Rarely used fields, folded. Open if the form was refused, since the mistake may be there. */
export const foldedFields = ({ values }: Form, label: string, fields: Html): Html =>
  html`<details class="mb-4" ${values.size > 0 && html`open`}>
<summary class="mb-3 text-sm font-medium">${label}</summary>
${fields}</details>
`

/** Summary of a form's mistakes, which gets the focus; false if there are none. */
export const mistakes = ({ issues }: Form): Html | false =>
  issues.length > 0 &&
  html`<div class="alert alert-soft alert-error items-start" role="group" aria-labelledby="mistakes" tabindex="-1" autofocus>
${icon('circle-alert', 'size-5')}<div><h2 id="mistakes">Please check the following</h2>
<ul class="list-disc pl-5">
${issues.map((issue) => html`<li>${issue.field && issue.rule !== 'move' ? html`<a href="#${issue.field}">${formatIssue(issue)}</a>` : formatIssue(issue)}</li>`)}
</ul></div>
</div>
`
