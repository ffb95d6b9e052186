import { Type } from '@sinclair/typebox'
import { getErasure } from '../../domain/erasure/erasures.ts'
import { requestErasure } from '../../domain/erasure/request-erasure.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { CandidateToEraseBody, ErasureView, presentErasure } from './erasures.view.ts'

const OneErasure = Type.Object({ erasure: ErasureView }, { [NAME]: 'OneErasure', description: 'The erasure' })
const params = Type.Object({ erasureId: Type.String({ format: 'uuid', description: 'Id of the erasure' }) })
const shared = { tags: ['Erasure'], scope: 'candidates:erase', requiresScopedKey: true } as const

/** Beyond v1.md: erasing candidates. An address stands in no path and no query: those are logged on the way. */
export function erasureRoutes(app: TypedApp): void {
  app.delete(
    '/candidates',
    {
      schema: {
        ...shared,
        operationId: 'eraseCandidate',
        summary: 'Erase a candidate',
        description:
          'For good: all invites of the address, live and test, with submissions, recordings, grades, results and mails. What is open is revoked at once; the rest goes step by step, and `GET /erasures/{erasureId}` tells when it is done. Events keep their type, time and ids; `invite.erased` tells of each invite. An address that is not known is answered alike, with nothing to find. Asked for again while it runs, it is the same erasure. Only for live keys with the scope `candidates:erase`, which an owner gives.',
        body: CandidateToEraseBody,
        response: { 202: OneErasure },
        errors: ['too_many_erasures'],
      },
    },
    async ({ ctx, body }, reply) => {
      const erasure = await requestErasure(ctx, { address: body.email })
      return reply.code(202).send({ erasure: presentErasure(erasure) })
    },
  )

  app.get(
    '/erasures/:erasureId',
    {
      schema: {
        ...shared,
        operationId: 'getErasure',
        summary: 'Get an erasure, or its receipt',
        description: 'How far it is and, once it is `done`, what was erased, what stays, and until when backups hold it.',
        params,
        response: { 200: OneErasure },
        hasEtag: true,
        errors: ['erasure_not_found'],
      },
    },
    async ({ ctx, params }) => ({ erasure: presentErasure(await getErasure(ctx, params.erasureId)) }),
  )
}
