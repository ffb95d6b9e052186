import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Context } from '../../../domain/context.ts'
import {
  deleteImportFile,
  getImportFile,
  type ImportChoices,
  type ImportFile,
  type ImportKind,
  rememberMappings,
  saveImportChoices,
} from '../../../domain/imports/import-files.ts'
import { type Inspection, isMeaningOf } from '../../../uploads/inspect.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { checkColumnsPage, shownState } from './check-columns.page.ts'
import { type Importer, inspectFile } from './inspect-file.ts'

type FileRoute = { Params: { fileId: string } }

/** @param importers start the import, by kind of file. */
export const checkColumnsRoutes =
  (importers: Record<ImportKind, Importer>) =>
  (app: FastifyInstance): void => {
    app.get<FileRoute>('/imports/:fileId', async (request, reply) => show(request, reply, await readPage(request, emptyForm)))

    app.post<FileRoute>('/imports/:fileId', (request, reply) =>
      submit(request, reply, {
        page: (form) => readPage(request, form),
        async work(values) {
          const { ctx } = request
          const file = await getImportFile(ctx, request.params.fileId)
          const inspection = await inspectFile(ctx, file)
          const { choices, isSame } = readChoices(values, file.kind, inspection)
          await saveImportChoices(ctx, file, choices)
          // Only what the person saw is imported: with other menus the preview is shown again.
          if (values.get('action') !== 'continue' || !isSame) return pathOf(ctx, `imports/${file.id}?changed=yes`)
          return importFile(ctx, { ...file, choices }, { inspection, importers })
        },
      }),
    )
  }

async function readPage(request: FastifyRequest<FileRoute>, form: Form) {
  const { ctx, params } = request
  const file = await getImportFile(ctx, params.fileId)
  const inspection = await inspectFile(ctx, file)
  return checkColumnsPage(form, { ctx, file, inspection, hasChanged: queryOf(request).has('changed') })
}

/** @returns the choices of the form. `isSame` is true if the shown preview was made from them. */
function readChoices(
  values: URLSearchParams,
  kind: ImportKind,
  inspection: Inspection,
): { choices: ImportChoices; isSame: boolean } {
  const { facts, headingLine } = inspection
  const chosen = {
    sheet: values.get('sheet') ?? facts.sheet,
    encoding: values.get('encoding') ?? facts.encoding,
    delimiter: values.get('delimiter') ?? facts.delimiter ?? '',
    headingLine: Number(values.get('headingLine') ?? headingLine),
  }
  const isReadAlike =
    chosen.sheet === facts.sheet &&
    chosen.encoding === facts.encoding &&
    chosen.delimiter === (facts.delimiter ?? '') &&
    chosen.headingLine === headingLine
  const reading: ImportChoices = {
    ...(facts.sheet && { sheet: chosen.sheet }),
    ...(chosen.encoding && { encoding: chosen.encoding }),
    ...(chosen.delimiter && { delimiter: chosen.delimiter }),
  }
  // Other rows have other columns and headings.
  if (!isReadAlike)
    return {
      choices: { ...reading, ...(chosen.headingLine !== headingLine && { headingLine: chosen.headingLine }) },
      isSame: false,
    }
  const typed = values.getAll('column')
  const columns = inspection.columns.map(({ meaning }, i) =>
    typed[i] !== undefined && isMeaningOf(kind, typed[i]) ? typed[i] : meaning,
  )
  useColumn(columns, values.get('use'))
  const isSame =
    values.get('shown') === shownState(inspection) && columns.every((meaning, i) => meaning === inspection.columns[i]!.meaning)
  return { choices: { ...reading, ...(inspection.isTable && { headingLine, columns }) }, isSame }
}

/** Gives a column a meaning, as `2=name`, and takes it from the one that had it. */
function useColumn(columns: string[], use: string | null): void {
  const [, index, meaning] = /^(\d{1,3})=([\w:]+)$/.exec(use ?? '') ?? []
  if (meaning === undefined || columns[Number(index)] === undefined) return
  const before = columns.indexOf(meaning)
  if (before >= 0) columns[before] = ''
  columns[Number(index)] = meaning
}

/** Imports the file, and remembers what its headings mean. */
async function importFile(
  ctx: Context,
  file: ImportFile,
  { inspection, importers }: { inspection: Inspection; importers: Record<ImportKind, Importer> },
): Promise<string> {
  const next = await importers[file.kind](ctx, file)
  const namedColumns = inspection.columns.filter(({ word }) => word !== '')
  await rememberMappings(ctx, file.kind, Object.fromEntries(namedColumns.map(({ word, meaning }) => [word, meaning])))
  await deleteImportFile(ctx, file)
  return next
}
