import { modeOf } from '../../../domain/authorization/author.ts'
import type { Context } from '../../../domain/context.ts'
import { endpointModes, type WebhookEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import { type DeliveryCounts, LAST_DELIVERIES } from '../../../domain/webhooks/deliveries.ts'
import { DISABLED_AFTER_DAYS, type WebhookDisabledReason } from '../../../domain/webhooks/endpoint-state.ts'
import { MAX_ENDPOINTS } from '../../../domain/webhooks/endpoints.ts'
import { type Html, html } from '../../../html/html.ts'
import { EVENT_OPTIONS } from '../kit/event-labels.ts'
import { time } from '../kit/formatting.ts'
import { area, checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { copyBox, empty, linkButton } from '../kit/parts.ts'
import { popup, popupButton } from '../kit/popup.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'

const PATH = 'settings/webhooks'

const NOTICES = new Map([['deleted', 'The webhook is deleted.']])

export const MODE_LABELS: Record<WebhookEndpoint['mode'], string> = {
  live: 'Live invites',
  test: 'Test invites',
  all: 'Live and test invites',
}

type Facts = { ctx: Context; endpoints: WebhookEndpoint[]; counts: Map<string, DeliveryCounts>; done: string }

export function webhooksPage(form: Form, { ctx, endpoints, counts, done }: Facts): Page {
  const isFull = endpoints.length >= MAX_ENDPOINTS
  const adding = { id: 'new', label: 'New webhook', icon: 'plus' } as const
  return {
    title: 'Webhooks',
    subtitle: 'A webhook tells your own system about each event as soon as it happens.',
    actions: html`${linkButton('/docs/guides/webhooks', 'Documentation', 'book-open')}${!isFull && form.issues.length === 0 && popupButton(adding, 'btn btn-primary')}`,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${form.issues.length > 0 && !isFull && newWebhook(ctx, form)}<section class="panel" aria-labelledby="webhooks-heading">
<h2 class="sr-only" id="webhooks-heading">Webhooks</h2>
${
  endpoints.length === 0
    ? empty(
        'webhook',
        'There are no webhooks yet. Create one with the URL of your system, and send it a test.',
        form.issues.length === 0 && popupButton({ ...adding, label: 'Create the first webhook' }, 'btn btn-sm'),
      )
    : endpointTable(ctx, endpoints, counts)
}
${isFull && html`<p class="mt-4">You have ${MAX_ENDPOINTS} webhooks, which is the limit. Delete one to create another.</p>`}
</section>
<div>${!isFull && form.issues.length === 0 && newWebhook(ctx, form)}</div>`,
  }
}

const newWebhook = (ctx: Context, form: Form): Html =>
  popup(
    'new',
    'Create a webhook',
    html`<form method="post" action="${pathOf(ctx, PATH)}">${onceField()}
${webhookFields(ctx, form, { url: '', types: [], mode: modeOf(ctx), description: '' })}
<button class="btn btn-primary">Create webhook</button>
</form>`,
    form.issues.length > 0,
  )

const endpointTable = (ctx: Context, endpoints: WebhookEndpoint[], counts: Map<string, DeliveryCounts>): Html =>
  table(
    'webhooks-heading',
    ['URL', 'Status', `Last ${LAST_DELIVERIES} deliveries`, 'Events', 'Mode', 'Description'],
    endpoints.map((endpoint) => [
      html`<a href="${pathOf(ctx, `${PATH}/${endpoint.id}`)}">${endpoint.url}</a>`,
      endpointStatus(endpoint),
      formatDeliveryCounts(counts.get(endpoint.id)),
      endpoint.types.join(', ') || 'all',
      endpoint.mode === 'all' ? 'live and test' : endpoint.mode,
      endpoint.description,
    ]),
  )

export const formatDeliveryCounts = (counts: DeliveryCounts | undefined): string =>
  counts
    ? COUNT_LABELS.filter(([state]) => counts[state] > 0)
        .map(([state, label]) => `${counts[state]} ${label}`)
        .join(', ')
    : 'none yet'

const COUNT_LABELS = [
  ['delivered', 'delivered'],
  ['waiting', 'waiting'],
  ['retried', 'to be retried'],
  ['failed', 'failed'],
] as const

const REASONS: Record<WebhookDisabledReason, string> = {
  manual: 'by a member',
  failing: `because every attempt failed for ${DISABLED_AFTER_DAYS} days`,
  gone: 'because it answered 410 (Gone)',
}

/** Status, its time, and its reason. */
export function endpointStatus({ state, stateSince, disabledReason, failingSince }: WebhookEndpoint): Html {
  if (state === 'disabled')
    return html`<span>${badge('disabled')} since ${time(stateSince)}${disabledReason && `, ${REASONS[disabledReason]}`}</span>`
  return html`<span>${badge(failingSince ? 'failing' : 'active')} since ${time(failingSince ?? stateSince)}</span>`
}

type Fields = Pick<WebhookEndpoint, 'url' | 'types' | 'mode' | 'description'>

export const webhookFields = (ctx: Context, form: Form, { url, types, mode, description }: Fields): Html =>
  html`${field(form, { name: 'url', label: 'URL', value: url, hint: 'Begins with https:// and is reachable from the internet.' })}
${checkboxes(form, {
  name: 'types',
  label: 'Events',
  hint: 'Choose none to get all events, including types added later.',
  options: EVENT_OPTIONS,
  values: types,
})}
${choice(form, { name: 'mode', label: 'Mode', value: mode, options: endpointModes(ctx.mode).map((mode) => [mode, MODE_LABELS[mode]]) })}
${area(form, { name: 'description', label: 'Description', value: description, hint: 'What it is for, so that you recognize it.' })}`

/** The endpoint's secret, shown only once. */
export const secretPage = (ctx: Context, { endpoint, secret }: { endpoint: WebhookEndpoint; secret: string }): Page => ({
  title: 'Webhook secret',
  trail: [['Webhooks', pathOf(ctx, PATH)]],
  body: html`<section class="panel">
<p>Events sent to <strong>${endpoint.url}</strong> are signed with this secret, as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> specify it. Copy it now: it is not shown again.</p>
<div class="mt-4">${copyBox('secret', secret)}</div>
${endpoint.previousSecretUntil && html`<p class="mb-4">The previous secret also signs until ${time(endpoint.previousSecretUntil)}: give this one to the receiver by then.</p>`}
${linkButton(pathOf(ctx, `${PATH}/${endpoint.id}`), 'Go to the webhook', undefined, 'main')}
</section>`,
})
