import { html } from '../../html/html.ts'
import { renderWithPictures } from '../../http/pages/pictures.ts'
import type { CandidateTexts } from '../../locales/languages.ts'
import type { Control, ControlInput } from '../control.ts'
import type { Answer, Spec } from './schema.ts'

/** Native radio buttons or checkboxes, which support the keyboard. */
export const choiceControl: Control = (t, { version, shown, value, language, pictures }: ControlInput) => {
  const spec = version.spec as Spec
  const ticked = (value ?? []) as Answer
  const isOne = version.responseType === 'single_choice'
  const options = shown.length > 0 ? shown.flatMap((id) => spec.options.find((option) => option.id === id) ?? []) : spec.options
  return html`<fieldset class="mt-6" data-fields lang="${language ?? ''}">
<legend class="font-medium">${isOne ? t.text('choice.one') : labelSeveral(t, spec)}</legend>
<div class="mt-2 grid gap-2">
${options.map(
  ({ id, text }) =>
    html`<label class="panel flex cursor-pointer items-start gap-3 p-4"><input type="${isOne ? 'radio' : 'checkbox'}" class="${isOne ? 'radio' : 'checkbox'}" name="answer" value="${id}" ${ticked.includes(id) && html`checked`}><span class="script" dir="auto">${renderWithPictures(text, pictures)}</span></label>
`,
)}</div>
${isOne && html`<button type="submit" name="then" value="clear" class="btn btn-ghost btn-sm mt-2" data-clear>${t.text('choice.clear')}</button>`}
</fieldset>`
}

function labelSeveral(t: CandidateTexts, { least = 0, most, options }: Spec): string {
  if (least > 0 && least === most) return t.text('choice.exactly', { count: least })
  const hasMost = most !== undefined && most < options.length
  if (hasMost && least > 0) return t.text('choice.between', { least, most })
  if (least > 0) return t.text('choice.least', { count: least })
  if (hasMost) return t.text('choice.most', { count: most })
  return t.text('choice.several')
}
