import { Type } from '@sinclair/typebox'
import { createAndStartBatch, getBatch, listBatchRows } from '../../domain/invites/batches/batches.ts'
import { MAX_OPEN_BATCHES, MAX_ROWS_A_REQUEST, MAX_ROWS_BYTES } from '../../domain/limits.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { withMailDelay } from '../../http/sending/with-mail-delay.ts'
import {
  BatchRowView,
  NewBatchBody,
  OneBatchView,
  presentBatch,
  presentBatchRow,
  RowState,
  StartedBatchView,
  toBatch,
} from './invite-batches.view.ts'
import { answerList, ListOf, ListQuery, toPage } from './list.ts'

const params = Type.Object({ batchId: Type.String({ format: 'uuid', description: 'Id of the batch' }) })
const tags = ['Invite batches']
const rowOrder = { number: 'number' } as const

/** Beyond v1.md: many invites by one request, and the outcome of each. */
export function inviteBatchRoutes(app: TypedApp): void {
  app.post(
    '/invite-batches',
    {
      bodyLimit: MAX_ROWS_BYTES,
      schema: {
        tags,
        operationId: 'createInviteBatch',
        scope: 'invites:write',
        summary: 'Invite many candidates',
        description: `Up to ${MAX_ROWS_A_REQUEST} candidates are invited to one assessment, one after the other, from now on; the body may be 1 MiB. What is said beside \`invites\` holds for all of them. What is wrong with one, or that it was invited before, is its outcome, and does not concern the others. At most ${MAX_OPEN_BATCHES} batches are under way at a time: beyond these it is a 429. \`Mail-Delayed-Until\` of the answer is the time at which the last mail leaves, if that is more than an hour away.`,
        headers: IdempotencyHeaders,
        body: NewBatchBody,
        response: { 202: StartedBatchView },
        errors: ['assessment_not_found', 'too_many_batches'],
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, async (ctx) => {
        const newBatch = toBatch(request.body)
        const invite = () => createAndStartBatch(ctx, newBatch)
        const mailsAhead = Math.max(0, newBatch.rows.length - 1)
        const batch = newBatch.terms.sendEmail === false ? await invite() : await withMailDelay(ctx, reply, invite, mailsAhead)
        return { status: 202, body: { batch: presentBatch(batch) } }
      }),
  )

  app.get(
    '/invite-batches/:batchId',
    {
      schema: {
        tags,
        operationId: 'getInviteBatch',
        scope: 'invites:read',
        summary: 'Get the progress of a batch',
        description: 'Numbers of rows in each state. Batches are kept for 90 days, including lists imported in the portal.',
        params,
        response: { 200: OneBatchView },
        hasEtag: true,
        errors: ['invite_batch_not_found'],
      },
    },
    async ({ ctx, params }) => ({ batch: presentBatch(await getBatch(ctx, params.batchId)) }),
  )

  app.get(
    '/invite-batches/:batchId/rows',
    {
      schema: {
        tags,
        operationId: 'listInviteBatchRows',
        scope: 'invites:read',
        summary: 'List the rows of a batch',
        description: 'The rows of a batch in their order, each with its outcome.',
        params,
        querystring: Type.Omit(
          ListQuery(rowOrder, { state: Type.Optional({ ...RowState, description: 'Only rows in this state' }) }),
          ['sort', 'order'],
        ),
        response: { 200: ListOf('rows', BatchRowView) },
        errors: ['invite_batch_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const list = await listBatchRows(ctx, await getBatch(ctx, params.batchId), query.state, toPage(query))
      return answerList(request, reply, 'rows', list, presentBatchRow)
    },
  )
}
