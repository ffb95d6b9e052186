import type { FastifyInstance } from 'fastify'
import { CANDIDATE_ORDERS, listCandidates } from '../../../domain/candidates/list-candidates.ts'
import { readCandidate } from '../../../domain/candidates/read-candidate.ts'
import { findUndelivered } from '../../../domain/invites/listing/row-extras.ts'
import { type CandidateRoute, orRedirectToReceipt } from '../erasure/erased-meanwhile.ts'
import { issuesOf, readFields } from '../kit/forms.ts'
import { show } from '../kit/layout.ts'
import { pageSizeOf, queryOf } from '../kit/paging.ts'
import { candidatePage, candidatesPage } from './candidates.page.ts'

/** Pages of candidates are addressed by the id of one of their invites, so that no address contains an email address. */
export function candidatesRoutes(app: FastifyInstance): void {
  app.get('/candidates', async (request, reply) => {
    const { ctx } = request
    const values = queryOf(request)
    const { search, sort, after } = readFields(values, 'search', 'sort', 'after')
    const order = CANDIDATE_ORDERS.find((known) => known === sort) ?? CANDIDATE_ORDERS[0]
    const size = pageSizeOf(request)
    try {
      const page = await listCandidates(ctx, { search, order, after, size })
      const undelivered = await findUndelivered(ctx, page.candidates)
      return show(request, reply, candidatesPage({ values, issues: [] }, { ctx, page, undelivered, order, size }))
    } catch (error) {
      const issues = issuesOf(error)
      return show(
        request,
        reply,
        candidatesPage({ values, issues }, { ctx, page: null, undelivered: new Set(), order, size }),
        422,
      )
    }
  })

  app.get<CandidateRoute>('/candidates/:inviteId', (request, reply) =>
    orRedirectToReceipt(request, reply, async () => {
      const candidate = await readCandidate(request.ctx, request.params.inviteId)
      const undelivered = await findUndelivered(request.ctx, candidate.invites)
      return show(request, reply, candidatePage(request.ctx, { ...candidate, undelivered }))
    }),
  )
}
