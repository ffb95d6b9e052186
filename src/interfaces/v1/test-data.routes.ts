import { withIdempotencyKeyForLongWork } from '../../domain/concurrency/idempotency.ts'
import type { Context } from '../../domain/context.ts'
import { deleteTestData } from '../../domain/test-data/delete-test-data.ts'
import { simulate } from '../../domain/test-data/simulate.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { answerInvite, InviteParams, MovedInviteView } from './invite-operations.routes.ts'
import { DeletionView, presentDeletion, SimulationBody, toGiven } from './test-data.view.ts'

const tags = ['Test data']

/** Beyond v1.md: operations of test keys on test data. */
export function testDataRoutes(app: TypedApp): void {
  app.post(
    '/invites/:inviteId/simulate',
    {
      schema: {
        tags,
        operationId: 'simulateInvite',
        scope: 'invites:write',
        summary: 'Simulate an action',
        description:
          'Performs an action on a test invite at once, with the usual events, webhooks, and mails. `accept`, `start`, `complete`, and `decline` are actions of the candidate, `grade` and `release` of a grader, `expire` of the clock. `remind`: the mail server accepts a reminder (once for each link, regardless of the rules for reminders). `bounce`: the newest mail comes back. `complain` and `unsubscribe`: the candidate marks it as spam, or wants no more mails. Earlier steps run automatically, and finished steps stay as they are. `grades` after the release create a new version. An action that the state does not allow, as after a revocation, is a 409. An organization’s simulations run one after the other.',
        params: InviteParams,
        headers: IdempotencyHeaders,
        body: SimulationBody,
        response: { 200: MovedInviteView },
        isForTestKeys: true,
        errors: [
          'invite_not_found',
          'submission_not_found',
          'move_not_allowed',
          'session_refused',
          'graders_missing',
          'too_many_mails',
          'too_many_simulations',
        ],
      },
    },
    async (request, reply) => {
      const { body, params } = request
      const work = (ctx: Context) => answerInvite(simulate(ctx, params.inviteId, body.action, toGiven(body)))
      return answerIdempotently(request, reply, work, undefined, withIdempotencyKeyForLongWork)
    },
  )

  app.delete(
    '/test-data',
    {
      schema: {
        tags,
        operationId: 'deleteTestData',
        scope: 'invites:write',
        summary: 'Delete all test data',
        description:
          'Permanently deletes all existing test invites with everything that belongs to them, and the test tags. If there are many, a 202 says how many are still being deleted; repeat the request to see the progress. Newer test data stays, and so do events in the feed, webhooks, keys, and shared data.',
        response: { 200: DeletionView, 202: DeletionView },
        isForTestKeys: true,
      },
    },
    async ({ ctx }, reply) => {
      const deletion = await deleteTestData(ctx)
      return reply.code(deletion.remaining > 0 ? 202 : 200).send(presentDeletion(deletion))
    },
  )
}
