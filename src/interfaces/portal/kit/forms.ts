import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorKind, type Issue } from '../../../domain/errors.ts'
import { MAX_ENDPOINTS } from '../../../domain/webhooks/endpoints.ts'
import { type Html, html } from '../../../html/html.ts'
import { readFields } from '../../../http/forms/read-typed.ts'
import { icon } from '../../../http/pages/icon.ts'
import { parseFields } from '../../../http/requests/form-fields.ts'
import { wordIssue } from './issue-words.ts'
import { type Page, show } from './layout.ts'

export { readFields }

/** What was typed into a form, and what is wrong with it. */
export type Form = { values: URLSearchParams; issues: Issue[] }

/** A form in which nothing was typed yet. */
export const emptyForm: Form = { values: new URLSearchParams(), issues: [] }

/** Reads the bodies of the scope as forms, and takes no others. */
export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    parseFields(body),
  )
}

/** The lines that were typed into a field, or what was chosen of a list, without what is empty. */
export const readLines = (values: URLSearchParams, name: string): string[] =>
  values
    .getAll(name)
    .flatMap((text) => text.replaceAll('\0', '').split(/[\r\n]+/))
    .map((line) => line.trim())
    .filter((line) => line !== '')

type Work = (values: URLSearchParams) => Promise<string | Page>

/**
 * Does what a form asks for. Where that leads to another page the answer is 303, so that reloading sends nothing again. What is wrong
 * with the form is said in it, with what was typed.
 *
 * @param options.work does it. @returns the address to go on to, or a page that can be shown only now.
 * @param options.page the page with the form.
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

/** What was sent. */
export const valuesOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams()

/**
 * Shows the form with what was typed, and what is wrong with it. Browsers may keep it, unlike all other pages, until its reader signs out:
 * whoever goes on and comes back finds it again, where else they would find an error of the browser's own.
 *
 * @throws the error, when it is of something else.
 */
export async function refuseForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { error, values, page }: { error: unknown; values: URLSearchParams; page: (form: Form) => Page | Promise<Page> },
): Promise<FastifyReply> {
  const refused = await page({ values, issues: issuesOf(error) })
  return show(request, reply.header('cache-control', 'private, no-cache'), refused, 422)
}

/** What stands in the way of what was asked for, and is said in the form. */
const conflicts: Partial<Record<ErrorKind, Issue>> = {
  duplicate_tag_name: { field: 'name', rule: 'account', problem: 'taken' },
  too_many_webhooks: { field: '', rule: 'account', problem: 'tooManyWebhooks', limit: MAX_ENDPOINTS },
  webhook_disabled: { field: '', rule: 'account', problem: 'disabled' },
  secret_rotated: { field: '', rule: 'account', problem: 'secretRotated' },
  cursor_gone: { field: '', rule: 'account', problem: 'forgotten' },
}

/** What is wrong with what was given. @throws the error, when it is of something else. */
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
  /** What is in it before anything is typed. */
  value?: string
  hint?: string
  autocomplete?: string
  optional?: boolean
}

/** What a form keeps of the row it changes: when it was last changed, as whoever fills it in has seen it. */
export const seenField = (form: Form, { updatedAt }: { updatedAt: Date }): Html =>
  hiddenSeen(form, 'seen', updatedAt.toISOString())

/** What a form keeps of what it changes, as whoever fills it in has seen it. */
export function hiddenSeen({ values, issues }: Form, name: string, now: string): Html {
  // Whoever has been told what has changed has seen it; for any other mistake they have not.
  const told = issues.some(({ rule }) => rule === 'changed')
  return html`<input type="hidden" name="${name}" value="${(told ? null : values.get(name)) ?? now}">`
}

/** When the row was changed last, as whoever sent the form has seen it; an invalid time for what is none. */
export const readSeen = (values: URLSearchParams): Date => new Date(values.get('seen') ?? Number.NaN)

/** Like readSeen; undefined when the form is of an earlier release, which did not keep it. */
export const findSeen = (values: URLSearchParams): Date | undefined => (values.has('seen') ? readSeen(values) : undefined)

/** A labelled control, with what is wrong with what was typed into it. @param control gets the ids of what describes it, and whether it is wrong. */
function labelled(
  form: Form,
  { name, label, hint }: { name: string; label: string; hint?: string | undefined },
  control: (described: string, invalid: 'true' | 'false') => Html,
): Html {
  const { described, invalid, advice, mistake } = explain(form, name, hint)
  return html`<div class="field">
<label class="mb-1.5 block text-sm font-medium" for="${name}">${label}</label>
${advice}
${control(described, invalid)}
${mistake}
</div>
`
}

/** What is said of a control before and after it, and the ids of both. */
function explain({ issues }: Form, name: string, hint: string | undefined) {
  const mistakes = issues.filter(({ field }) => field === name)
  const isWrong = mistakes.length > 0
  return {
    described: [hint && `${name}-hint`, isWrong && `${name}-mistake`].filter(Boolean).join(' '),
    invalid: isWrong ? ('true' as const) : ('false' as const),
    advice: hint && html`<p class="hint mb-1.5" id="${name}-hint">${hint}</p>`,
    mistake: isWrong && html`<p class="mistake" id="${name}-mistake">${mistakes.map(wordIssue).join(' ')}</p>`,
  }
}

