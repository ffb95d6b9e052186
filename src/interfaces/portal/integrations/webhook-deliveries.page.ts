import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import { hostOf, type WebhookEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import { DELIVERIES_KEPT_DAYS } from '../../../domain/webhooks/delete-expired-deliveries.ts'
import { DELIVERY_STATES, type WebhookDelivery, type WebhookDeliveryDetail } from '../../../domain/webhooks/deliveries.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { labelEvent } from '../kit/event-labels.ts'
import { time } from '../kit/formatting.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { filterLine, isNarrowed, noRows, sizedPager } from '../kit/paging.ts'
import { factList } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

const addressOf = (ctx: Context, { id }: WebhookEndpoint) => pathOf(ctx, `settings/webhooks/${id}`)

type ListFacts = { ctx: Context; endpoint: WebhookEndpoint; list: ListPage<WebhookDelivery> }

export function deliveriesPage(form: Form, { ctx, endpoint, list }: ListFacts): Page {
  const address = `${addressOf(ctx, endpoint)}/deliveries`
  return {
    title: 'Deliveries',
    subtitle: `Sent to ${endpoint.url}. Deliveries are kept for up to ${DELIVERIES_KEPT_DAYS} days.`,
    trail: [
      ['Webhooks', pathOf(ctx, 'settings/webhooks')],
      [hostOf(endpoint.url), addressOf(ctx, endpoint)],
    ],
    body: html`<section class="panel" aria-labelledby="deliveries-heading">
<h2 class="sr-only" id="deliveries-heading">Deliveries</h2>
${filterLine(
  address,
  form.values,
  choice(form, {
    name: 'state',
    label: 'Status',
    options: [['', 'Every status'], ...DELIVERY_STATES.map((state): [string, string] => [state, STATES[state]])],
  }),
)}
${list.items.length === 0 ? noRows(isNarrowed(form.values) ? 'No deliveries match.' : 'Nothing was sent yet.', address, form.values) : deliveryTable(address, list.items)}
${sizedPager(address, form.values, list, ['delivery', 'deliveries'])}
</section>`,
  }
}

const STATES: Record<WebhookDelivery['state'], string> = {
  waiting: 'waiting for the next attempt',
  delivered: 'delivered',
  failed: 'failed',
}

/** A waiting delivery with a failed attempt is labeled differently from one without attempts. */
const deliveryStatus = ({ state, attemptCount, attemptsBeforeReplay }: WebhookDelivery): Html =>
  badge(state === 'waiting' && attemptCount > attemptsBeforeReplay ? 'to be retried' : state)

export const deliveryTable = (address: string, deliveries: WebhookDelivery[]): Html =>
  table(
    'deliveries-heading',
    ['Event', 'Status', 'Since', 'Attempts', 'Next attempt'],
    deliveries.map((delivery) => [
      html`<a href="${`${address}/${delivery.eventId}`}">${labelEvent(delivery.type)}</a>`,
      deliveryStatus(delivery),
      time(delivery.queuedAt),
      delivery.attemptCount,
      delivery.state === 'waiting' && time(delivery.nextAttemptAt),
    ]),
  )

type Facts = { ctx: Context; endpoint: WebhookEndpoint; delivery: WebhookDeliveryDetail }

export function deliveryPage(form: Form, { ctx, endpoint, delivery }: Facts): Page {
  const address = addressOf(ctx, endpoint)
  const { eventId, type, state, queuedAt, nextAttemptAt, attempts } = delivery
  return {
    title: labelEvent(type),
    trail: [
      ['Webhooks', pathOf(ctx, 'settings/webhooks')],
      [hostOf(endpoint.url), address],
      ['Deliveries', `${address}/deliveries`],
    ],
    state: deliveryStatus(delivery),
    actions:
      endpoint.state === 'active' &&
      html`<form method="post" action="${`${address}/deliveries/${eventId}/replay`}">${onceField()}<button class="btn">Send again</button></form>`,
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="about-heading">
<h2 class="mb-4" id="about-heading">Details</h2>
${factList([
  ['To', endpoint.url],
  ['Status', deliveryStatus(delivery)],
  ['Type', type],
  ['ID', html`<code>${eventId}</code>`],
  ['Since', time(queuedAt)],
  ['Next attempt', state === 'waiting' && nextOf(endpoint, nextAttemptAt)],
])}
</section>
<section class="panel" aria-labelledby="attempts-heading">
<h2 class="mb-4" id="attempts-heading">Attempts</h2>
${attempts.length === 0 ? html`<p>No attempts yet.</p>` : attempts.map(attemptItem)}
</section>`,
  }
}

const nextOf = ({ state }: WebhookEndpoint, dueAt: Date): Value =>
  state === 'active' ? time(dueAt) : 'when the webhook is enabled'

const attemptItem = ({
  number,
  createdAt,
  milliseconds,
  status,
  error,
  answer,
}: WebhookDeliveryDetail['attempts'][number]): Html =>
  html`<h3>Attempt ${number}</h3>
${factList([
  ['When', time(createdAt)],
  ['Duration', `${milliseconds.toLocaleString('en')} ms`],
  ['HTTP status', status],
  ['Error', error],
  ['Response', answer && html`<span class="preformatted">${answer}</span>`],
])}`
