import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { hostOf, type WebhookEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import type { DeliveryCounts, WebhookDelivery } from '../../../domain/webhooks/deliveries.ts'
import { DISABLED_AFTER_DAYS } from '../../../domain/webhooks/endpoint-state.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time } from '../kit/formatting.ts'
import { type Form, mistakes, seenField } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty, factList, linkButton, moreMenu } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { deliveryTable } from './webhook-deliveries.page.ts'
import { endpointStatus, formatDeliveryCounts, MODE_LABELS, webhookFields } from './webhooks.page.ts'

const NOTICES = new Map([
  ['saved', 'The changes are saved.'],
  ['enabled', 'The webhook is enabled: it gets events from now on.'],
  ['disabled', 'The webhook is disabled: nothing is sent to it.'],
  ['replayed', 'The missed events are on their way.'],
])

type Facts = {
  ctx: Context
  endpoint: WebhookEndpoint
  counts: DeliveryCounts | undefined
  deliveries: ListPage<WebhookDelivery>
  done: string
}

export function webhookPage(form: Form, { ctx, endpoint, counts, deliveries, done }: Facts): Page {
  const address = pathOf(ctx, `settings/webhooks/${endpoint.id}`)
  const now = ctx.deps.clock()
  return {
    title: `Webhook to ${hostOf(endpoint.url)}`,
    heading: hostOf(endpoint.url),
    state: badge(endpoint.state === 'active' && endpoint.failingSince ? 'failing' : endpoint.state),
    subtitle: endpoint.url,
    trail: [['Webhooks', pathOf(ctx, 'settings/webhooks')]],
    actions: html`${moreMenu(rareActions(endpoint, address, now))}${mainAction(endpoint, address)}`,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${
      endpoint.state === 'disabled' &&
      html`<p class="alert alert-soft alert-warning">${icon('circle-pause', 'size-5')}<span>Once enabled, it gets new events, and waiting deliveries are sent. You can send the missed events afterwards.</span></p>
`
    }${hasMissed(endpoint) && missed(address)}<div class="grid items-start gap-6 lg:grid-cols-3">
<div class="space-y-6 lg:col-span-2">${panel(
      'deliveries',
      'Latest deliveries',
      deliveries.items.length > 0
        ? deliveryTable(`${address}/deliveries`, deliveries.items)
        : empty('inbox', 'Nothing was sent yet. Send a test to see whether your system accepts it.'),
      deliveries.total > 0 && linkButton(`${address}/deliveries`, 'All deliveries', undefined, 'small'),
    )}${panel(
      'change',
      'Settings',
      html`<form method="post" action="${address}">
${seenField(form, endpoint)}
${webhookFields(ctx, form, endpoint)}
<button class="btn btn-primary">Save</button>
</form>`,
    )}</div>
${panel('about', 'Details', details(endpoint, counts, now))}
</div>`,
  }
}

/** True if events that happened while it was disabled were not sent after it was enabled again. */
const hasMissed = ({ state, missedFrom, position }: WebhookEndpoint): boolean =>
  state === 'active' && missedFrom !== null && missedFrom < position

const missed = (address: string): Html =>
  panel(
    'missed',
    'Missed events',
    html`<p class="mb-4">Events that happened while this webhook was disabled were not sent. You can send them now. Events since then are sent once more, with the same IDs, so that the receiver can skip those it knows.</p>
<form method="post" action="${`${address}/replay`}"><button class="btn">Send missed events</button></form>`,
  )

function details(endpoint: WebhookEndpoint, counts: DeliveryCounts | undefined, now: Date): Html {
  const { failingSince, previousSecretUntil, replayPosition } = endpoint
  const isFailing = endpoint.state === 'active' && failingSince !== null
  const facts: [string, Value][] = [
    ['Status', endpointStatus(endpoint)],
    [
      'Failing',
      isFailing && `Every attempt since then has failed. After ${DISABLED_AFTER_DAYS} days of failures the webhook is disabled.`,
    ],
    ['Recent deliveries', formatDeliveryCounts(counts)],
    ['Events', endpoint.types.join(', ') || 'all'],
    ['Mode', MODE_LABELS[endpoint.mode]],
    ['Description', endpoint.description && html`<span class="preformatted">${endpoint.description}</span>`],
    ['Secret', isOverlap(previousSecretUntil, now) && html`The previous secret also signs until ${time(previousSecretUntil)}.`],
    ['Replay', replayPosition !== null && 'Missed events are being sent.'],
    ['Created', time(endpoint.createdAt)],
    ['Changed', time(endpoint.updatedAt)],
  ]
  return factList(facts, 'aside')
}

const isOverlap = (until: Date | null, now: Date): until is Date => until !== null && until > now

const mainAction = ({ state }: WebhookEndpoint, address: string): Html =>
  state === 'active'
    ? html`<form method="post" action="${`${address}/test`}">${onceField()}<button class="btn btn-primary">${icon('send')}Send a test</button></form>`
    : html`<form method="post" action="${`${address}/enable`}"><button class="btn btn-primary">Enable</button></form>`

function rareActions({ state, previousSecretUntil }: WebhookEndpoint, address: string, now: Date): Html {
  // The page has warned that the previous secret stops working.
  const isOverlapping = isOverlap(previousSecretUntil, now)
  const rotation = isOverlapping
    ? 'The current secret also signs for another 24 hours. The one before it stops at once.'
    : 'The current secret also signs for another 24 hours.'
  return html`${confirmButton({ label: 'Rotate secret', question: 'Rotate the secret of this webhook?', consequence: rotation, address: `${address}/rotate-secret`, hidden: html`${onceField()}${isOverlapping && html`<input type="hidden" name="force" value="yes">`}`, look: 'menu' })}
${state === 'active' && confirmButton({ label: 'Disable', question: 'Disable the webhook?', consequence: 'No events are sent until it is enabled again. You can send the missed events then.', address: `${address}/disable`, look: 'menu' })}
${confirmButton({ label: 'Delete', question: 'Delete the webhook?', consequence: 'The history of its deliveries is deleted too. This can’t be undone.', address: `${address}/delete`, look: 'menu' })}`
}
