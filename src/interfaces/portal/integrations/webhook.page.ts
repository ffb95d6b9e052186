import type { Context } from '../../../domain/context.ts'
import type { WebhookEndpoint } from '../../../domain/webhooks/change-endpoint.ts'
import type { DeliveryCounts } from '../../../domain/webhooks/deliveries.ts'
import { DISABLED_AFTER_DAYS } from '../../../domain/webhooks/state.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { confirmation } from '../kit/confirm.ts'
import { type Form, mistakes, seenField } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { time } from '../kit/wording.ts'
import { MODE_LABELS, webhookFields, wordCounts, wordState } from './webhooks.page.ts'

const NOTICES = new Map([
  ['saved', 'The webhook is changed.'],
  ['enabled', 'The webhook is enabled: it is told of what happens from now on.'],
  ['disabled', 'The webhook is disabled: nothing is sent to it.'],
  ['replayed', 'What it has missed is on its way.'],
])

type Facts = { ctx: Context; endpoint: WebhookEndpoint; counts: DeliveryCounts | undefined; done: string }

export function webhookPage(form: Form, { ctx, endpoint, counts, done }: Facts): Page {
  const address = pathOf(ctx, `settings/webhooks/${endpoint.id}`)
  return {
    title: 'Webhook',
    trail: [['Webhooks', pathOf(ctx, 'settings/webhooks')]],
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${hasMissed(endpoint) && missed(address)}<section class="panel" aria-labelledby="about-heading">
<h2 class="mb-4" id="about-heading">Details</h2>
${details(endpoint, counts, ctx.deps.clock())}
<p><a href="${`${address}/deliveries`}">Deliveries</a></p>
</section>
<section class="panel" aria-labelledby="actions-heading">
<h2 class="mb-4" id="actions-heading">Actions</h2>
${actions(endpoint, address, ctx.deps.clock())}
</section>
<section class="panel" aria-labelledby="change-heading">
<h2 class="mb-4" id="change-heading">Settings</h2>
<form method="post" action="${address}">
${seenField(form, endpoint)}
${webhookFields(ctx, form, endpoint)}
<button class="btn btn-primary">Save</button>
</form>
</section>`,
  }
}

/** Whether something happened between when it was disabled and when it was enabled again, and was not sent to it since. */
const hasMissed = ({ state, missedFrom, position }: WebhookEndpoint): boolean =>
  state === 'active' && missedFrom !== null && missedFrom < position

const missed = (address: string): Html => html`<section class="panel" aria-labelledby="missed-heading">
<h2 class="mb-4" id="missed-heading">Missed events</h2>
<p>It was not told of what happened while it was disabled. That can be sent now, and all that happened since then once more: each event with the id that it had, so that the receiver knows it again.</p>
<form method="post" action="${`${address}/replay`}"><button class="btn btn-primary">Send what it has missed</button></form>
</section>
`

function details(endpoint: WebhookEndpoint, counts: DeliveryCounts | undefined, now: Date): Html {
  const { failingSince, previousSecretUntil, replayPosition } = endpoint
  const isFailing = endpoint.state === 'active' && failingSince !== null
  const facts: [string, Value][] = [
    ['Address', endpoint.url],
    ['State', wordState(endpoint)],
    ['Failing', isFailing && `Every attempt since then has failed. After ${DISABLED_AFTER_DAYS} days of that it is disabled.`],
    ['Last deliveries', wordCounts(counts)],
    ['Told of', endpoint.types.join(', ') || 'everything'],
    ['Kind', MODE_LABELS[endpoint.mode]],
    ['Description', endpoint.description && html`<span class="preformatted">${endpoint.description}</span>`],
    ['Secret', isOverlap(previousSecretUntil, now) && html`The one before signs as well until ${time(previousSecretUntil)}.`],
    ['Sent again', replayPosition !== null && 'What it has missed is being sent.'],
    ['Created', time(endpoint.createdAt)],
    ['Changed', time(endpoint.updatedAt)],
  ]
  return html`<dl class="details">${facts.map(([term, value]) => value !== false && value !== '' && html`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`
}

const isOverlap = (until: Date | null, now: Date): until is Date => until !== null && until > now

function actions({ state, previousSecretUntil }: WebhookEndpoint, address: string, now: Date): Html {
  // Whoever is shown the page has been told that the one before stops.
  const isOverlapping = isOverlap(previousSecretUntil, now)
  const rotation = isOverlapping
    ? 'The present one signs as well for 24 hours more; the one before it stops at once.'
    : 'The present one signs as well for 24 hours more.'
  return html`${
    state === 'active'
      ? html`<form method="post" action="${`${address}/test`}">${onceField()}<p><button class="btn btn-primary">Send a test</button></p></form>
${confirmation({ label: 'Disable', question: 'Disable the webhook?', consequence: 'Nothing is sent to it until it is enabled again. What it misses can be sent then.', address: `${address}/disable` })}`
      : html`<p>When it is enabled, it is told of what happens from then on, and what still waits is sent. What it has missed can be sent afterwards.</p>
<form method="post" action="${`${address}/enable`}"><p><button class="btn btn-primary">Enable</button></p></form>`
  }
${confirmation({ label: 'Give it a new secret', question: 'Give the webhook a new secret?', consequence: rotation, address: `${address}/rotate-secret`, hidden: html`${onceField()}${isOverlapping && html`<input type="hidden" name="force" value="yes">`}`, look: 'plain' })}
${confirmation({ label: 'Delete', question: 'Delete the webhook?', consequence: 'All that is known of its deliveries is deleted with it. That can not be undone.', address: `${address}/delete` })}`
}
