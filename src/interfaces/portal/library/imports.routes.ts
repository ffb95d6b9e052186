import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import {
  createImport,
  getImport,
  IMPORT_STATES,
  listImportRows,
  startImport,
  undoImport,
} from '../../../domain/library/imports.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { importPage, isRunning, MAX_IMPORT_BYTES, newImportPage } from './imports.page.ts'
import { questionReader } from './read-file.ts'

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
          const { bytes, name } = request.upload ?? { bytes: new Uint8Array(), name: '' }
          const id = await createImport(request.ctx, { fileName: name, readFile: questionReader(request.ctx, bytes) })
          return importPath(request.ctx, id, values.get('assessment'))
        },
      }),
    )
  })

  app.get<ImportRoute>('/questions/imports/:importId', async (request, reply) => importPageOf(request, reply))

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

const importPath = (ctx: Context, id: string, assessmentId: string | null): string =>
  pathOf(ctx, `questions/imports/${id}${assessmentId ? `?${new URLSearchParams({ assessment: assessmentId })}` : ''}`)

async function readImportFacts(request: FastifyRequest<ImportRoute>, form: Form) {
  const { ctx, params } = request
  const values = queryOf(request)
  const found = await getImport(ctx, params.importId)
  const state = IMPORT_STATES.find((known) => known === values.get('state'))
  const list = await listImportRows(ctx, found.id, state, readPage(values, MAX_PAGE_SIZE))
  return { ...importPage(form, { ctx, found, list, values }), isRunning: isRunning(found) }
}

async function importPageOf(request: FastifyRequest<ImportRoute>, reply: FastifyReply) {
  const page = await readImportFacts(request, emptyForm)
  if (page.isRunning) reply.header('refresh', '3')
  return show(request, reply, page)
}
