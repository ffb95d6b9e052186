import { doRepeatable } from '../../domain/concurrency/do-once.ts'
import type { Context } from '../../domain/context.ts'
import { deleteTestData } from '../../domain/test-data/delete-test-data.ts'
import { simulate } from '../../domain/test-data/simulate.ts'
import { answerOnce, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { answerInvite, InviteParams, MovedInviteView } from './invite-operations.routes.ts'
import { DeletionView, presentDeletion, SimulationBody, toGiven } from './test-data.view.ts'

const tags = ['Test data']

/** Beyond v1.md: what test keys do with test data. */
export function testDataRoutes(app: TypedApp): void {
  app.post(
    '/invites/:inviteId/simulate',
    {
      schema: {
        tags,
        operationId: 'simulateInvite',
        scope: 'invites:write',
        summary: 'Have happen what candidates and graders do',
        description:
          'With a test invite, at once, with the events, webhooks and mails that come of it otherwise. `accept`, `start`, `complete` and `decline` are what the candidate does, `grade` and `release` what members do who may grade, `expire` what the clock does, `remind` that the mail server accepts a reminder (once for each link, whatever the rules for reminders), `bounce` what the mail server does with the newest mail. What lies between the state of the invite and the action is done as well, and what has been done already stays as it is; a released result is graded anew where grades are given. Where the state leads nowhere near, as of an invite that was revoked, the answer is a 409. An organization’s are done one after the other.',
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
      return answerOnce(request, reply, work, undefined, doRepeatable)
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
          'For good: the test invites that there are now, with all that hangs on them, and the test tags. Some are gone with the answer; where there are more, a 202 says how many are being deleted, and asking again tells how many are left. What is made meanwhile stays, and so do events, which are in the feed until their time is over, webhooks, keys, and all that live data share.',
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
