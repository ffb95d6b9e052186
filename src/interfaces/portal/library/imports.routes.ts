import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/access/permissions.ts'
import { exportLibrary } from '../../../domain/library/export-library.ts'
import {
  createImport,
  getImport,
  IMPORT_STATES,
  listImportRows,
  startImport,
  undoImport,
} from '../../../domain/library/imports.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { BYTE_ORDER_MARK, toCsv } from '../../../http/sending/csv.ts'
import { writeGift } from '../../../kinds/formats/gift.ts'
import { writeTable } from '../../../kinds/formats/table.ts'
import { writeXlsx } from '../../../kinds/formats/xlsx.ts'
import type { NeutralQuestion } from '../../../kinds/neutral.ts'
import { giveQuestion } from '../../../kinds/take-question.ts'
import { emptyForm, type Form, readFields, submit, valuesOf } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { importPage, isRunning, MAX_IMPORT_BYTES, newImportPage } from './imports.page.ts'
import { readFilter } from './library.routes.ts'
import { readQuestionFile } from './read-file.ts'
import { TEMPLATE } from './template.ts'

type ImportRoute = { Params: { importId: string } }

/** Questions from files, and to them. */
export function importsRoutes(app: FastifyInstance): void {
  app.get('/questions/imports/new', async (request, reply) => {
    authorize(request.ctx, 'write_assessments')
    return show(request, reply, newImportPage(emptyForm, request.ctx))
  })

  app.register(async (uploads) => {
    // Before what may be megabytes is read.
    uploads.addHook('onRequest', async ({ ctx }) => authorize(ctx, 'write_assessments'))
    readUploads(uploads, 'file')
    uploads.post('/questions/imports', { bodyLimit: MAX_IMPORT_BYTES + 64 * 1024 }, (request, reply) =>
      submit(request, reply, {
        page: (form) => newImportPage(form, request.ctx),
        async work() {
          const { bytes, name } = request.upload ?? { bytes: new Uint8Array(), name: '' }
          const read = await readQuestionFile(request.ctx, bytes)
          const id = await createImport(request.ctx, { fileName: name, ...read })
          return pathOf(request.ctx, `questions/imports/${id}`)
        },
      }),
    )
  })

  app.get<ImportRoute>('/questions/imports/:importId', async (request, reply) => onePage(request, reply))

  for (const [verb, work] of [
    ['start', startImport],
    ['undo', undoImport],
  ] as const)
    app.post<ImportRoute>(`/questions/imports/:importId/${verb}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => readOne(request, form),
        async work() {
          await work(request.ctx, request.params.importId)
          return pathOf(request.ctx, `questions/imports/${request.params.importId}`)
        },
      }),
    )
  fileRoutes(app)
}

async function readOne(request: FastifyRequest<ImportRoute>, form: Form) {
  const { ctx, params } = request
  const values = queryOf(request)
  const found = await getImport(ctx, params.importId)
  const state = IMPORT_STATES.find((known) => known === values.get('state'))
  const list = await listImportRows(ctx, found.id, state, readPage(values, MAX_PAGE_SIZE))
  return { ...importPage(form, { ctx, found, list, values }), isRunning: isRunning(found) }
}

async function onePage(request: FastifyRequest<ImportRoute>, reply: FastifyReply) {
  const page = await readOne(request, emptyForm)
  if (page.isRunning) reply.header('refresh', '3')
  return show(request, reply, page)
}

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  gift: 'text/plain; charset=utf-8',
}

const writers: Record<keyof typeof TYPES, (questions: NeutralQuestion[]) => string | Uint8Array> = {
  csv: (questions) =>
    BYTE_ORDER_MARK +
    writeTable(questions)
      .map((row) => toCsv([row]))
      .join(''),
  xlsx: (questions) => writeXlsx(writeTable(questions)),
  gift: writeGift,
}

function sendFile(reply: FastifyReply, format: keyof typeof TYPES, name: string, questions: NeutralQuestion[]) {
  const file = writers[format](questions)
  reply.header('content-disposition', `attachment; filename="${name}.${format === 'gift' ? 'gift.txt' : format}"`)
  return reply.type(TYPES[format]).send(typeof file === 'string' ? file : Buffer.from(file))
}

/** What is downloaded. */
function fileRoutes(app: FastifyInstance): void {
  for (const format of ['csv', 'xlsx'] as const)
    app.get(`/questions/template.${format}`, async ({ ctx }, reply) => {
      authorize(ctx, 'write_assessments')
      return sendFile(reply, format, 'questions', TEMPLATE)
    })

  app.post('/questions/export', async (request, reply) => {
    const values = valuesOf(request)
    const { format } = readFields(values, 'format')
    const wanted = format === 'xlsx' || format === 'gift' ? format : 'csv'
    const exported = await exportLibrary(request.ctx, readFilter(values))
    const questions = exported.map(({ content, ...head }) => giveQuestion(content, head).question)
    return sendFile(reply, wanted, 'questions', questions)
  })
}
