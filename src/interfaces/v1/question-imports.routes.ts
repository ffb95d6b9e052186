import { Type } from '@sinclair/typebox'
import { withIdempotencyKeyForLongWork } from '../../domain/concurrency/idempotency.ts'
import type { Context } from '../../domain/context.ts'
import { getImport, listImportRows } from '../../domain/library/imports.ts'
import { MAX_IMPORT_BODY_BYTES } from '../../domain/limits.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import { readLargeJsonBodies } from '../../http/requests/json-body.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { importQuestions } from '../../uploads/import-questions.ts'
import { managing } from './assessment-settings.routes.ts'
import { answerList, ListOf, ListQuery, toPage } from './list.ts'
import {
  ImportRowState,
  NewImportBody,
  NewImportView,
  OneImportView,
  presentImport,
  presentImportRow,
  QuestionImportRowView,
  toImportState,
  toQuestionFile,
} from './question-imports.view.ts'

const MAX_REPORTED_ROWS = 100

const params = Type.Object({ importId: Type.String({ format: 'uuid', description: 'Id of the import' }) })
const shared = { ...managing, tags: ['Question imports'], scope: 'assessments:write' } as const

/** Beyond v1.md: files of questions for the library. */
export function questionImportRoutes(app: TypedApp): void {
  app.register(async (uploads: TypedApp) => {
    readLargeJsonBodies(uploads)
    uploads.post(
      '/question-imports',
      {
        bodyLimit: MAX_IMPORT_BODY_BYTES,
        schema: {
          ...shared,
          operationId: 'importQuestions',
          summary: 'Import a file of questions',
          description:
            'Reads a file, and imports its questions into the library. The answer has the outcome of the file; the questions are in the library once the import is `finished`. A question that the library has already is not imported again, so repeating a file is safe. If the encoding, or what a column means, is doubtful, nothing is imported: a 400 says which parameter decides it.',
          headers: IdempotencyHeaders,
          body: NewImportBody,
          response: { 200: NewImportView, 202: NewImportView },
          errors: ['too_many_imports', 'too_many_uploads'],
        },
      },
      async (request, reply) => {
        const { check: isCheck = false } = request.body
        const work = async (ctx: Context) => {
          const id = await importQuestions(ctx, toQuestionFile(request.body), { isCheck, nameOption: (choice) => choice })
          return { status: isCheck ? 200 : 202, body: await report(ctx, id) }
        }
        return answerIdempotently(request, reply, work, undefined, withIdempotencyKeyForLongWork)
      },
    )
  })

  app.get(
    '/question-imports/:importId',
    {
      schema: {
        ...shared,
        operationId: 'getQuestionImport',
        summary: 'Get the progress of an import',
        description: 'Numbers of questions in each state. Imports are kept for 30 days, including those of the portal.',
        params,
        response: { 200: OneImportView },
        hasEtag: true,
        errors: ['library_import_not_found'],
      },
    },
    async ({ ctx, params }) => ({ import: presentImport(await getImport(ctx, params.importId)) }),
  )

  app.get(
    '/question-imports/:importId/rows',
    {
      schema: {
        ...shared,
        operationId: 'listQuestionImportRows',
        summary: 'List the questions of an import',
        description: 'The outcome of each question of the file: refused ones first, then those that lose something.',
        params,
        querystring: Type.Omit(
          ListQuery({}, { state: Type.Optional({ ...ImportRowState, description: 'Only questions in this state' }) }),
          ['sort', 'order'],
        ),
        response: { 200: ListOf('rows', QuestionImportRowView) },
        errors: ['library_import_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const { id } = await getImport(ctx, params.importId)
      const list = await listImportRows(ctx, id, toImportState(query.state), toPage(query))
      return answerList(request, reply, 'rows', list, presentImportRow)
    },
  )
}

async function report(ctx: Context, id: string) {
  const questionImport = await getImport(ctx, id)
  const { items } = await listImportRows(ctx, id, undefined, { number: 1, size: MAX_REPORTED_ROWS })
  return { import: presentImport(questionImport), rows: items.filter(({ notes }) => notes.length > 0).map(presentImportRow) }
}