const LOOKS: Partial<Record<NonNullable<Field['type']>, string>> = { color: 'input w-20 p-1' }

/** A labelled input with what was typed, except for a password, and with what is wrong with it. */
export function field(form: Form, { name, label, type = 'text', value = '', hint, autocomplete = 'off', optional }: Field): Html {
  const shown = type === 'password' ? '' : (form.values.get(name) ?? value)
  return labelled(
    form,
    { name, label, hint },
    (described, invalid) =>
      html`<input id="${name}" name="${name}" type="${type}" value="${shown}" class="${LOOKS[type] ?? 'input w-full'}" autocomplete="${autocomplete}" placeholder="${type === 'search' ? label : ''}" dir="auto" aria-describedby="${described}" aria-invalid="${invalid}" ${!optional && html`required`}>`,
  )
}

type Area = { name: string; label: string; value?: string; hint?: string; rows?: number; hasFocus?: boolean }

/** A field for a text of several lines, which may be empty. */
export const area = (form: Form, { name, label, value = '', hint, rows = 3, hasFocus = false }: Area): Html =>
  labelled(
    form,
    { name, label, hint },
    // Browsers take a first new line away.
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
  /** Those that are chosen before anything is. */
  values?: readonly string[]
  hint?: string
  /** Scrolls the list by itself, shows chosen options first, and offers a search where scripts run. */
  isLong?: boolean
}

const SCROLLING = 'border-base-300 rounded-box max-h-56 overflow-y-auto border px-3 py-1 sm:columns-2'

/** A labelled group of which any number can be chosen. */
export function checkboxes(form: Form, { name, label, options, values = [], hint, isLong = false }: Checkboxes): Html {
  const { described, advice, mistake } = explain(form, name, hint)
  const chosen = new Set(form.values.size === 0 ? values : form.values.getAll(name))
  const toBox = ([value, text]: (typeof options)[number]) => box({ name, label: text, value, isChecked: chosen.has(value) })
  const first = () => [...chosen].flatMap((value) => options.filter(([other]) => other === value)) // their order is kept
  const rest = () => options.filter(([value]) => !chosen.has(value))
  return html`<fieldset class="mb-4" id="${name}" tabindex="-1" aria-describedby="${described}">
<legend class="mb-1.5 text-sm font-medium">${label}</legend>
${advice}
${isLong ? html`<input type="search" class="input mb-2 w-full max-w-lg" hidden data-search placeholder="Search" aria-label="${`Search: ${label}`}" autocomplete="off"><div class="${SCROLLING}" tabindex="0">${[...first(), ...rest()].map(toBox)}</div>` : options.map(toBox)}${mistake}
</fieldset>
`
}

/** A box to check, as it was sent, or as it is before anything was. */
export const checkbox = (
  { values }: Form,
  { name, label, checked = false }: { name: string; label: string; checked?: boolean },
): Html => box({ name, label, value: 'yes', isChecked: values.size === 0 ? checked : values.has(name) })

/** Several of one name are told apart by their values. */
const box = ({ name, label, value, isChecked }: { name: string; label: string; value: string; isChecked: boolean }): Html =>
  html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="checkbox" class="checkbox checkbox-sm" name="${name}" value="${value}" ${isChecked && html`checked`}> ${label}</label>
`

/** @property groups further options under headings. */
type Choice = { name: string; label: string; options: Options; groups?: Groups; value?: string; hint?: string }
type Options = readonly (readonly [value: string, label: string])[]
type Groups = readonly (readonly [label: string, options: Options])[]

/** A labelled list to choose one from. */
export function choice(form: Form, { name, label, options, groups = [], value = '', hint }: Choice): Html {
  const chosen = form.values.get(name) ?? value
  return labelled(
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
 * Beside the button of a list's filter: exports what the filter finds. A form of its own kind, because it is recorded.
 *
 * @param besides what is sent that the filter has no field for.
 */
export const exportButton = (address: string, besides: [name: string, value: string] = ['', ''], label = 'Export as CSV'): Html =>
  html`<button class="btn" formmethod="post" formaction="${address}" name="${besides[0]}" value="${besides[1]}">${icon('download')}${label}</button>`

/** What is seldom filled in, folded away; not where something was typed that was not taken, which may be wrong there. */
export const folded = ({ values }: Form, label: string, fields: Html): Html =>
  html`<details class="mb-4" ${values.size > 0 && html`open`}>
<summary class="mb-3 text-sm font-medium">${label}</summary>
${fields}</details>
`

/** What is wrong with a form, before it, with the focus; nothing when nothing is. */
export const mistakes = ({ issues }: Form): Html | false =>
  issues.length > 0 &&
  html`<div class="alert alert-soft alert-error items-start" role="group" aria-labelledby="mistakes" tabindex="-1" autofocus>
${icon('circle-alert', 'size-5')}<div><h2 id="mistakes">Please check the following</h2>
<ul class="list-disc pl-5">
${issues.map((issue) => html`<li>${issue.field && issue.rule !== 'move' ? html`<a href="#${issue.field}">${wordIssue(issue)}</a>` : wordIssue(issue)}</li>`)}
</ul></div>
</div>
`
