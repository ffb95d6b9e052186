import { html } from '../../html/html.ts'
import { renderWithPictures } from '../../http/pages/pictures.ts'
import type { Control } from '../control.ts'
import { formatOption } from '../format-option.ts'
import { printField } from './rules.ts'
import type { Answer, Spec } from './schema.ts'

/** A native <select> for each prompt, which supports keyboards and phones. */
export const matchingControl: Control = (t, { version, shown, value, language, pictures }) => {
  const { prompts, choices } = version.spec as Spec
  const chosen = (value ?? {}) as Answer
  return html`<fieldset class="mt-6" data-fields lang="${language ?? ''}">
<legend class="font-medium">${t.text('matching.each')}</legend>
<ol class="mt-2 grid gap-2">
${orderChoices(prompts, shown).map(
  ({ id, text }) =>
    html`<li class="panel grid items-center gap-3 p-4 sm:grid-cols-2"><label for="answer-${id}" class="script min-w-0" dir="auto">${renderWithPictures(text, pictures)}</label>
<select id="answer-${id}" class="select w-full text-base" name="answer" dir="auto"><option value="">${t.text('matching.none')}</option>${orderChoices(
      choices,
      shown,
    ).map(
      (choice) =>
        html`<option value="${printField(id, choice.id)}" ${chosen[id] === choice.id && html`selected`}>${formatOption(choice.text)}</option>`,
    )}</select></li>
`,
)}</ol>
</fieldset>`
}

/** Parts in the candidate's order, or in the author's if they were not shuffled. */
export const orderChoices = (choices: Spec['choices'], shown: readonly string[]): Spec['choices'] =>
  shown.length === 0 ? choices : shown.flatMap((id) => choices.find((choice) => choice.id === id) ?? [])
