import { MAX_ANSWER_LENGTH } from '../../domain/limits.ts'
import { html } from '../../html/html.ts'
import type { Control } from '../control.ts'
import type { PlainKind } from '../kind.ts'

const textControl: Control = (t, { text, language }) =>
  html`<label for="answer" class="mt-6 block font-medium">${t.text('question.answer')}</label>
<textarea id="answer" class="textarea field-sizing-content mt-1 max-h-[70dvh] min-h-48 w-full text-base" name="text" lang="${language ?? ''}" dir="auto" data-answer data-revision="${text?.revision ?? 0}" maxlength="${MAX_ANSWER_LENGTH}">
${text?.text}</textarea>
<p class="hint" data-length>${t.text('question.length', { limit: MAX_ANSWER_LENGTH })}</p>`

/** A free text. Also used for unknown response types. */
export const textKind: PlainKind = {
  offers: [{ word: 'text', label: 'Text', description: 'A written answer of any length', icon: 'file-text' }],
  words: ['text'],
  answering: () => ({ savedBy: ['text'], records: [], needs: [] }),
  control: textControl,
}
