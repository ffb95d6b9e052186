import type { Context } from '../../../domain/context.ts'
import { DEFAULT_DECISION_NAMES, type DecisionNames, NAMED_DECISIONS } from '../../../domain/invites/decisions/decision-names.ts'
import { html } from '../../../html/html.ts'
import { type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'

export const DECISION_SETTINGS = 'settings/decisions'

type Facts = { ctx: Context; names: DecisionNames; done: string }

export const decisionNamesPage = (form: Form, { ctx, names, done }: Facts): Page => ({
  title: 'Decisions',
  subtitle: 'Your own words for what you decide about candidates. Candidates never see them.',
  trail: [['Settings', pathOf(ctx, 'settings')]],
  notice: done === 'saved' ? 'The names are saved.' : undefined,
  body: html`${mistakes(form)}${panel(
    'names',
    'Names',
    html`<form method="post" action="${pathOf(ctx, DECISION_SETTINGS)}">
${NAMED_DECISIONS.map((decision) => field(form, { name: decision, label: DEFAULT_DECISION_NAMES[decision], value: names[decision], optional: true }))}
<p class="hint mb-3">An empty field restores the name above it. The feed and webhooks keep the fixed words shortlist, hold, reject, and advance.</p>
<button class="btn btn-primary">Save names</button>
</form>`,
  )}`,
})
