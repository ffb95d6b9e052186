import { type Html, html } from '../../html/html.ts'

/** How a word of code looks within a text. */
export const CODE = 'rounded bg-base-content/5 px-1 py-0.5'

/** Lines of code, which scroll by themselves where they are longer than the page is wide; the page's script puts a button to copy them above. */
export const codeBlock = (text: string): Html =>
  html`<div class="relative my-4" data-code><pre class="bg-base-200 border-base-300 rounded-box overflow-x-auto border px-4 pt-10 pb-4 text-sm leading-6" tabindex="0"><code>${text}</code></pre></div>\n`
