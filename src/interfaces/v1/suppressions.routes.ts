import { Type } from '@sinclair/typebox'
import { deleteSuppression, listSuppressions, suppressAddress } from '../../domain/invites/suppressions.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { NewSuppressionBody, presentSuppression, SuppressionView } from './suppressions.view.ts'

const OneSuppression = Type.Object({ suppression: SuppressionView }, { [NAME]: 'OneSuppression', description: 'The address' })
const params = Type.Object({ suppressionId: Type.String({ format: 'uuid', description: 'Id of the suppression' }) })
const sortWords = { since: 'since' } as const
const tags = ['Suppressions']

/** Beyond v1.md: blocked email addresses. */
export function suppressionRoutes(app: TypedApp): void {
  app.get(
    '/suppressions',
    {
      schema: {
        tags,
        operationId: 'listSuppressions',
        scope: 'invites:read',
        summary: 'List suppressed addresses',
        description:
          'Addresses that get no mails. Live and test keys have separate lists. Inviting such an address creates the invite, and its mail is `failed`.',
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
        summary: 'Suppress an address',
        description: 'Stops all mails to the address. If it is on the list already, the existing entry is returned.',
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
        summary: 'Lift a suppression',
        description:
          'Returns the removed suppression. Use it only if the reason no longer applies: bounces harm the delivery of all mails.',
        params,
        response: { 200: OneSuppression },
        errors: ['suppression_not_found'],
      },
    },
    async ({ ctx, params }) => ({
      suppression: presentSuppression(await deleteSuppression(ctx, params.suppressionId, 'by API')),
    }),
  )
}
