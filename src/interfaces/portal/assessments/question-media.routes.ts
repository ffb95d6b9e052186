import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { assetAddress } from '../../../domain/assets/references.ts'
import { beginMedium, completeMedium, getMedium, MEDIUM_KINDS, putMediumPart } from '../../../domain/assets/upload-medium.ts'
import { DomainError } from '../../../domain/errors.ts'
import { MAX_PART_BYTES } from '../../../domain/limits.ts'
import { queueAssetJoin } from '../../../domain/submissions/media/joinable.ts'
import { issuesOf, readFields, valuesOf } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { requireRight } from '../sign-in/turn-away.ts'

type MediumRoute = { Params: { mediumId: string } }
const PartParams = Type.Object({
  mediumId: Type.String(),
  segment: Type.String({ pattern: '^(0|[1-9]\\d{0,2})$' }),
  number: Type.String({ pattern: '^(0|[1-9]\\d{0,4})$' }),
})
/** Slice counts per segment, separated by spaces. */
const SEGMENTS = /^\d{1,5}( \d{1,5}){0,99}$/

/** Receives audio and video of questions in slices, from the script of the question's form. */
export function questionMediaRoutes(app: FastifyInstance): void {
  app.register(async (scope) => {
    // Checked before the body is read.
    requireRight(scope, 'write_assessments')

    scope.post('/question-media', (request, reply) =>
      answer(reply, async () => {
        const { kind } = readFields(valuesOf(request), 'kind')
        const knownKind = MEDIUM_KINDS.find((mediumKind) => mediumKind === kind)
        if (!knownKind) return refuse()
        const id = await beginMedium(request.ctx, knownKind)
        return { id, address: assetAddress(id) }
      }),
    )

    scope.get<MediumRoute>('/question-media/:mediumId', (request, reply) =>
      answer(reply, async () => {
        const { state, milliseconds } = await getMedium(request.ctx, request.params.mediumId)
        return { state, milliseconds }
      }),
    )

    scope.post<MediumRoute>('/question-media/:mediumId/complete', (request, reply) =>
      answer(reply, async () => {
        const { segments } = readFields(valuesOf(request), 'segments')
        await getMedium(request.ctx, request.params.mediumId)
        if (!SEGMENTS.test(segments)) return refuse()
        await completeMedium(request.ctx, request.params.mediumId, segments.split(' ').map(Number), queueAssetJoin)
        return {}
      }),
    )

    scope.register(async (parts) => {
      parts.addContentTypeParser(
        'application/octet-stream',
        { parseAs: 'buffer' },
        async (_request: unknown, body: Buffer) => body,
      )
      parts.post<MediumRoute>(
        '/question-media/:mediumId/parts/:segment/:number',
        { bodyLimit: MAX_PART_BYTES },
        (request, reply) =>
          answer(reply, async () => {
            await getMedium(request.ctx, request.params.mediumId)
            const { mediumId, ...part } = partOf(request)
            await putMediumPart(request.ctx, mediumId, part)
            return {}
          }),
      )
    })
  })
}

function partOf({ body, params }: { body: unknown; params: unknown }) {
  if (!Value.Check(PartParams, params) || !Buffer.isBuffer(body)) return refuse()
  const { mediumId, segment, number }: Static<typeof PartParams> = params
  return { mediumId, segment: Number(segment), number: Number(number), content: body }
}

/** Errors are answered as sentences, which the script shows. */
async function answer(reply: FastifyReply, work: () => Promise<object>): Promise<FastifyReply> {
  try {
    return reply.send(await work())
  } catch (error) {
    return reply.code(422).send({ mistakes: issuesOf(error).map(formatIssue) })
  }
}

function refuse(): never {
  throw new DomainError('invalid', { issues: [{ field: 'medium', rule: 'malformed', text: 'This is not what is sent here.' }] })
}
