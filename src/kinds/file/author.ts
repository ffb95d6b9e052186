import { MAX_FILES } from '../../domain/limits.ts'
import { html } from '../../html/html.ts'
import type { KindForm, ParsedForm } from '../author.ts'
import { checkboxField, fieldError, hiddenFields, selectField } from '../author-fields.ts'
import { FILE_GROUPS, type FileGroup, type Spec } from './schema.ts'

const LABELS: Record<FileGroup, string> = {
  document: 'Documents: PDF, Word (.docx), OpenDocument, RTF, plain text',
  picture: 'Pictures: PNG, JPEG, WebP, GIF',
  spreadsheet: 'Spreadsheets: Excel (.xlsx), OpenDocument, CSV',
  presentation: 'Presentations: PowerPoint (.pptx), OpenDocument, PDF',
  archive: 'ZIP archives',
}

const fieldOf = (group: FileGroup): string => `group-${group}`

export const fileAuthor: KindForm = {
  offers: [{ word: 'file', label: 'Files', description: 'Files from their device, such as a document', icon: 'files' }],
  begin: () => toValues({ groups: ['document'], most: 1 }),
  print: (spec) => toValues(spec as Spec),
  read: parseForm,
  fields: (_, form) =>
    form.isKeyOnly
      ? html`${hiddenFields(form, 'most', ...FILE_GROUPS.map(fieldOf))}`
      : html`<fieldset class="mb-4" id="groups" tabindex="-1"><legend class="mb-1.5 text-sm font-medium">Accepted files</legend>
<p class="hint mb-2" id="groups-hint">The content decides the type, not the name. Each file can have up to 100 MB.</p>
${fieldError(form, 'groups')}
${FILE_GROUPS.map((group) => checkboxField(form, fieldOf(group), LABELS[group]))}
</fieldset>
<div class="field">${selectField(form, { name: 'most', label: 'Maximum number of files', options: COUNTS, look: 'select w-24' })}</div>`,
}

const COUNTS = Array.from({ length: MAX_FILES }, (_, i) => [String(i + 1), String(i + 1)] as const)

const toValues = ({ groups, most }: Spec): URLSearchParams =>
  new URLSearchParams([['most', String(most)], ...groups.map((group): [string, string] => [fieldOf(group), 'yes'])])

function parseForm(_: string, values: URLSearchParams): ParsedForm {
  const groups = FILE_GROUPS.filter((group) => values.has(fieldOf(group)))
  const faults = groups.length === 0 ? [{ field: 'groups', text: 'Choose at least one type of file.' }] : []
  const most = Math.min(Math.max(Number.parseInt(values.get('most') ?? '', 10) || 1, 1), MAX_FILES)
  return { spec: { groups, most }, key: {}, faults, fieldOf: () => 'groups' }
}
