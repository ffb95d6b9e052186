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
  ['saved', 'The changes are saved.'],
  ['enabled', 'The webhook is enabled: it gets events from now on.'],
  ['disabled', 'The webhook is disabled: nothing is sent to it.'],
  ['replayed', 'The missed events are on their way.'],
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
<p>Events that happened while this webhook was disabled were not sent. You can send them now. Events since then are sent once more, with the same IDs, so that the receiver can skip those it knows.</p>
<form method="post" action="${`${address}/replay`}"><button class="btn btn-primary">Send missed events</button></form>
</section>
`

function details(endpoint: WebhookEndpoint, counts: DeliveryCounts | undefined, now: Date): Html {
  const { failingSince, previousSecretUntil, replayPosition } = endpoint
  const isFailing = endpoint.state === 'active' && failingSince !== null
  const facts: [string, Value][] = [
    ['URL', endpoint.url],
    ['Status', wordState(endpoint)],
    [
      'Failing',
      isFailing && `Every attempt since then has failed. After ${DISABLED_AFTER_DAYS} days of failures the webhook is disabled.`,
    ],
    ['Recent deliveries', wordCounts(counts)],
    ['Events', endpoint.types.join(', ') || 'all'],
    ['Mode', MODE_LABELS[endpoint.mode]],
    ['Description', endpoint.description && html`<span class="preformatted">${endpoint.description}</span>`],
    ['Secret', isOverlap(previousSecretUntil, now) && html`The previous secret also signs until ${time(previousSecretUntil)}.`],
    ['Replay', replayPosition !== null && 'Missed events are being sent.'],
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
    ? 'The current secret also signs for another 24 hours. The one before it stops at once.'
    : 'The current secret also signs for another 24 hours.'
  return html`${
    state === 'active'
      ? html`<form method="post" action="${`${address}/test`}">${onceField()}<p><button class="btn btn-primary">Send a test</button></p></form>
${confirmation({ label: 'Disable', question: 'Disable the webhook?', consequence: 'No events are sent until it is enabled again. You can send the missed events then.', address: `${address}/disable` })}`
      : html`<p>Once enabled, it gets new events, and waiting deliveries are sent. You can send the missed events afterwards.</p>
<form method="post" action="${`${address}/enable`}"><p><button class="btn btn-primary">Enable</button></p></form>`
  }
${confirmation({ label: 'Rotate secret', question: 'Rotate the secret of this webhook?', consequence: rotation, address: `${address}/rotate-secret`, hidden: html`${onceField()}${isOverlapping && html`<input type="hidden" name="force" value="yes">`}`, look: 'plain' })}
${confirmation({ label: 'Delete', question: 'Delete the webhook?', consequence: 'The history of its deliveries is deleted too. This can’t be undone.', address: `${address}/delete` })}`
}
