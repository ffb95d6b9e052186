import { type Static, Type } from '@sinclair/typebox'
import { EVENT_TYPES, TEST_EVENT, TESTED_TYPES } from '../../domain/events/event.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/change-endpoint.ts'
import { DISABLED_REASONS } from '../../domain/webhooks/endpoint-state.ts'
import {
  MAX_DESCRIPTION_LENGTH,
  type NewWebhookEndpoint,
  WEBHOOK_MODES,
  WEBHOOK_STATES,
  type WebhookEndpointChange,
} from '../../domain/webhooks/endpoints.ts'
import { MAX_URL_LENGTH } from '../../domain/webhooks/targets.ts'
import { DateTime, isoTime, isoTimeOrNull, Nullable, StringEnum, Text, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: webhook endpoints.

const Cursor = (description: string) => Nullable(Type.String({ description }))

const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e80',
  url: 'https://hr.example.com/hooks/assessments',
  types: ['invite.completed', 'email.failed'],
  mode: 'live',
  description: 'Candidates on their way into the HR system',
  state: 'active',
  stateSince: '2026-03-02T09:30:00.000Z',
  disabledReason: null,
  failingSince: null,
  missedFrom: null,
  replayedUpTo: null,
  previousSecretUntil: null,
  createdAt: '2026-03-02T09:30:00.000Z',
  updatedAt: '2026-03-02T09:30:00.000Z',
}

/** An endpoint without its secret. */
export const WebhookView = Type.Object(
  {
    id: Uuid(),
    url: Type.String(),
    types: Type.Array(Type.String(), { description: 'Types of the events that it receives; empty: all' }),
    mode: StringEnum(WEBHOOK_MODES, { description: 'Whether it receives live events, test events, or both' }),
    description: Type.String(),
    state: StringEnum(WEBHOOK_STATES),
    stateSince: DateTime(),
    disabledReason: Nullable(
      StringEnum(DISABLED_REASONS, {
        description: 'manual: by a request; failing: only failures for 5 days; gone: it answered 410; null while it is active',
      }),
    ),
    failingSince: Nullable(DateTime('When the first attempt since the last success failed; null when the last one succeeded')),
    missedFrom: Cursor(
      'Cursor of the first missed event when it was last disabled, for `replay`; null if it never was disabled, or all were sent since',
    ),
    replayedUpTo: Cursor('Progress of a running replay; null if there is none'),
    previousSecretUntil: Nullable(DateTime('Until then messages are also signed with the previous secret')),
    createdAt: DateTime(),
    updatedAt: DateTime(),
  },
  { [NAME]: 'Webhook', examples: [example] },
)

export const OneWebhook = Type.Object({ webhook: WebhookView }, { [NAME]: 'OneWebhook', description: 'The webhook' })
export const ReplayedWebhook = Type.Object(
  { webhook: WebhookView },
  { [NAME]: 'ReplayedWebhook', description: 'The webhook as it is now' },
)
export const WebhookWithSecret = Type.Object(
  { webhook: WebhookView, secret: Type.String({ description: 'Signs the messages. Shown this once only: store it' }) },
  { [NAME]: 'WebhookWithSecret', description: 'The webhook, and its secret' },
)

/** Headers of each message (Standard Webhooks). */
export const WebhookHeaders = Type.Object({
  'webhook-id': Type.String({ description: 'Id of the event: the same for every attempt' }),
  'webhook-timestamp': Type.String({ description: 'Time of this attempt, in seconds since 1970' }),
  'webhook-signature': Type.String({
    description:
      '`v1,` and the HMAC-SHA256, in Base64, of id, timestamp, and body, joined by dots. For a day after a rotation two of them, separated by a space',
  }),
  'webhook-test': Type.Optional(
    Type.String({ description: '`true` for messages of `POST /webhooks/{webhookId}/test`; otherwise absent' }),
  ),
})

const types = Type.Array(StringEnum(EVENT_TYPES), {
  maxItems: EVENT_TYPES.length,
  description: 'Types of the events to receive; empty, or omitted for a new webhook: all',
})

const fields = {
  url: Text({
    maxLength: MAX_URL_LENGTH,
    description: 'https, on port 80, 443, or above 1023, at a public address',
  }),
  types: Type.Optional(types),
  type: Type.Optional({ ...types, description: 'The same as types' }),
  mode: Type.Optional(
    StringEnum(WEBHOOK_MODES, {
      description:
        'Whether to receive live events, test events, or both. Default for a new webhook: the key’s mode. Test keys see and create only webhooks of the mode test, live keys only the others',
    }),
  ),
  description: Type.Optional(Text({ maxLength: MAX_DESCRIPTION_LENGTH, description: 'Default: empty' })),
}

const { url, mode, description } = example

export const NewWebhookBody = Type.Object(fields, {
  [NAME]: 'NewWebhook',
  examples: [{ url, types: example.types, mode, description }],
})

export const WebhookChangeBody = Type.Partial(
  Type.Object({
    ...fields,
    state: StringEnum(WEBHOOK_STATES, {
      description: 'An enabled webhook receives events from then on; `replay` sends the missed ones',
    }),
  }),
  { [NAME]: 'WebhookChange', minProperties: 1, examples: [{ state: 'active' }] },
)

export const RotationBody = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether to rotate within 24 hours after the last rotation: then the oldest secret stops working at once',
      }),
    ),
  },
  { [NAME]: 'SecretRotation', examples: [{ force: true }] },
)

export const TestBody = Type.Object(
  {
    type: Type.Optional(
      StringEnum(TESTED_TYPES, {
        default: TEST_EVENT,
        description: 'Type of the message. All but webhook.test have made-up data about an invite that does not exist',
      }),
    ),
  },
  { [NAME]: 'WebhookTest', examples: [{ type: 'invite.completed' }] },
)

export const ReplayBody = Type.Object(
  {
    fromCursor: Type.String({
      pattern: '^[0-9]{1,18}$',
      description: 'Sends all events after this cursor again: a cursor of the feed, of a list, or `missedFrom`',
    }),
  },
  { [NAME]: 'Replay', examples: [{ fromCursor: '0' }] },
)

export const toNewWebhook = ({ url, ...optional }: Static<typeof NewWebhookBody>): NewWebhookEndpoint => ({
  url,
  ...toWebhookChange(optional),
})

export const toWebhookChange = ({
  url,
  type,
  types = type,
  mode,
  description,
  state,
}: Static<typeof WebhookChangeBody>): WebhookEndpointChange => ({
  ...(url !== undefined && { url }),
  ...(types !== undefined && { types: [...new Set([...(type ?? []), ...types])] }),
  ...(mode !== undefined && { mode }),
  ...(description !== undefined && { description }),
  ...(state !== undefined && { state }),
})

export const presentWebhook = (endpoint: WebhookEndpoint): Static<typeof WebhookView> => ({
  id: endpoint.id,
  url: endpoint.url,
  types: endpoint.types,
  mode: endpoint.mode,
  description: endpoint.description,
  state: endpoint.state,
  stateSince: isoTime(endpoint.stateSince),
  disabledReason: endpoint.disabledReason,
  failingSince: isoTimeOrNull(endpoint.failingSince),
  missedFrom: endpoint.missedFrom === null ? null : String(endpoint.missedFrom),
  replayedUpTo: endpoint.replayPosition === null ? null : String(endpoint.replayPosition),
  previousSecretUntil: isoTimeOrNull(endpoint.previousSecretUntil),
  createdAt: isoTime(endpoint.createdAt),
  updatedAt: isoTime(endpoint.updatedAt),
})
