import { type Command, Option } from 'commander'
import { type Context, enterOrganization, type ServiceContext } from '../domain/context.ts'
import { DomainError, type ErrorKind } from '../domain/errors.ts'
import { findOrganization } from '../domain/organization/organizations.ts'
import type { WebhookEndpoint } from '../domain/webhooks/change-endpoint.ts'
import {
  DELIVERY_STATES,
  listDeliveries,
  replayDelivery,
  replayFrom,
  type WebhookDelivery,
} from '../domain/webhooks/deliveries.ts'
import { listEndpoints, MAX_ENDPOINTS } from '../domain/webhooks/endpoints.ts'
import { EXIT_WRONG_USAGE } from './exit-codes.ts'
import { type OutputOptions, table } from './output.ts'
import { addCommand, parseCount, parseCursor, runCommand } from './session.ts'

type ListOptions = OutputOptions & { state?: (typeof DELIVERY_STATES)[number]; limit: number }
type ReplayOptions = OutputOptions & { from?: bigint }

const MAX_LISTED = 10_000

/** `webhook list | deliveries | replay`. */
export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('manage webhooks')

  addCommand(webhook, 'list', "list an organization's webhooks")
    .argument('<organization>', 'id or name')
    .action((organization: string, options: OutputOptions) =>
      runCommand(options, async ({ operator }) => {
        const order = { field: 'createdAt', direction: 'asc' } as const
        const { items } = await listEndpoints(await enter(operator, organization), order, { number: 1, size: MAX_ENDPOINTS })
        return { text: toTable(items), json: items.map(toJson) }
      }),
    )

  addCommand(webhook, 'deliveries', "list a webhook's newest deliveries")
    .argument('<organization>', 'id or name')
    .argument('<webhookId>', 'see: webhook list')
    .addOption(new Option('--state <state>').choices(DELIVERY_STATES))
    .addOption(new Option('--limit <count>').argParser(parseCount(MAX_LISTED)).default(50))
    .action((organization: string, webhookId: string, { state, limit, ...options }: ListOptions) =>
      runCommand(options, async ({ operator }) => {
        const ctx = await enter(operator, organization)
        const order = { field: 'queuedAt', direction: 'desc' } as const
        const { items } = await listDeliveries(ctx, webhookId, state ? { state } : {}, order, { number: 1, size: limit }).catch(
          explain,
        )
        return { text: toDeliveryTable(items), json: items.map(toDeliveryJson) }
      }),
    )

  const replay = addCommand(webhook, 'replay', 'send an event again, or all events after a cursor')
    .argument('<organization>', 'id or name')
    .argument('<webhookId>', 'see: webhook list')
    .argument('[deliveryId]', 'id of a delivery')
    .addOption(new Option('--from <cursor>', 'all events behind it').argParser(parseCursor))
  replay.action(
    (organization: string, webhookId: string, deliveryId: string | undefined, { from, ...options }: ReplayOptions) => {
      if ((deliveryId === undefined) === (from === undefined))
        replay.error('error: name one delivery, or give --from', { exitCode: EXIT_WRONG_USAGE })
      return runCommand(options, async ({ operator }) => {
        const ctx = await enter(operator, organization)
        if (deliveryId !== undefined) {
          const delivery = await replayDelivery(ctx, webhookId, deliveryId).catch(explain)
          return { text: toDeliveryTable([delivery]), json: toDeliveryJson(delivery) }
        }
        const endpoint = await replayFrom(ctx, webhookId, from!).catch(explain)
        return { text: toTable([endpoint]), json: toJson(endpoint) }
      })
    },
  )
}

const refusals: Partial<Record<ErrorKind, string>> = {
  webhook_not_found: 'The organization has no such webhook.',
  delivery_not_found: 'The webhook has no such delivery.',
  webhook_disabled: 'The webhook is disabled.',
  cursor_gone: 'The events behind this cursor are no longer kept.',
}

/** Explains an error of the domain to a person. */
function explain(error: unknown): never {
  const words = error instanceof DomainError ? refusals[error.kind] : undefined
  throw words === undefined ? error : new Error(words, { cause: error })
}

const enter = async (operator: ServiceContext, idOrName: string): Promise<Context> =>
  enterOrganization(operator, await findOrganization(operator, idOrName))

const toTable = (endpoints: WebhookEndpoint[]): string =>
  table(
    ['ID', 'STATE', 'SINCE', 'MODE', 'FAILING SINCE', 'MISSED FROM', 'URL'],
    endpoints.map(({ id, state, disabledReason, stateSince, mode, failingSince, missedFrom, url }) => [
      id,
      disabledReason ? `${state} (${disabledReason})` : state,
      stateSince.toISOString(),
      mode,
      failingSince?.toISOString() ?? '',
      missedFrom === null ? '' : String(missedFrom),
      url,
    ]),
  )

const toJson = ({ id, url, types, mode, description, state, stateSince, disabledReason, ...rest }: WebhookEndpoint) => ({
  id,
  url,
  types,
  mode,
  description,
  state,
  stateSince,
  disabledReason,
  failingSince: rest.failingSince,
  missedFrom: rest.missedFrom === null ? null : String(rest.missedFrom),
  replayedUpTo: rest.replayPosition === null ? null : String(rest.replayPosition),
  createdAt: rest.createdAt,
})

const toDeliveryTable = (deliveries: WebhookDelivery[]): string =>
  table(
    ['ID', 'TYPE', 'STATE', 'ATTEMPTS', 'QUEUED', 'NEXT ATTEMPT'],
    deliveries.map(({ eventId, type, state, attemptCount, queuedAt, nextAttemptAt }) => [
      eventId,
      type ?? '',
      state,
      attemptCount,
      new Date(queuedAt).toISOString(),
      state === 'waiting' ? new Date(nextAttemptAt).toISOString() : '',
    ]),
  )

const toDeliveryJson = ({ eventId, type, state, attemptCount, queuedAt, nextAttemptAt }: WebhookDelivery) => ({
  id: eventId,
  type,
  state,
  attemptCount,
  queuedAt: new Date(queuedAt),
  nextAttemptAt: state === 'waiting' ? new Date(nextAttemptAt) : null,
})
