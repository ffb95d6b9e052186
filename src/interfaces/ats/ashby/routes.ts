import type { FastifyInstance } from 'fastify'
import { hasAtsApiKey } from '../../../domain/ats/connections.ts'
import { listTests } from '../../../domain/ats/list-tests.ts'
import { cancelOrder } from '../../../domain/ats/orders.ts'
import { atsOf, type NewOrder, type PlacedOrder, placeOrder } from '../../../domain/ats/place-order.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { createAtsEnvelope } from '../kit/envelope.ts'
import { linkIn, nameIn, objectIn, requiredText, textIn } from '../kit/read-fields.ts'
import { formatReleased } from '../kit/refusals.ts'
import { type AtsScope, openScope } from '../kit/scope.ts'
import { presentTest, presentUpdate } from './view.ts'

/** Ashby shows `message` to the recruiter. The other fields have the format of Ashby's own errors. */
const presentRefusal = (message: string, code: string) => ({
  ...{ success: false, message, errors: [code], errorInfo: { code, message } },
})
export const ashbyEnvelope = createAtsEnvelope('/ats/ashby', presentRefusal)

/** Routes for Ashby: one base address, always POST (docs/ats.md, Ashby). */
export async function ashbyRoutes(app: FastifyInstance, scope: AtsScope): Promise<void> {
  openScope(app, 'ashby', { ...scope, envelope: ashbyEnvelope })

  app.post('/assessment.list', async ({ ctx }) => ({ success: true, results: (await listTests(ctx)).map(presentTest) }))

  app.post('/assessment.start', async (request, reply) => {
    const { ctx } = request
    // Without the key, nothing can be reported to Ashby.
    const isReady = await hasAtsApiKey(ctx, atsOf(ctx).connectionId)
    throwIfIssues(isReady ? [] : [{ field: 'theirKey', rule: 'required' }])
    const outcome = await placeOrder(ctx, readOrder(request.body), { takesOver: false })
    if (outcome.refused)
      return reply.code(statusOf(outcome)).send(presentRefusal(formatRefusal(ctx, outcome), CODES[outcome.refused]))
    request.atsOrderId = outcome.orderId
    return reply.send({ success: true, results: presentStart(ctx, outcome) })
  })

  // Succeeds for finished and unknown assessments, too, so that the recruiter can go on.
  app.post('/assessment.cancel', async (request) => {
    const assessment_id = textIn(objectIn(request.body).assessment_id)
    const order = await cancelOrder(request.ctx, assessment_id)
    request.atsOrderId = order?.id ?? null
    return { success: true, results: { assessment_id } }
  })

  app.post('/assessment.customField.list', async () => ({ success: true, fields: [] }))
}

/** @throws DomainError invalid if a required field is missing. */
function readOrder(body: unknown): NewOrder {
  const { assessment_type_id, candidate, application } = objectIn(body)
  const { email, ashby_profile_url, ...names } = objectIn(candidate)
  const assessmentId = requiredText(assessment_type_id, 'assessment_type_id')
  return {
    naturalKey: `${requiredText(objectIn(application).ashby_id, 'application.ashby_id')} ${assessmentId}`,
    assessmentId,
    recipientEmail: requiredText(email, 'recipientEmail'),
    recipientName: nameIn(names),
    callbackUrl: null,
    profileUrl: linkIn(ashby_profile_url),
  }
}

type AcceptedOrder = Exclude<PlacedOrder, { refused: string }>
type RefusedOrder = Extract<PlacedOrder, { refused: string }>

/** Includes the first update, which saves a call. */
function presentStart(ctx: Context, { inviteId, createdAt }: AcceptedOrder) {
  const order = { inviteId, status: 'invited', startedAt: null, completedAt: null, result: null } as const
  return { assessment_id: inviteId, update_request: presentUpdate(ctx, { status: 'invited', at: createdAt, order }) }
}

const CODES = {
  running: 'duplicate_invite',
  in_review: 'duplicate_invite',
  released: 'already_assessed',
  declined: 'invite_declined',
}

/** 409: the candidate is being assessed already. */
const statusOf = ({ refused }: RefusedOrder): number => (refused === 'running' || refused === 'in_review' ? 409 : 422)

function formatRefusal(ctx: Context, { refused, status }: RefusedOrder): string {
  if (refused === 'declined') throw new DomainError('invite_declined')
  return refused === 'released' ? formatReleased(ctx, status) : 'The candidate is being assessed already.'
}
