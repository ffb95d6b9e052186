import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  createShareLink,
  findShareCandidates,
  getShareLink,
  listShareLinks,
  revokeShareLink,
} from '../../../domain/sharing/share-links.ts'
import { readNumber } from '../invites/new-invite.page.ts'
import { type Form, issuesOf, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { newSharePage, SHARES, sharePage, sharesPage } from './shares.page.ts'

type Route = { Params: { shareId: string } }

export function sharesRoutes(app: FastifyInstance): void {
  app.get(`/${SHARES}`, async (request, reply) =>
    show(request, reply, sharesPage(request.ctx, await listShareLinks(request.ctx))),
  )

  app.get(`/${SHARES}/new`, async (request, reply) => {
    const { issues, page } = await newPage(request, { values: queryOf(request), issues: [] })
    return show(request, reply, page, issues.length > 0 ? 422 : 200)
  })

  app.post(`/${SHARES}`, (request, reply) =>
    submitOnce(request, reply, {
      page: async (form) => (await newPage(request, form)).page,
      async work(ctx, values) {
        const { receiver, days } = readFields(values, 'receiver', 'days')
        const id = await createShareLink(ctx, {
          submissionIds: values.getAll('id'),
          receiver,
          shows: values.getAll('shows'),
          asksFeedback: values.has('asksFeedback'),
          hasCode: values.has('hasCode'),
          days: readNumber(days) ?? 0,
        })
        return pathOf(ctx, `${SHARES}/${id}`)
      },
    }),
  )

  app.get<Route>(`/${SHARES}/:shareId`, async (request, reply) => {
    const { ctx, params } = request
    const done = queryOf(request).get('done') ?? undefined
    return show(request, reply, sharePage(ctx, await getShareLink(ctx, params.shareId), done))
  })

  app.post<Route>(`/${SHARES}/:shareId/revoke`, (request, reply) =>
    submit(request, reply, {
      page: async () => sharesPage(request.ctx, await listShareLinks(request.ctx)),
      async work() {
        await revokeShareLink(request.ctx, request.params.shareId)
        return `${pathOf(request.ctx, `${SHARES}/${request.params.shareId}`)}?done=revoked`
      },
    }),
  )
}

/** Selections that can't be shared show why. */
async function newPage({ ctx }: FastifyRequest, form: Form) {
  const result = await findShareCandidates(ctx, form.values.getAll('id')).catch((error: unknown) => ({
    issues: issuesOf(error),
  }))
  const refusedIssues = 'issues' in result ? result.issues : []
  const candidates = 'issues' in result ? [] : result
  const issues = refusedIssues.length > 0 ? refusedIssues : form.issues
  return { issues, page: newSharePage({ values: form.values, issues }, { ctx, candidates }) }
}
