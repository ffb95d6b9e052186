import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { correctTranscript } from '../../../domain/submissions/transcripts/correct-transcript.ts'
import { getTranscript } from '../../../domain/submissions/transcripts/read-transcripts.ts'
import { toWebVtt } from '../../../domain/submissions/transcripts/segments.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { readSegmentTexts, SEGMENTS_BODY_LIMIT } from '../kit/segment-fields.ts'
import { transcriptPage } from './transcript.page.ts'

type Route = { Params: { mediaId: string } }

/** Words of recorded answers, for members who may read them and hear the recording. */
export function transcriptRoutes(app: FastifyInstance): void {
  app.get<Route>('/media/:mediaId/transcript.vtt', async ({ ctx, params }, reply) => {
    const { transcript } = await getTranscript(ctx, params.mediaId)
    reply.type('text/vtt; charset=utf-8').headers({ 'cache-control': 'private, no-store', 'x-content-type-options': 'nosniff' })
    return reply.send(toWebVtt(transcript.segments))
  })

  app.get<Route>('/media/:mediaId/transcript', async (request, reply) =>
    show(request, reply, await correctionPage(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post<Route>('/media/:mediaId/transcript', { bodyLimit: SEGMENTS_BODY_LIMIT }, (request, reply) =>
    submit(request, reply, {
      page: (form) => correctionPage(request, form),
      async work(values) {
        const { ctx, params } = request
        const seenTime = values.get('seen')
        await correctTranscript(ctx, params.mediaId, {
          texts: readSegmentTexts(values),
          seen: seenTime ? new Date(seenTime) : null,
        })
        return `${pathOf(ctx, `media/${params.mediaId}/transcript`)}?done=saved`
      },
    }),
  )
}

async function correctionPage({ ctx, params }: FastifyRequest<Route>, form: Form, done = '') {
  authorize(ctx, 'grade')
  const { media, transcript } = await getTranscript(ctx, params.mediaId)
  if (transcript.state !== 'ready') throw new DomainError('media_not_found')
  return transcriptPage(form, { ctx, transcript, contentType: media.contentType, done })
}
