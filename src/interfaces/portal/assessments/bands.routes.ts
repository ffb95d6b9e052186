import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Band, changeBandSettings, readBandSettings } from '../../../domain/assessments/bands.ts'
import { readNumber } from '../../../http/forms/read-form.ts'
import { emptyForm, type Form, readLines, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { bandsPage, bandsPath, requiredField } from './bands.page.ts'

type Route = { Params: { assessmentId: string } }

export function bandsRoutes(app: FastifyInstance): void {
  const page = async (request: FastifyRequest<Route>, form: Form) => {
    const { ctx, params } = request
    return bandsPage(form, ctx, await readBandSettings(ctx, params.assessmentId), queryOf(request).get('done') ?? '')
  }
  app.get<Route>('/assessments/:assessmentId/bands', async (request, reply) =>
    show(request, reply, await page(request, emptyForm)),
  )

  app.post<Route>('/assessments/:assessmentId/bands', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const { ctx, params } = request
        const { id, questions } = await readBandSettings(ctx, params.assessmentId)
        const required = questions.flatMap((question): [string, number][] => {
          const name = requiredField(question.id)
          return (values.get(name) ?? '').trim() === '' ? [] : [[question.id, readNumber(values, name)]]
        })
        await changeBandSettings(ctx, id, { bands: readLines(values, 'bands').map(readBand), required: new Map(required) })
        return `${pathOf(ctx, bandsPath(id))}?done=saved`
      },
    }),
  )
}

/** Parses a line such as “70 Recommended”. Without a percentage, returns an invalid one, which the domain refuses. */
function readBand(line: string): Band {
  const [, from, name] = /^(\d{1,3})\s*%?[\s:,-]+(.+)$/.exec(line) ?? []
  return from !== undefined && name !== undefined ? { from: Number(from), name } : { from: -1, name: line }
}
