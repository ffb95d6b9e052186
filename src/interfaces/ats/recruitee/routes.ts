import type { FastifyInstance } from 'fastify'
import { listTests } from '../../../domain/ats/list-tests.ts'
import { type NewOrder, placeOrder } from '../../../domain/ats/place-order.ts'
import { DomainError } from '../../../domain/errors.ts'
import { checkUuid, findIssues } from '../../../domain/validation/checks.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { createAtsEnvelope } from '../kit/envelope.ts'
import { nameIn, objectIn, requiredText } from '../kit/read-fields.ts'
import { formatReleased } from '../kit/refusals.ts'
import { type AtsScope, openScope } from '../kit/scope.ts'
import { REFUSED_STATUS } from './constants.ts'
import { presentTest } from './view.ts'

/** Recruitee shows the text to the recruiter. */
export const recruiteeEnvelope = createAtsEnvelope('/ats/recruitee', (error) => ({ error }))

/** Routes for Recruitee (docs/ats.md, Recruitee). */
export async function recruiteeRoutes(app: FastifyInstance, scope: AtsScope): Promise<void> {
  openScope(app, 'recruitee', { ...scope, envelope: recruiteeEnvelope })

  app.get('/tests', async ({ ctx }) => (await listTests(ctx)).map(presentTest))

  app.post('/send_candidate', async (request, reply) => {
    const outcome = await placeOrder(request.ctx, readOrder(request.body), { takesOver: false })
    if (outcome.refused === 'declined') throw new DomainError('invite_declined')
    if (outcome.refused) {
      const isOver = outcome.refused === 'released'
      const error = isOver ? formatReleased(request.ctx, outcome.status) : 'The candidate is being assessed already.'
      return reply.code(REFUSED_STATUS).send({ error })
    }
    request.atsOrderId = outcome.orderId
    return reply.send({})
  })
}

/** @throws DomainError invalid if a required field is missing. */
function readOrder(body: unknown): NewOrder {
  const { report_id, test_id, email, ...names } = objectIn(body)
  const naturalKey = requiredText(report_id, 'report_id').toLowerCase()
  throwIfIssues(findIssues([['report_id', checkUuid(naturalKey)]])) // used in a URL
  return {
    naturalKey,
    assessmentId: requiredText(test_id, 'test_id'),
    recipientEmail: requiredText(email, 'recipientEmail'),
    recipientName: nameIn(names),
    callbackUrl: null,
    profileUrl: '',
  }
}
