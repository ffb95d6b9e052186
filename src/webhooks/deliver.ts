import { carryTrace, inSpan } from '../domain/concurrency/tracing.ts'
import type { ServiceContext } from '../domain/context.ts'
import { toEventJson } from '../domain/events/feed.ts'
import {
  type AttemptResult,
  type DeliveryOutcome,
  type LeasedDelivery,
  recordDeliveryAttempt,
  releaseDelivery,
} from '../domain/webhooks/delivery-attempts.ts'
import { decryptWebhookSecrets } from '../domain/webhooks/secrets.ts'
import type { Concurrency } from './concurrency.ts'
import type { Post } from './post.ts'
import { signedHeaders } from './sign.ts'

const UNREADABLE_SECRET = 'The secret of the endpoint can not be decrypted: rotate it'

/** Attempts a delivery and records the result. Attempts interrupted by a stop are not recorded. */
export async function deliver(
  system: ServiceContext,
  post: Post,
  taken: LeasedDelivery,
  { stop, concurrency }: { stop: AbortSignal; concurrency: Concurrency },
): Promise<void> {
  const startedAt = system.deps.clock()
  const startedAtMs = performance.now()
  const answer = await inSpan({ name: 'webhook', kind: 'client' }, async (span) => {
    const answered = await send(system, post, taken, stop)
    if (answered && 'status' in answered) span.attributes['http.response.status_code'] = answered.status
    span.failed = answered !== null && !('status' in answered && answered.status < 300)
    return answered
  })
  if (answer === null) return releaseDelivery(system, taken)
  const milliseconds = Math.round(performance.now() - startedAtMs)
  concurrency.record(taken.endpoint.id, { answer, milliseconds })
  logAttempt(
    system,
    taken,
    { answer, milliseconds },
    await recordDeliveryAttempt(system, taken, { startedAt, milliseconds, answer }),
  )
}

/** @returns null if interrupted. */
async function send(
  system: ServiceContext,
  post: Post,
  { endpoint, event }: LeasedDelivery,
  stop: AbortSignal,
): Promise<AttemptResult['answer'] | null> {
  const secrets = decryptWebhookSecrets(system, endpoint)
  if (secrets === null) return { error: UNREADABLE_SECRET }
  const body = JSON.stringify(toEventJson(event))
  const headers = {
    ...signedHeaders(secrets, { id: event.id, sentAt: system.deps.clock(), body }),
    ...(event.isTest && { 'webhook-test': 'true' }),
  }
  try {
    return await post(endpoint.url, { ...headers, ...carryTrace() }, body, stop)
  } catch (error) {
    return stop.aborted ? null : { error: describeFailure(error as NodeJS.ErrnoException) }
  }
}

/** The reason for a failed connection. A connection to several addresses has no message of its own. */
export const describeFailure = ({ message, code, name }: NodeJS.ErrnoException): string => message || code || name

/** Logs the attempt without the URL, which may contain a token. */
function logAttempt(
  { deps }: ServiceContext,
  { delivery }: LeasedDelivery,
  { answer, milliseconds }: Omit<AttemptResult, 'startedAt'>,
  recorded: DeliveryOutcome,
): void {
  const { organizationId, endpointId, eventId, attemptCount } = delivery
  const { outcome, notice } = recorded
  const attempted = { attempt: attemptCount + 1, durationMs: milliseconds, outcome }
  const fields = {
    organizationId,
    endpointId,
    eventId,
    ...attempted,
    ...('status' in answer ? { status: answer.status } : answer),
  }
  if (outcome === 'lost') {
    deps.log.warn(fields, 'a delivery attempt was discarded: it took longer than its lease, or was replaced by a replay')
    return
  }
  deps.metrics.webhookAttempted(outcome)
  deps.log.info(fields, 'a webhook delivery was attempted')
  if (notice === 'warning') deps.log.warn({ organizationId, endpointId }, 'a webhook endpoint has been failing for days')
  if (notice === 'disabled') deps.log.warn({ organizationId, endpointId }, 'a webhook endpoint was disabled')
}
