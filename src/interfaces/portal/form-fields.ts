import { type Html, html } from '../../http/html.ts'
import type { Form } from './forms.ts'
import { wordIssue } from './wording.ts'

type Checkboxes = {
  name: string
  label: string
  options: readonly (readonly [value: string, label: string])[]
  /** Those that are chosen before anything is. */
  values?: readonly string[]
  hint?: string
}

/** A labelled group of which any number can be chosen. */
export function checkboxes(form: Form, { name, label, options, values = [], hint }: Checkboxes): Html {
  const chosen = new Set(form.values.size > 0 ? form.values.getAll(name) : values)
  return html`<fieldset id="${name}" tabindex="-1" aria-describedby="${describe(form, name, hint)}">
<legend>${label}</legend>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${options.map(
  ([
    value,
    text,
  ]) => html`<label class="choice"><input type="checkbox" name="${name}" value="${value}" ${chosen.has(value) && html`checked`}> ${text}</label>
`,
)}${mistakeOf(form, name)}
</fieldset>
`
}

type TextArea = { name: string; label: string; value?: string; hint?: string }

/** A labelled field for several lines, which may stay empty. */
export const textArea = (form: Form, { name, label, value = '', hint }: TextArea): Html => html`<div class="field">
<label for="${name}">${label}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<textarea id="${name}" name="${name}" rows="4" aria-describedby="${describe(form, name, hint)}" aria-invalid="${hasMistake(form, name) ? 'true' : 'false'}">
${form.values.get(name) ?? value}</textarea>
${mistakeOf(form, name)}
</div>
`

const hasMistake = ({ issues }: Form, name: string): boolean => issues.some(({ field }) => field === name)

const describe = (form: Form, name: string, hint: string | undefined): string =>
  [hint && `${name}-hint`, hasMistake(form, name) && `${name}-mistake`].filter(Boolean).join(' ')

const mistakeOf = (form: Form, name: string): Html | false =>
  hasMistake(form, name) &&
  html`<p class="mistake" id="${name}-mistake">${form.issues
    .filter(({ field }) => field === name)
    .map(wordIssue)
    .join(' ')}</p>`
