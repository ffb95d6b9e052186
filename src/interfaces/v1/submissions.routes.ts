import { Type } from '@sinclair/typebox'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { onReplica } from '../../domain/lists/on-replica.ts'
import { listReleasedNotes } from '../../domain/submissions/grading/list-released-notes.ts'
import { REPORT_AUDIENCES, reportOnInvite } from '../../domain/submissions/grading/result-report.ts'
import { getInviteSubmission, listSubmissions, SUBMISSION_STATES } from '../../domain/submissions/reading/list-submissions.ts'
import { listInviteTranscripts } from '../../domain/submissions/reading/list-transcripts.ts'
import { sendReport } from '../../http/reports/send-report.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { NotesView, presentNotes } from './notes.view.ts'
import {
  presentSubmission,
  presentSubmissionDetail,
  ReportView,
  SubmissionDetailView,
  SubmissionView,
} from './submissions.view.ts'
import { presentTranscripts, TranscriptsView } from './transcripts.view.ts'

const sortWords = { started_at: 'startedAt' } as const
const filters = {
  state: Type.Optional(StringEnum(SUBMISSION_STATES, { description: 'Only submissions in this state' })),
  assessmentId: Type.Optional(Uuid('Only submissions of this assessment')),
}
const params = Type.Object({ inviteId: Type.String({ format: 'uuid', description: 'Id of the invite' }) })
const tags = ['Submissions']

/** Beyond v1.md: submissions, and released results. */
export function submissionRoutes(app: TypedApp): void {
  app.get(
    '/submissions',
    {
      schema: {
        tags,
        operationId: 'listSubmissions',
        scope: 'results:read',
        summary: 'List submissions',
        description:
          'Started and submitted submissions, the last started first, with released results. The events `invite.completed` and `submission.released` say when to read.',
        querystring: ListQuery(sortWords, filters),
        response: { 200: ListOf('submissions', SubmissionView) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const { state, assessmentId } = query
      const list = await onReplica(ctx, (ctx) =>
        listSubmissions(ctx, omitUndefined({ state, assessmentId }), toOrder(sortWords, query), toPage(query)),
      )
      return answerList(request, reply, 'submissions', list, presentSubmission)
    },
  )

  app.get(
    '/invites/:inviteId/submission',
    {
      schema: {
        tags,
        operationId: 'getInviteSubmission',
        scope: 'results:read',
        summary: "Get an invite's submission",
        description:
          'The candidate’s questions and answers, and the grades once they are released. There is no submission before the start. Read it after the event `invite.completed` for the answers, and after `submission.released` for the grades.',
        params,
        response: { 200: SubmissionDetailView },
        hasEtag: true,
        errors: ['invite_not_found', 'submission_not_found'],
      },
    },
    async ({ ctx, params }) => presentSubmissionDetail(ctx, await getInviteSubmission(ctx, params.inviteId)),
  )

  app.get(
    '/invites/:inviteId/submission/report',
    {
      schema: {
        tags,
        operationId: 'getInviteSubmissionReport',
        scope: 'results:read',
        summary: 'Get the report on a released result',
        description:
          'The last released result, for people to read: candidate, time, points and percent, and each question with its points and comment. A PDF or, with `Accept: text/html`, a page. Available after the event `submission.released`. With `audience=candidate` it is in the candidate’s language, without the decision, knock-outs, and which grader’s points counted.',
        params,
        querystring: Type.Object({
          audience: Type.Optional(
            StringEnum(REPORT_AUDIENCES, { default: 'organization', description: 'Whom the report is for' }),
          ),
        }),
        response: { 200: ReportView },
        errors: ['invite_not_found', 'submission_not_found', 'result_not_released', 'too_many_reports'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      return sendReport(request, reply, await reportOnInvite(ctx, params.inviteId, query.audience ?? 'organization'))
    },
  )

  recordedAnswerRoutes(app)
}

/** Transcripts of recorded answers, and notes on them. */
function recordedAnswerRoutes(app: TypedApp): void {
  app.get(
    '/invites/:inviteId/submission/notes',
    {
      schema: {
        tags,
        operationId: 'listInviteNotes',
        scope: 'results:read',
        summary: 'List the graders’ notes on recorded answers',
        description:
          'Notes at moments of recorded answers, as the last released result has them. Empty unless they were released with it. Available after the event `submission.released`.',
        params,
        response: { 200: NotesView },
        errors: ['invite_not_found', 'submission_not_found', 'result_not_released'],
      },
    },
    async ({ ctx, params }) => presentNotes(await listReleasedNotes(ctx, params.inviteId)),
  )

  app.get(
    '/invites/:inviteId/submission/transcripts',
    {
      schema: {
        tags,
        operationId: 'listInviteTranscripts',
        scope: 'transcripts:read',
        requiresScopedKey: true,
        summary: 'List the transcripts of recorded answers',
        description:
          'Words of recorded answers by speech recognition, which may have mistakes. Only for keys with the scope `transcripts:read`. They are made within minutes of `invite.completed`, if the organization and the candidate agreed, and deleted with the recording.',
        params,
        response: { 200: TranscriptsView },
        errors: ['invite_not_found', 'submission_not_found'],
      },
    },
    async ({ ctx, params }) => presentTranscripts(await listInviteTranscripts(ctx, params.inviteId)),
  )
}
