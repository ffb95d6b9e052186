import type { Context } from '../../../domain/context.ts'
import { mayCorrect } from '../../../domain/submissions/corrections/authorize-corrections.ts'
import { type Html, html } from '../../../html/html.ts'
import { responseTypeLabel } from './kind-form.ts'

/** @param path of the key's page. */
export const keyBox = (ctx: Context, path: string, word: string): Html =>
  html`<section class="mt-4 border-t border-base-300 pt-4" aria-labelledby="key-heading">
<h3 class="mb-2 text-sm font-medium" id="key-heading">Answer key</h3>
<p class="hint mb-2">It was asked already, as ${responseTypeLabel(word).label.toLowerCase()}. What you change above goes to those who start later. A wrong key is corrected for all${!mayCorrect(ctx) && ', by an admin: it changes results'}.</p>
${mayCorrect(ctx) && html`<a class="btn btn-sm" href="${path}">Correct the key</a>`}
</section>`
