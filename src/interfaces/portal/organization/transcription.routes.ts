import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeTranscription, readTranscription } from '../../../domain/organization/transcription.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { TRANSCRIPTION_SETTINGS, transcriptionPage } from './transcription.page.ts'

export function transcriptionSettingsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') =>
    transcriptionPage(form, { ctx, settings: await readTranscription(ctx), done })

  app.get(`/${TRANSCRIPTION_SETTINGS}`, async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post(`/${TRANSCRIPTION_SETTINGS}`, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        await changeTranscription(request.ctx, values.has('off') ? null : (values.get('host') ?? ''))
        return `${pathOf(request.ctx, TRANSCRIPTION_SETTINGS)}?done=saved`
      },
    }),
  )
}
