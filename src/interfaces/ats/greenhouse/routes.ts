import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { mayReportTo } from '../../../domain/ats/callbacks.ts'
import { listTests } from '../../../domain/ats/list-tests.ts'
import { findInviteOrder, readInviteOrder, recordComplaint } from '../../../domain/ats/orders.ts'
import { type NewOrder, placeOrder } from '../../../domain/ats/place-order.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { createAtsEnvelope } from '../kit/envelope.ts'
import { linkIn, nameIn, objectIn, requiredText, textIn } from '../kit/read-fields.ts'
import { type AtsScope, openScope } from '../kit/scope.ts'
import { presentStatus, presentTest } from './view.ts'

export const greenhouseEnvelope = createAtsEnvelope('/ats/greenhouse', (message) => ({ message }))

/** Maximum number of stored complaints, and characters of each. */
const MAX_COMPLAINTS = 20
const MAX_COMPLAINT_LENGTH = 300
/** Characters of an order's id that are shown. */
const MAX_ID_LENGTH = 100

/** Routes for Greenhouse (docs/ats.md, Greenhouse). */
export async function greenhouseRoutes(app: FastifyInstance, scope: AtsScope): Promise<void> {
  openScope(app, 'greenhouse', { ...scope, envelope: greenhouseEnvelope })

  app.get('/list_tests', async ({ ctx }) => (await listTests(ctx)).map(presentTest))

  app.post('/send_test', async (request, reply) => {
    const outcome = await placeOrder(request.ctx, readOrder(request.ctx, request.body), { takesOver: true })
    if (outcome.refused) throw new DomainError('invite_declined')
    request.atsOrderId = outcome.orderId
    return reply.send({ partner_interview_id: outcome.inviteId })
  })

  app.get<{ Querystring: { partner_interview_id?: unknown } }>('/test_status', async (request) => {
    const { orderId, ...order } = await readInviteOrder(request.ctx, textIn(request.query.partner_interview_id))
    request.atsOrderId = orderId
    return presentStatus(request.ctx, order)
  })

  app.post('/response_error', async (request) => {
    request.atsOrderId = await logComplaint(request.ctx, objectIn(request.body))
    return { status: 200 }
  })
}

/** @throws DomainError invalid if a required field is missing, or if the callback URL is not Greenhouse's. */
function readOrder({ deps }: Context, body: unknown): NewOrder {
  const { partner_test_id, candidate, url } = objectIn(body)
  const { email, greenhouse_profile_url, ...names } = objectIn(candidate)
  const callbackUrl = requiredText(url, 'callbackUrl')
  throwIfIssues(mayReportTo(deps, 'greenhouse', callbackUrl) ? [] : [{ field: 'callbackUrl', rule: 'target', problem: 'host' }])
  return {
    naturalKey: naturalKeyOf(callbackUrl),
    assessmentId: requiredText(partner_test_id, 'partner_test_id'),
    recipientEmail: requiredText(email, 'recipientEmail'),
    recipientName: nameIn(names),
    callbackUrl,
    profileUrl: linkIn(greenhouse_profile_url),
  }
}

/**
 * Identifies an order by the hash of its callback URL. The last path segment, Greenhouse's id of the order, comes first for people to read. It
 * is not unique across hosts and paths. A hash, because indexed texts are limited in length.
 */
function naturalKeyOf(callbackUrl: string): string {
  const { href, pathname } = new URL(callbackUrl)
  const id = pathname.split('/').findLast((part) => part !== '') ?? ''
  return `${id.slice(0, MAX_ID_LENGTH)} ${hash('sha256', href)}`
}

/** Logs and counts Greenhouse's complaint about a response, without the candidate's address. @returns the order's id, if known. */
async function logComplaint(ctx: Context, body: Record<string, unknown>): Promise<string | null> {
  const call = textIn(body.api_call, MAX_COMPLAINT_LENGTH)
  const address = textIn(body.candidate_email)
  const errors = (Array.isArray(body.errors) ? body.errors : [])
    .slice(0, MAX_COMPLAINTS)
    .map((error) => withoutAddress(textIn(error, MAX_COMPLAINT_LENGTH), address))
  const { deps, organization } = ctx
  deps.metrics.answerRefused()
  deps.log.warn({ organizationId: organization.id, ats: 'greenhouse', call, errors }, 'an ATS rejected a response')
  const order = await findInviteOrder(ctx, textIn(body.partner_interview_id)).catch(() => null)
  if (order) await recordComplaint(ctx, order.id, `${call}: ${errors.join('; ')}`)
  return order?.id ?? null
}

const withoutAddress = (text: string, address: string): string => (address === '' ? text : text.replaceAll(address, '…'))
