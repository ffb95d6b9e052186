import { Type } from '@sinclair/typebox'
import { getAsset } from '../../domain/assets/assets.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { MEDIA_TYPES } from '../../http/schema/schema-keywords.ts'
import { sendAsset } from '../../http/sending/send-media.ts'

const params = Type.Object({ mediaId: Type.String({ format: 'uuid', description: 'Id of the picture, audio or video' }) })
const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'audio/webm', 'video/webm', 'audio/mp4', 'video/mp4']

/** Beyond v1.md: pictures, audio, and video of questions. */
export function questionMediaRoutes(app: TypedApp): void {
  app.get(
    '/question-media/:mediaId',
    {
      schema: {
        tags: ['Assessments'],
        operationId: 'getQuestionMedia',
        scope: 'assessments:read',
        summary: 'Get a picture, audio or video of questions',
        description:
          'A file uploaded for questions in the portal. `audioUrl` and `videoUrl` lead here, and texts refer to pictures as `![image description](asset:id)`. The address is permanent and supports `Range` (206).',
        params,
        response: { 200: Type.String({ description: 'The file', [MEDIA_TYPES]: TYPES }) },
        errors: ['media_not_found'],
      },
    },
    async (request, reply) => sendAsset(request.ctx, request, reply, await getAsset(request.ctx, request.params.mediaId)),
  )
}
