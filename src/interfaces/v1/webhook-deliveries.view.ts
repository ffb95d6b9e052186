import { type Static, Type } from '@sinclair/typebox'
import { DELIVERY_STATES, type WebhookDelivery, type WebhookDeliveryDetail } from '../../domain/webhooks/deliveries.ts'
import { DateTime, isoTime, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: deliveries of events to webhooks.

export const DeliveryState = StringEnum(DELIVERY_STATES, {
  description: 'waiting: for its next attempt; failed: no attempts left, or the endpoint answered 410',
})

const fields = {
  id: Uuid('Id of the event, as in the header `webhook-id`'),
  type: Nullable(Type.String({ description: 'Position of the event; null if it is no longer in the feed' })),
  state: DeliveryState,
  attemptCount: Type.Integer({ description: 'Attempts so far' }),
  queuedAt: DateTime('When the delivery was created, or last replayed'),
  nextAttemptAt: Nullable(DateTime('Null unless it is waiting')),
}

const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e76',
  type: 'invite.completed',
  state: 'waiting',
  attemptCount: 1,
  queuedAt: '2026-03-02T09:30:00.000Z',
  nextAttemptAt: '2026-03-02T09:30:05.000Z',
}

/** Delivery of an event to an endpoint, in lists. */
export const DeliveryView = Type.Object(fields, { [NAME]: 'WebhookDelivery', examples: [example] })

const AttemptView = Type.Object(
  {
    number: Type.Integer({ description: 'From 1' }),
    createdAt: DateTime('When it began'),
    milliseconds: Type.Integer({ description: 'Duration of the attempt' }),
    status: Nullable(Type.Integer({ description: 'Status of the answer; null if there was none' })),
    error: Type.String({ description: 'Why there was no answer; otherwise empty' }),
    answer: Type.String({ description: 'The first 1 kB of the answer' }),
  },
  { [NAME]: 'WebhookAttempt' },
)

/** Delivery of an event to an endpoint, with its attempts. */
export const DeliveryDetailView = Type.Object(
  { ...fields, attempts: Type.Array(AttemptView, { description: 'In their order' }) },
  {
    [NAME]: 'WebhookDeliveryDetail',
    examples: [
      {
        ...example,
        attempts: [
          { number: 1, createdAt: '2026-03-02T09:30:00.000Z', milliseconds: 120, status: 503, error: '', answer: 'Try later' },
        ],
      },
    ],
  },
)
export const OneDelivery = Type.Object(
  { delivery: DeliveryDetailView },
  { [NAME]: 'OneWebhookDelivery', description: 'The delivery' },
)
export const ReplayedDelivery = Type.Object(
  { delivery: DeliveryDetailView },
  { [NAME]: 'ReplayedWebhookDelivery', description: 'The delivery as it is now' },
)

export const presentDelivery = (delivery: WebhookDelivery): Static<typeof DeliveryView> => ({
  id: delivery.eventId,
  type: delivery.type,
  state: delivery.state,
  attemptCount: delivery.attemptCount,
  queuedAt: isoTime(delivery.queuedAt),
  nextAttemptAt: delivery.state === 'waiting' ? isoTime(delivery.nextAttemptAt) : null,
})

export const presentDeliveryDetail = (delivery: WebhookDeliveryDetail): Static<typeof DeliveryDetailView> => ({
  ...presentDelivery(delivery),
  attempts: delivery.attempts.map(({ number, createdAt, milliseconds, status, error, answer }) => ({
    ...{ number, createdAt: isoTime(createdAt), milliseconds, status, error, answer },
  })),
})
