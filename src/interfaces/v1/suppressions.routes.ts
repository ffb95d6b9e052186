import { Type } from '@sinclair/typebox'
import { liftSuppression, listSuppressions, suppressAddress } from '../../domain/invites/suppressions.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { NewSuppressionBody, presentSuppression, SuppressionView } from './suppressions.view.ts'

const OneSuppression = Type.Object({ suppression: SuppressionView }, { [NAME]: 'OneSuppression', description: 'The address' })
const params = Type.Object({ suppressionId: Type.String({ format: 'uuid', description: 'Id of the suppression' }) })
const sortWords = { since: 'since' } as const
const tags = ['Suppressions']

/** Beyond v1.md: the addresses that are not written to. */
export function suppressionRoutes(app: TypedApp): void {
  app.get(
    '/suppressions',
    {
      schema: {
        tags,
        operationId: 'listSuppressions',
        scope: 'invites:read',
        summary: 'List addresses that are not written to',
        description:
          'Live and test keys have lists of their own. An invite of such an address is made, and its mail is `failed`.',
        querystring: ListQuery(sortWords, {}),
        response: { 200: ListOf('suppressions', SuppressionView) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await listSuppressions(ctx, {}, toOrder(sortWords, query), toPage(query))
      return answerList(request, reply, 'suppressions', list, presentSuppression)
    },
  )

  app.post(
    '/suppressions',
    {
      schema: {
        tags,
        operationId: 'suppressAddress',
        scope: 'invites:write',
        summary: 'Have an address not written to',
        description:
          'Whatever it is invited to, nothing is mailed. An address that is on the list already is answered as it is there.',
        headers: IdempotencyHeaders,
        body: NewSuppressionBody,
        response: { 201: OneSuppression },
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, async (ctx) => {
        const suppression = await suppressAddress(ctx, request.body.address)
        return { status: 201, body: { suppression: presentSuppression(suppression) } }
      }),
  )

  app.delete(
    '/suppressions/:suppressionId',
    {
      schema: {
        tags,
        operationId: 'liftSuppression',
        scope: 'invites:write',
        summary: 'Have an address written to again',
        description:
          'Answers with the suppression as it was. Only where the reason is gone: mails that come back harm those to everybody.',
        params,
        response: { 200: OneSuppression },
        errors: ['suppression_not_found'],
      },
    },
    async ({ ctx, params }) => ({
      suppression: presentSuppression(await liftSuppression(ctx, params.suppressionId, 'by API')),
    }),
  )
}
