import type { Context } from '../../../domain/context.ts'
import type { LibraryOrigin } from '../../../domain/library/add-from-library.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { pathOf } from '../kit/layout.ts'

/** Relation of an assessment's question to the library, with its actions. @param path of the question. */
export function libraryBox(ctx: Context, path: string, origin: LibraryOrigin | null): Html {
  return html`<section class="mt-4 border-t border-base-300 pt-4" aria-labelledby="library-heading">
<h3 class="mb-2 flex items-center gap-2 text-sm font-medium" id="library-heading">${icon('book-open')}Library</h3>
${
  origin === null
    ? html`<p class="hint mb-2">Save this question to use it in other assessments.</p>${button(path, 'save', 'Save to the library')}`
    : html`<p class="mb-2 text-sm">${describeOrigin(origin)} <a href="${pathOf(ctx, `questions/${origin.id}`)}">Show in library</a></p>
<div class="flex flex-wrap gap-2">${differs(origin) && html`<a class="btn btn-sm" href="${`${path}/library/difference`}">Show differences</a>`}${!origin.isChanged && takeButton(path, origin)}${versionButton(path, origin)}</div>`
}
</section>`
}

const button = (path: string, verb: string, label: string): Html =>
  html`<form method="post" action="${`${path}/library/${verb}`}"><button class="btn btn-sm">${label}</button></form>\n`

const differs = ({ isChanged, number, newest }: LibraryOrigin): boolean => isChanged || number < newest

/** Actions for a question that differs from the library. They stand beside the differences, which show what would be lost. */
export const libraryButtons = (path: string, origin: LibraryOrigin): Html =>
  html`${takeButton(path, origin)}${versionButton(path, origin)}`

const takeButton = (path: string, origin: LibraryOrigin): Html | false =>
  differs(origin) &&
  html`<form method="post" action="${path}/library/take"><input type="hidden" name="seen" value="${origin.mine}"><input type="hidden" name="number" value="${origin.newest}"><button class="btn btn-sm">Use version ${origin.newest}</button></form>\n`

const versionButton = (path: string, origin: LibraryOrigin): Html | false =>
  origin.isChanged && button(path, 'version', `Save as version ${origin.newest + 1}`)

function describeOrigin({ number, newest, isChanged, isRetired }: LibraryOrigin): string {
  const retired = isRetired ? ' It is archived there.' : ''
  const newer = number < newest ? ` There is a newer one: version ${newest}.` : ''
  return isChanged
    ? `This question differs from version ${number} in the library.${newer}${retired}`
    : `This is version ${number} in the library.${newer}${retired}`
}
