import { type Html, html } from '../../html/html.ts'

/** Classes of inline code. */
export const CODE = 'rounded bg-base-content/5 px-1 py-0.5'

/** Lines of code that scroll horizontally. The page's script adds a copy button. */
export const codeBlock = (text: string): Html =>
  html`<div class="relative my-4" data-code><pre class="bg-base-200 border-base-300 rounded-box overflow-x-auto border px-4 pt-10 pb-4 text-sm leading-6" tabindex="0"><code>${text}</code></pre></div>\n`
