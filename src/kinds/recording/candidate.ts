import { html } from '../../html/html.ts'
import type { Control } from '../control.ts'

/** The page's script renders the recorder in `data-recorder`. */
export const recordingControl: Control = (t, { isWritten }) =>
  html`<div data-recorder></div>${
    !isWritten &&
    html`
<noscript><div class="notice alert alert-soft alert-warning my-4"><p>${t.text('question.noscript')}</p></div></noscript>`
  }`
