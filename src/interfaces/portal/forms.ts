import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorKind, type Issue } from '../../domain/errors.ts'
import { type Html, html } from '../../http/html.ts'
import { type Page, show } from './layout.ts'
import { wordIssue } from './wording.ts'

/** What was typed into a form, and what is wrong with it. */
export type Form = { values: URLSearchParams; issues: Issue[] }

/** A form in which nothing was typed yet. */
export const emptyForm: Form = { values: new URLSearchParams(), issues: [] }

/** Reads the bodies of the scope as forms, and takes no others. */
export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: unknown, body: string) => new URLSearchParams(body),
  )
}

/** What was typed into these fields; the empty text where one is missing. Without NUL, which PostgreSQL does not hold and nobody can type. */
export const readFields = <Name extends string>(values: URLSearchParams, ...names: Name[]): Record<Name, string> =>
  Object.fromEntries(names.map((name) => [name, (values.get(name) ?? '').replaceAll('\0', '')])) as Record<Name, string>

/** What is said in the form; every other error is an answer of its own. */
const SHOWN_IN_FORMS: ErrorKind[] = ['invalid', 'move_not_allowed']

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
  const values = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  try {
    const next = await work(values)
    return typeof next === 'string' ? reply.redirect(next, 303) : show(request, reply, next)
  } catch (error) {
    if (!(error instanceof DomainError) || !SHOWN_IN_FORMS.includes(error.kind)) throw error
    return show(request, reply, await page({ values, issues: error.issues }), 422)
  }
}

type Field = {
  name: string
  label: string
  type?: 'text' | 'email' | 'password' | 'date' | 'number' | 'search'
  /** What is in it before anything is typed. */
  value?: string
  hint?: string
  autocomplete?: string
  optional?: boolean
}

/** A labelled input with what was typed, except for a password, and with what is wrong with it. */
export function field(form: Form, { name, label, type = 'text', value = '', hint, autocomplete = 'off', optional }: Field): Html {
  const issues = form.issues.filter((issue) => issue.field === name)
  const shown = type === 'password' ? '' : (form.values.get(name) ?? value)
  const described = [hint && `${name}-hint`, issues.length > 0 && `${name}-mistake`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" value="${shown}" autocomplete="${autocomplete}" aria-describedby="${described}" aria-invalid="${issues.length > 0 ? 'true' : 'false'}" ${!optional && html`required`}>
${issues.length > 0 && html`<p class="mistake" id="${name}-mistake">${issues.map(wordIssue).join(' ')}</p>`}
</div>
`
}

/** A labelled text of several lines, with what was typed and what is wrong with it. */
export function textField(
  form: Form,
  { name, label, hint, rows = 4 }: { name: string; label: string; hint?: string; rows?: number },
): Html {
  const issues = form.issues.filter((issue) => issue.field === name)
  const described = [hint && `${name}-hint`, issues.length > 0 && `${name}-mistake`].filter(Boolean).join(' ')
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<textarea id="${name}" name="${name}" rows="${rows}" aria-describedby="${described}" aria-invalid="${issues.length > 0 ? 'true' : 'false'}">
${form.values.get(name)}</textarea>
${issues.length > 0 && html`<p class="mistake" id="${name}-mistake">${issues.map(wordIssue).join(' ')}</p>`}
</div>
`
}

/** A box to check, as it was sent, or as it is before anything was. Several of one name are told apart by their values. */
export function checkbox(
  form: Form,
  { name, label, value = 'yes', checked = false }: { name: string; label: string; value?: string; checked?: boolean },
): Html {
  const isChecked = form.values.size === 0 ? checked : form.values.getAll(name).includes(value)
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${value}" ${isChecked && html`checked`}> ${label}</label>
`
}

type Choice = { name: string; label: string; options: [value: string, label: string][]; value?: string; hint?: string }

/** A labelled list to choose one from. */
export function choice(form: Form, { name, label, options, value = '', hint }: Choice): Html {
  const chosen = form.values.get(name) ?? value
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<select id="${name}" name="${name}" aria-describedby="${hint && `${name}-hint`}">
${options.map(([key, text]) => html`<option value="${key}" ${key === chosen && html`selected`}>${text}</option>`)}
</select>
</div>
`
}

/** What is wrong with a form, before it, with the focus; nothing when nothing is. */
export const mistakes = ({ issues }: Form): Html | false =>
  issues.length > 0 &&
  html`<div class="notice bad" role="group" aria-labelledby="mistakes" tabindex="-1" autofocus>
<h2 id="mistakes">That did not work</h2>
<ul>
${issues.map((issue) => html`<li>${issue.field && issue.rule !== 'move' ? html`<a href="#${issue.field}">${wordIssue(issue)}</a>` : wordIssue(issue)}</li>`)}
</ul>
</div>
`
