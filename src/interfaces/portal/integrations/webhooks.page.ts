import { modeOf } from '../../../domain/access/author.ts'
import type { Context } from '../../../domain/context.ts'
import { ENDPOINTS_SEEN, type WebhookEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import { type DeliveryCounts, LAST_DELIVERIES } from '../../../domain/webhooks/deliveries.ts'
import { MAX_ENDPOINTS } from '../../../domain/webhooks/endpoints.ts'
import { DISABLED_AFTER_DAYS, type WebhookDisabledReason } from '../../../domain/webhooks/state.ts'
import { type Html, html } from '../../../html/html.ts'
import { EVENT_LABELS } from '../kit/event-words.ts'
import { area, checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'

const PATH = 'settings/webhooks'

const NOTICES = new Map([['deleted', 'The webhook is deleted: nothing is sent to it any more.']])

export const MODE_LABELS: Record<WebhookEndpoint['mode'], string> = {
  live: 'Of live invites',
  test: 'Of test invites',
  all: 'Of both',
}

type Facts = { ctx: Context; endpoints: WebhookEndpoint[]; counts: Map<string, DeliveryCounts>; done: string }

export const webhooksPage = (form: Form, { ctx, endpoints, counts, done }: Facts): Page => ({
  title: 'Webhooks',
  notice: NOTICES.get(done),
  body: html`${mistakes(form)}<section class="panel" aria-labelledby="webhooks-heading">
<h2 class="mb-4" id="webhooks-heading">Webhooks</h2>
<p>What happens to invites is sent to your own system as soon as it happens, signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> describe it. <a href="/docs">What is sent</a></p>
${endpoints.length === 0 ? empty('webhook', 'There are no webhooks yet. Make one below to have your system told what happens to invites.') : endpointTable(ctx, endpoints, counts)}
</section>
<section class="panel" aria-labelledby="new-heading">
<h2 class="mb-4" id="new-heading">Make a webhook</h2>
${
  endpoints.length < MAX_ENDPOINTS
    ? html`<form method="post" action="${pathOf(ctx, PATH)}">${onceField()}
${webhookFields(ctx, form, { url: '', types: [], mode: modeOf(ctx), description: '' })}
<button class="btn btn-primary">Make the webhook</button>
</form>`
    : html`<p>There are ${MAX_ENDPOINTS}, and there can not be more. Delete one to make another.</p>`
}
</section>`,
})

const endpointTable = (ctx: Context, endpoints: WebhookEndpoint[], counts: Map<string, DeliveryCounts>): Html =>
  table(
    'webhooks-heading',
    ['Address', 'Status', `The last ${LAST_DELIVERIES} deliveries`, 'Told of', 'Kind', 'Description'],
    endpoints.map((endpoint) => [
      html`<a href="${pathOf(ctx, `${PATH}/${endpoint.id}`)}">${endpoint.url}</a>`,
      wordState(endpoint),
      wordCounts(counts.get(endpoint.id)),
      endpoint.types.join(', ') || 'everything',
      endpoint.mode === 'all' ? 'live and test' : endpoint.mode,
      endpoint.description,
    ]),
  )

/** How many deliveries stand how. */
export const wordCounts = (counts: DeliveryCounts | undefined): string =>
  counts
    ? COUNT_LABELS.filter(([state]) => counts[state] > 0)
        .map(([state, label]) => `${counts[state]} ${label}`)
        .join(', ')
    : 'none yet'

const COUNT_LABELS = [
  ['delivered', 'delivered'],
  ['waiting', 'waiting'],
  ['retried', 'to be attempted again'],
  ['failed', 'failed'],
] as const

const REASONS: Record<WebhookDisabledReason, string> = {
  manual: 'by one of you',
  failing: `because every attempt of ${DISABLED_AFTER_DAYS} days had failed`,
  gone: 'because it answered that it is gone (410)',
}

/** How an endpoint stands, since when and why. */
export function wordState({ state, stateSince, disabledReason, failingSince }: WebhookEndpoint): Html {
  if (state === 'disabled')
    return html`${badge('disabled')} since ${time(stateSince)}${disabledReason && `, ${REASONS[disabledReason]}`}`
  return failingSince ? html`${badge('failing')} since ${time(failingSince)}` : html`${badge('active')} since ${time(stateSince)}`
}

type Fields = Pick<WebhookEndpoint, 'url' | 'types' | 'mode' | 'description'>

export const webhookFields = (ctx: Context, form: Form, { url, types, mode, description }: Fields): Html =>
  html`${field(form, { name: 'url', label: 'Address', value: url, hint: 'It begins with https://, and leads to a public address.' })}
${checkboxes(form, {
  name: 'types',
  label: 'What it is told of',
  hint: 'Nothing chosen: everything, also what there will be in future.',
  options: EVENT_LABELS,
  values: types,
})}
${choice(form, { name: 'mode', label: 'Kind', value: mode, options: ENDPOINTS_SEEN[ctx.mode].map((mode) => [mode, MODE_LABELS[mode]]) })}
${area(form, { name: 'description', label: 'Description', value: description, hint: 'What it is for, so that you know it again.' })}`

/** An endpoint's secret, which is shown this once. */
export const secretPage = (ctx: Context, { endpoint, secret }: { endpoint: WebhookEndpoint; secret: string }): Page => ({
  title: 'Secret of a webhook',
  body: html`<section class="panel">
<p>What is sent to <strong>${endpoint.url}</strong> is signed with this secret. Keep it now: it is not shown again.</p>
<code class="secret mb-3 block rounded-field border border-base-300 bg-base-200 px-4 py-3 select-all" id="secret">${secret}</code>
<p><button class="btn btn-sm" hidden data-copy="secret" type="button">Copy</button></p>
${endpoint.previousSecretUntil && html`<p>The secret before signs as well until ${time(endpoint.previousSecretUntil)}: have the receiver know this one by then.</p>`}
<p><a href="${pathOf(ctx, `${PATH}/${endpoint.id}`)}">Done, on to the webhook</a></p>
</section>`,
})
