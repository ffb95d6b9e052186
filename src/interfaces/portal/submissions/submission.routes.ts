import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import { decideOnInvite, findDecision } from '../../../domain/invites/decisions/decide.ts'
import { readDecisionNames } from '../../../domain/invites/decisions/decision-names.ts'
import { deleteSubmissionMedia } from '../../../domain/submissions/media/delete-expired-media.ts'
import { getSubmission } from '../../../domain/submissions/reading/submission.ts'
import { checkChoice, findIssues } from '../../../domain/validation/checks.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf, readPageNumber } from '../kit/paging.ts'
import { DELETABLE, submissionPage } from './submission.page.ts'

type Route = { Params: { inviteId: string }; Querystring: { done?: string } }

/** Submission of a candidate, for admins and the assigned grader. */
export function submissionRoutes(app: FastifyInstance): void {
  app.get<Route>('/invites/:inviteId/submission', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm, request.query.done)),
  )

  app.post<Route>('/invites/:inviteId/submission/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { ctx, params } = request
        authorize(ctx, 'operate_invites')
        const { media } = readFields(values, 'media')
        throwIfIssues(findIssues([['media', checkChoice(media, [...DELETABLE.keys()])]]))
        await deleteSubmissionMedia(ctx, params.inviteId, DELETABLE.get(media)?.kinds ?? [])
        return `${pathOf(ctx, `invites/${params.inviteId}/submission`)}?done=deleted`
      },
    }),
  )

  app.post<Route>('/invites/:inviteId/submission/decision', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { ctx, params } = request
        await decideOnInvite(ctx, params.inviteId, readFields(values, 'decision', 'note'))
        return `${pathOf(ctx, `invites/${params.inviteId}/submission`)}?done=decided`
      },
    }),
  )
}

async function onePage(request: FastifyRequest<Route>, form: Form, done?: string) {
  const { ctx, params } = request
  const detail = await getSubmission(ctx, params.inviteId, readPageNumber(queryOf(request)))
  const saved = detail.submission && (await findDecision(ctx, detail.submission.id))
  return submissionPage(form, {
    ctx,
    ...detail,
    mayReadInvite: may(ctx, 'read'),
    mayGrade: may(ctx, 'grade'),
    mayDelete: may(ctx, 'operate_invites'),
    decision: saved && { saved, names: await readDecisionNames(ctx) },
    done,
  })
}
