import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { exportLibrary, surveyExport } from '../../../domain/library/export-library.ts'
import { sendInParts } from '../../../http/sending/send-in-parts.ts'
import { writings } from '../../../kinds/formats/write-file.ts'
import { giveQuestion } from '../../../kinds/take-question.ts'
import { readFields, valuesOf } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { exportPage, type Losses } from './export.page.ts'
import { readFilter } from './library.routes.ts'
import { TEMPLATE } from './template.ts'

/** Questions that are written before others' requests get their turn. */
const WRITTEN_AT_ONCE = 50

/** Questions to files. */
export function exportRoutes(app: FastifyInstance): void {
  for (const format of ['csv', 'xlsx'] as const)
    app.get(`/questions/template.${format}`, async ({ ctx }, reply) => {
      authorize(ctx, 'write_assessments')
      const { type, ending, create } = writings[format]
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
    const { type, ending, create } = writings[format === 'xlsx' || format === 'gift' ? format : 'csv']
    const { write, end } = create()
    return sendInParts(reply, { name: `questions.${ending}`, type }, async (send) => {
      await exportLibrary(request.ctx, readFilter(values), (questions) =>
        someAtOnce(questions, async (some) => {
          await send(write(some.map(({ content, ...head }) => giveQuestion(content, head).question)))
        }),
      )
      await send(end())
    })
  })
}

/** What each format leaves out, of how many questions, and how these are answered. */
async function findLosses({ ctx }: FastifyRequest, query: URLSearchParams) {
  const found: Record<'sheet' | 'gift', Found> = { sheet: new Map(), gift: new Map() }
  let total = 0
  const { isCut } = await surveyExport(ctx, readFilter(query), (questions) =>
    someAtOnce(questions, async (some) => {
      total += some.length
      for (const { content, ...head } of some) {
        const { question, losses } = giveQuestion(content, head)
        add(found.sheet, content.input.responseType, [...losses, ...writings.csv.losses(question)])
        add(found.gift, content.input.responseType, [...losses, ...writings.gift.losses(question)])
      }
    }),
  )
  return { total, isCut, losses: { sheet: listed(found.sheet), gift: listed(found.gift) } }
}

type Found = Map<string, { count: number; responseTypes: Set<string> }>

function add(found: Found, responseType: string, losses: readonly string[]): void {
  for (const loss of losses) {
    const { count, responseTypes } = found.get(loss) ?? { count: 0, responseTypes: new Set() }
    found.set(loss, { count: count + 1, responseTypes: responseTypes.add(responseType) })
  }
}

/** The most frequent first. */
const listed = (found: Found): Losses =>
  [...found]
    .map(([loss, { count, responseTypes }]) => ({ loss, count, responseTypes: [...responseTypes] }))
    .sort((one, other) => other.count - one.count)

async function someAtOnce<T>(all: readonly T[], work: (some: readonly T[]) => Promise<void>): Promise<void> {
  for (let i = 0; i < Math.max(1, all.length); i += WRITTEN_AT_ONCE) {
    await work(all.slice(i, i + WRITTEN_AT_ONCE))
    await setImmediate()
  }
}
