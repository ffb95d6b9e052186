import { Type } from '@sinclair/typebox'
import { getErasure } from '../../domain/erasure/erasures.ts'
import { requestErasure } from '../../domain/erasure/request-erasure.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { CandidateToEraseBody, ErasureView, presentErasure } from './erasures.view.ts'

const OneErasure = Type.Object({ erasure: ErasureView }, { [NAME]: 'OneErasure', description: 'The erasure' })
const params = Type.Object({ erasureId: Type.String({ format: 'uuid', description: 'Id of the erasure' }) })
const shared = { tags: ['Erasure'], scope: 'candidates:erase', requiresScopedKey: true } as const

/** Beyond v1.md: erases candidates. Email addresses are sent in bodies only, because proxies log paths and queries. */
export function erasureRoutes(app: TypedApp): void {
  app.delete(
    '/candidates',
    {
      schema: {
        ...shared,
        operationId: 'eraseCandidate',
        summary: 'Erase a candidate',
        description:
          'Permanently erases all invites of the address, live and test, with submissions, recordings, grades, results, and mails. Open invites are revoked at once; the rest is deleted step by step, and `GET /erasures/{erasureId}` says when it is done. Events keep their type, time, and ids, and each invite adds an `invite.erased`. An unknown address gets the same answer, with nothing found. A request during an erasure returns that erasure. Only for live keys with the scope `candidates:erase`, which an owner grants.',
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
        description:
          'Progress of an erasure; once it is `done`, its receipt: what was erased, what stays, and until when backups contain it.',
        params,
        response: { 200: OneErasure },
        hasEtag: true,
        errors: ['erasure_not_found'],
      },
    },
    async ({ ctx, params }) => ({ erasure: presentErasure(await getErasure(ctx, params.erasureId)) }),
  )
}
