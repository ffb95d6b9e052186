import { formatBytes } from '../../domain/text/format-bytes.ts'
import { html } from '../../html/html.ts'
import type { Control } from '../control.ts'
import { GROUP_TYPES } from './rules.ts'
import type { Answer, Spec } from './schema.ts'

/** The page's script sends the files, as it sends recordings, and lists them. */
export const fileControl: Control = (t, { version, value }) => {
  const { groups, most } = version.spec as Spec
  const files = (value ?? []) as Answer
  const types = [...new Set(groups.flatMap((group) => GROUP_TYPES[group]))]
  const kinds = t.list(groups.map((group) => t.text('file.group', { group })))
  return html`<div class="mt-6" data-files data-most="${most}"><label for="files" class="block font-medium">${t.text('file.choose', { count: most })}</label>
<p class="hint mt-1" id="files-hint">${t.text('file.hint', { kinds })}</p>
<input id="files" type="file" class="file-input file-input-lg mt-2 w-full" ${most > 1 && html`multiple`} accept="${types.map((type) => `.${type}`).join()}${types.includes('jpg') && ',.jpeg'}${groups.includes('spreadsheet') && ',.csv'}" aria-describedby="files-hint" hidden>
<ul class="mt-3 grid gap-2">${files.map(({ id, name, bytes }) => html`<li class="panel flex flex-wrap items-center gap-3 p-4" data-file="${id}"><span class="min-w-0 grow break-words" dir="auto">${name}, ${formatBytes(bytes)}</span></li>`)}</ul>
<p class="mistake" role="alert" hidden></p>
<noscript><div class="notice alert alert-soft alert-warning my-4"><p>${t.text('file.noscript')}</p></div></noscript></div>`
}
