import { html } from '../../html/html.ts'
import type { Control } from '../control.ts'
import type { Spec } from './schema.ts'

/** No checks while typing: they would reveal the key. */
export const shortTextControl: Control = (t, { version, value, language }) => {
  const { lines } = version.spec as Spec
  const text = (value ?? '') as string
  return html`<fieldset class="mt-6" data-fields><label for="answer" class="block font-medium">${t.text('question.answer')}</label>
${
  lines === 1
    ? html`<input id="answer" class="input mt-1 w-full text-base" type="text" autocomplete="off" spellcheck="false" name="answer" value="${text}" maxlength="500" lang="${language ?? ''}" dir="auto">`
    : html`<textarea id="answer" class="textarea mt-1 w-full text-base" rows="3" autocomplete="off" spellcheck="false" name="answer" maxlength="500" lang="${language ?? ''}" dir="auto">
${text}</textarea>`
}</fieldset>`
}
