import type { Context } from '../../domain/context.ts'
import {
  assignGraders,
  gradeForMember,
  readGrading,
  releaseForMember,
  reopenForMember,
} from '../../domain/submissions/grading/grade-for-members.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { reportConflicts } from './conflicts.ts'
import {
  GradersBody,
  GradesBody,
  GradingView,
  presentGrading,
  ReleaseBody,
  ReleasedGrading,
  ReopeningBody,
  toGraders,
  toGrades,
  toRelease,
} from './grading.view.ts'
import { InviteParams } from './invite-operations.routes.ts'

const errors = ['invite_not_found', 'submission_not_found'] as const
/** Live keys grade live submissions, and test keys test submissions. */
const grading = { tags: ['Submissions'], keyRight: 'manage', params: InviteParams } as const

const read = async (ctx: Context, inviteId: string) => presentGrading(await readGrading(ctx, inviteId))

/** Beyond v1.md: graders, grades, and the release of the result, for keys with the right to manage. */
export function gradingRoutes(app: TypedApp): void {
  sheetRoutes(app)
  releaseRoutes(app)
}

function sheetRoutes(app: TypedApp): void {
  app.get(
    '/invites/:inviteId/submission/grades',
    {
      schema: {
        ...grading,
        operationId: 'getGrading',
        scope: 'results:write',
        summary: 'Get the grades so far',
        description:
          'Grades of a submission that was submitted: every grader’s, which of them count, and which are missing, also before the release.',
        response: { 200: GradingView },
        hasEtag: true,
        errors,
      },
    },
    async ({ ctx, params }) => read(ctx, params.inviteId),
  )

  app.patch(
    '/invites/:inviteId/submission/graders',
    {
      schema: {
        ...grading,
        operationId: 'assignGraders',
        scope: 'results:write',
        summary: 'Assign who grades',
        description:
          'Assigns graders to a submission that was submitted: active members with the role grader or admin. The first grader becomes the invite’s as well.',
        body: GradersBody,
        response: { 200: GradingView },
        errors: [...errors, 'state_conflict'],
      },
    },
    async ({ ctx, params, body }) => {
      await reportConflicts(assignGraders(ctx, params.inviteId, toGraders(body)))
      return read(ctx, params.inviteId)
    },
  )

  app.patch(
    '/invites/:inviteId/submission/grades',
    {
      schema: {
        ...grading,
        operationId: 'grade',
        scope: 'results:write',
        summary: 'Grade answers',
        description:
          'Saves points and comments by question, all or none, in the name of a member who may grade the submission. The audit log names the key.',
        body: GradesBody,
        response: { 200: GradingView },
        errors: [...errors, 'changed_meanwhile', 'state_conflict'],
      },
    },
    async ({ ctx, params, body }) => {
      await reportConflicts(gradeForMember(ctx, params.inviteId, toGrades(body)))
      return read(ctx, params.inviteId)
    },
  )
}

/** Releases a result, or reopens it. */
function releaseRoutes(app: TypedApp): void {
  app.post(
    '/invites/:inviteId/submission/release',
    {
      schema: {
        ...grading,
        operationId: 'releaseResult',
        scope: 'results:write',
        summary: 'Release the result',
        description:
          'Releases the current grades to the organization, its clients, and optionally the candidate. Webhooks and the feed report `submission.released`.',
        headers: IdempotencyHeaders,
        body: ReleaseBody,
        response: { 200: ReleasedGrading },
        errors: [...errors, 'state_conflict'],
      },
    },
    async (request, reply) => {
      const { body, params } = request
      return answerIdempotently(request, reply, async (ctx) => {
        await reportConflicts(releaseForMember(ctx, params.inviteId, toRelease(body)))
        return { status: 200, body: await read(ctx, params.inviteId) }
      })
    },
  )

  app.post(
    '/invites/:inviteId/submission/reopen',
    {
      schema: {
        ...grading,
        operationId: 'reopenResult',
        scope: 'results:write',
        summary: 'Reopen a result',
        description: 'Continues grading. Others see the last release until the next one.',
        headers: IdempotencyHeaders,
        body: ReopeningBody,
        response: { 200: ReleasedGrading },
        errors: [...errors, 'state_conflict'],
      },
    },
    async (request, reply) => {
      const { body, params } = request
      return answerIdempotently(request, reply, async (ctx) => {
        await reportConflicts(reopenForMember(ctx, params.inviteId, { graderId: body?.graderId }))
        return { status: 200, body: await read(ctx, params.inviteId) }
      })
    },
  )
}
