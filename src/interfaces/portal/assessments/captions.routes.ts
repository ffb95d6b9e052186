import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  changeCaptions,
  deleteCaptions,
  readCaptions,
  requestCaptions,
} from '../../../domain/submissions/transcripts/captions.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { readSegmentTexts, SEGMENTS_BODY_LIMIT } from '../kit/segment-fields.ts'
import { captionsPage, captionsPath } from './captions.page.ts'

type Route = { Params: { mediumId: string } }

/** Captions of questions' audio and video, for their authors. */
export function captionsRoutes(app: FastifyInstance): void {
  const page = async (request: FastifyRequest<Route>, form: Form) => {
    const { ctx, params } = request
    const { language, done } = readFields(queryOf(request), 'language', 'done')
    return captionsPage(form, { ctx, settings: await readCaptions(ctx, params.mediumId), language, done })
  }
  const addressAfter = ({ ctx, params }: FastifyRequest<Route>, done: string) =>
    `${pathOf(ctx, captionsPath(params.mediumId))}?done=${done}`

  app.get<Route>('/question-media/:mediumId/captions', async (request, reply) =>
    show(request, reply, await page(request, emptyForm)),
  )

  app.post<Route>('/question-media/:mediumId/captions', { bodyLimit: SEGMENTS_BODY_LIMIT }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const seenTime = values.get('seen')
        const change = {
          texts: readSegmentTexts(values),
          isPublished: values.has('isPublished'),
          seen: seenTime ? new Date(seenTime) : null,
        }
        await changeCaptions(request.ctx, request.params.mediumId, change)
        return addressAfter(request, 'saved')
      },
    }),
  )

  app.post<Route>('/question-media/:mediumId/captions/request', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        await requestCaptions(request.ctx, request.params.mediumId, readFields(values, 'language').language)
        return addressAfter(request, 'requested')
      },
    }),
  )

  app.post<Route>('/question-media/:mediumId/captions/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work() {
        await deleteCaptions(request.ctx, request.params.mediumId)
        return addressAfter(request, 'deleted')
      },
    }),
  )
}
