import type { Context } from '../../../domain/context.ts'
import { mayCorrect } from '../../../domain/submissions/corrections/authorize-corrections.ts'
import { type Html, html } from '../../../html/html.ts'
import { responseTypeLabel } from './kind-form.ts'

/** @param path of the key's page. */
export const keyBox = (ctx: Context, path: string, word: string): Html =>
  html`<section class="mt-4 border-t border-base-300 pt-4" aria-labelledby="key-heading">
<h3 class="mb-2 text-sm font-medium" id="key-heading">Answer key</h3>
<p class="hint mb-2">Candidates have already answered this question, as ${responseTypeLabel(word).label.toLowerCase()}. Your changes above apply to candidates who start later. ${mayCorrect(ctx) ? 'If the key is wrong, correct it for everybody.' : 'If the key is wrong, ask an admin to correct it, because that changes results.'}</p>
${mayCorrect(ctx) && html`<a class="btn btn-sm" href="${path}">Correct the key</a>`}
</section>`
