import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { storeImportFile } from '../../../domain/imports/import-files.ts'
import { exportImportRows } from '../../../domain/library/export-import-rows.ts'
import {
  createImport,
  getImport,
  IMPORT_STATES,
  listImportRows,
  startImport,
  undoImport,
} from '../../../domain/library/imports.ts'
import { MAX_IMPORT_BYTES, MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { sendCsv } from '../../../http/sending/send-csv.ts'
import { questionReader } from '../../../uploads/question-reader.ts'
import { type Importer, inspectFile, toReadChoices } from '../imports/inspect-file.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { importPage, isRunning, newImportPage, reportColumns } from './imports.page.ts'

/** Most characters of the text fields. */
const MAX_TYPED = 4 * 1024

type ImportRoute = { Params: { importId: string } }

export function importsRoutes(app: FastifyInstance): void {
  app.get('/questions/imports/new', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, newImportPage(emptyForm, request.ctx, queryOf(request).get('assessment') ?? ''))
  })

  app.register(async (uploads) => {
    // Checked before the body is read: it may be megabytes.
    requireRight(uploads, 'write_assessments')
    readUploads(uploads, 'file', MAX_TYPED)
    uploads.post('/questions/imports', { bodyLimit: MAX_IMPORT_BYTES + 64 * 1024 }, (request, reply) =>
      submit(request, reply, {
        page: (form) => newImportPage(form, request.ctx, form.values.get('assessment') ?? ''),
        async work(values) {
          const { ctx } = request
          const { bytes, name } = request.upload ?? { bytes: new Uint8Array(), name: '' }
          const { isTable, facts } = await inspectFile(ctx, { kind: 'questions', bytes })
          if (isTable || (facts.encoding !== null && facts.encoding !== 'utf-8')) {
            const file = { kind: 'questions', fileName: name, bytes, form: values.toString() } as const
            return pathOf(ctx, `imports/${await storeImportFile(ctx, file)}`)
          }
          const id = await createImport(ctx, { fileName: name, readFile: questionReader(ctx, bytes) })
          return importPath(ctx, id, values.get('assessment'))
        },
      }),
    )
  })

  app.get<ImportRoute>('/questions/imports/:importId', async (request, reply) => importPageOf(request, reply))

  app.post<ImportRoute>('/questions/imports/:importId/report', async ({ ctx, params }, reply) => {
    const { id } = await getImport(ctx, params.importId)
    return sendCsv(reply, { name: `import-${id}.csv`, columns: reportColumns }, (write) => exportImportRows(ctx, id, write))
  })

  for (const [verb, work] of [
    ['start', startImport],
    ['undo', undoImport],
  ] as const)
    app.post<ImportRoute>(`/questions/imports/:importId/${verb}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => readImportFacts(request, form),
        async work() {
          await work(request.ctx, request.params.importId)
          return importPath(request.ctx, request.params.importId, queryOf(request).get('assessment'))
        },
      }),
    )
}

/** Reads the questions of a file whose columns are confirmed. */
export const importQuestionFile: Importer = async (ctx, { fileName, bytes, choices, form }) => {
  const id = await createImport(ctx, { fileName, readFile: questionReader(ctx, bytes, toReadChoices(choices)) })
  return importPath(ctx, id, new URLSearchParams(form).get('assessment'))
}

const importPath = (ctx: Context, id: string, assessmentId: string | null): string =>
  pathOf(ctx, `questions/imports/${id}${assessmentId ? `?${new URLSearchParams({ assessment: assessmentId })}` : ''}`)

async function readImportFacts(request: FastifyRequest<ImportRoute>, form: Form) {
  const { ctx, params } = request
  const values = queryOf(request)
  const libraryImport = await getImport(ctx, params.importId)
  const state = IMPORT_STATES.find((known) => known === values.get('state'))
  const list = await listImportRows(ctx, libraryImport.id, state, readPage(values, MAX_PAGE_SIZE))
  return { ...importPage(form, { ctx, libraryImport, list, values }), isRunning: isRunning(libraryImport) }
}

async function importPageOf(request: FastifyRequest<ImportRoute>, reply: FastifyReply) {
  const page = await readImportFacts(request, emptyForm)
  if (page.isRunning) reply.header('refresh', '3')
  return show(request, reply, page)
}
