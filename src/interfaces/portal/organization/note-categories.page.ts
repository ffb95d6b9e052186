import type { Context } from '../../../domain/context.ts'
import { INTERPRETING_CATEGORIES, MAX_NOTE_CATEGORIES } from '../../../domain/organization/note-categories.ts'
import { html } from '../../../html/html.ts'
import { area, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'

export const NOTE_SETTINGS = 'settings/notes'

type Facts = { ctx: Context; categories: readonly string[]; done: string }

export function noteCategoriesPage(form: Form, { ctx, categories, done }: Facts): Page {
  const address = pathOf(ctx, NOTE_SETTINGS)
  return {
    title: 'Notes on recordings',
    subtitle: 'Graders note what they hear at a moment of a recorded answer, and can choose a category.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: done === 'saved' ? 'The categories are saved.' : undefined,
    body: html`${mistakes(form)}${panel(
      'categories',
      'Categories',
      html`<form method="post" action="${address}">
${area(form, { name: 'categories', label: 'One a line', value: categories.join('\n'), rows: 8, hint: `At most ${MAX_NOTE_CATEGORIES}. Notes keep the category they have.` })}
<button class="btn btn-primary">Save</button>
</form>
${
  categories.length === 0 &&
  html`<form method="post" action="${address}" class="mt-4"><input type="hidden" name="categories" value="${INTERPRETING_CATEGORIES.join('\n')}"><p class="hint mb-2">Usual for interpreting: ${INTERPRETING_CATEGORIES.join(', ').toLowerCase()}.</p><button class="btn">Use these</button></form>`
}`,
    )}`,
  }
}
