import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readPictures } from '../../../domain/assets/question-pictures.ts'
import { assetIdsIn } from '../../../domain/assets/references.ts'
import { authorize } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { exportLibrary, previewExport } from '../../../domain/library/export-library.ts'
import { streamFile } from '../../../http/sending/stream-file.ts'
import type { FileFormat } from '../../../kinds/file-formats/read-file.ts'
import { fileWriters } from '../../../kinds/file-formats/write-file.ts'
import { exportQuestion } from '../../../kinds/library-questions.ts'
import type { NeutralQuestion } from '../../../kinds/neutral.ts'
import { readFields, valuesOf } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { type ExportLosses, exportPage, type FormatLosses } from './export.page.ts'
import { readLibraryFilter } from './library.routes.ts'
import { TEMPLATE } from './template.ts'

/** Questions written before the event loop is yielded to other requests. */
const WRITTEN_AT_ONCE = 50

export function exportRoutes(app: FastifyInstance): void {
  for (const format of ['csv', 'xlsx'] as const)
    app.get(`/questions/template.${format}`, async ({ ctx }, reply) => {
      authorize(ctx, 'write_assessments')
      const { type, ending, create } = fileWriters[format]
      const { write, end } = create()
      reply.header('content-disposition', `attachment; filename="questions.${ending}"`)
      return reply.type(type).send(Buffer.concat([write(TEMPLATE), end()].map((part) => Buffer.from(part))))
    })

  app.get('/questions/export', async (request, reply) => {
    const query = queryOf(request)
    query.delete('before')
    return show(request, reply, exportPage(request.ctx, { query, ...(await findLosses(request, query)) }))
  })

  app.post('/questions/export', async (request, reply) => {
    const values = valuesOf(request)
    const { format } = readFields(values, 'format')
    const { type, ending, hasPictures, create } = fileWriters[isFormat(format) ? format : 'csv']
    const { write, end } = create()
    return streamFile(reply, { name: `questions.${ending}`, type }, async (send) => {
      await exportLibrary(request.ctx, readLibraryFilter(values), (questions) =>
        inBatches(questions, async (batch) => {
          const exported = batch.map(({ content, ...head }) => exportQuestion(content, head).question)
          if (hasPictures) for (const question of exported) await send(write([await withPictures(request.ctx, question)]))
          else await send(write(exported))
        }),
      )
      await send(end())
    })
  })
}

const isFormat = (format: string | undefined): format is FileFormat => Object.hasOwn(fileWriters, format ?? '')

async function withPictures(ctx: Context, question: NeutralQuestion): Promise<NeutralQuestion> {
  const ids = assetIdsIn(JSON.stringify(question))
  return ids.length === 0 ? question : { ...question, files: await readPictures(ctx, ids) }
}

/** Losses per export format. */
async function findLosses({ ctx }: FastifyRequest, query: URLSearchParams) {
  const lossesByFormat: Record<keyof ExportLosses, LossesByType> = { sheet: new Map(), gift: new Map(), moodle: new Map() }
  let total = 0
  const { isCut } = await previewExport(ctx, readLibraryFilter(query), (questions) =>
    inBatches(questions, async (batch) => {
      total += batch.length
      for (const { content, ...head } of batch) {
        const { question, losses } = exportQuestion(content, head)
        add(lossesByFormat.sheet, content.input.responseType, [...losses, ...fileWriters.csv.losses(question)])
        add(lossesByFormat.gift, content.input.responseType, [...losses, ...fileWriters.gift.losses(question)])
        add(lossesByFormat.moodle, content.input.responseType, [...losses, ...fileWriters.moodle.losses(question)])
      }
    }),
  )
  return {
    total,
    isCut,
    losses: {
      sheet: sortLosses(lossesByFormat.sheet),
      gift: sortLosses(lossesByFormat.gift),
      moodle: sortLosses(lossesByFormat.moodle),
    },
  }
}

type LossesByType = Map<string, { count: number; responseTypes: Set<string> }>

function add(totals: LossesByType, responseType: string, losses: readonly string[]): void {
  for (const loss of losses) {
    const { count, responseTypes } = totals.get(loss) ?? { count: 0, responseTypes: new Set() }
    totals.set(loss, { count: count + 1, responseTypes: responseTypes.add(responseType) })
  }
}

/** Most frequent first. */
const sortLosses = (totals: LossesByType): FormatLosses =>
  [...totals]
    .map(([loss, { count, responseTypes }]) => ({ loss, count, responseTypes: [...responseTypes] }))
    .sort((a, b) => b.count - a.count)

async function inBatches<T>(items: readonly T[], work: (batch: readonly T[]) => Promise<void>): Promise<void> {
  for (let i = 0; i < Math.max(1, items.length); i += WRITTEN_AT_ONCE) {
    await work(items.slice(i, i + WRITTEN_AT_ONCE))
    await setImmediate()
  }
}
