import { DECISIONS, type Decision } from '../../../domain/events/event.ts'
import type { SavedDecision } from '../../../domain/invites/decisions/decide.ts'
import { type DecisionNames, nameOfDecision } from '../../../domain/invites/decisions/decision-names.ts'
import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { time } from '../kit/formatting.ts'
import { area, choice, type Form } from '../kit/forms.ts'
import { panel } from '../kit/layout.ts'
import { badge } from '../kit/status.ts'

/** A decision with the names that the organization gave them. */
export type NamedDecision = { names: DecisionNames; saved: SavedDecision }

/** Badge of a decision; nothing where there is none. */
export const decisionBadge = (names: DecisionNames, decision: string): Html | false =>
  decision !== 'none' && badge(nameOfDecision(names, decision), decision)

const ICONS: Record<Exclude<Decision, 'none'>, IconName> = {
  shortlist: 'check',
  hold: 'circle-pause',
  reject: 'x',
  advance: 'arrow-right',
}

/** @property back address of the list, to return to. @property name of the candidate. @property note is kept. */
type ButtonFacts = { address: string; back: string; names: DecisionNames; name: string; note: string }

/** A button for each decision. */
export const decisionButtons = ({ address, back, names, name, note }: ButtonFacts): Html =>
  html`<form class="join print:hidden" method="post" action="${address}"><input type="hidden" name="back" value="${back}"><input type="hidden" name="note" value="${note}">${DECISIONS.flatMap(
    (option) =>
      option === 'none'
        ? []
        : [
            html`<button class="btn btn-sm btn-square join-item" name="decision" value="${option}" title="${names[option]}" aria-label="${`${names[option]}: ${name}`}">${icon(ICONS[option], 'size-4')}</button>`,
          ],
  )}</form>`

/** Form that decides about a candidate. @param address that the form is sent to. */
export const decisionPanel = (
  form: Form,
  address: string,
  { names, saved: { decision, note, decidedAt, decidedBy } }: NamedDecision,
): Html =>
  panel(
    'decision-about',
    'Decision',
    html`${decidedAt && html`<p class="mb-3">${decisionBadge(names, decision) || 'No decision'} <span class="hint">${decidedBy && `${decidedBy}, `}${time(decidedAt)}</span></p>`}
<form class="print:hidden" method="post" action="${address}">
${choice(form, { name: 'decision', label: 'Decision', options: DECISIONS.map((option) => [option, names[option]] as const), value: decision })}
${area(form, { name: 'note', label: 'Note', value: note, hint: 'Only members who read all candidates see it. It is in the archive of the candidate’s data.' })}
<button class="btn">Save decision</button>
</form>`,
  )
