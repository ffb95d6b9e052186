import type { Context } from '../../../domain/context.ts'
import type { BulkAction } from '../../../domain/invites/bulk/bulk-changes.ts'
import type { ExtensionPreview } from '../../../domain/invites/bulk/choose-invites.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import type { InviteStatus } from '../../../domain/invites/invites.ts'
import type { StateCounts } from '../../../domain/invites/overview/count-states.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { limitHint } from '../kit/choices.ts'
import { area, checkbox, choice, type Form, field } from '../kit/forms.ts'
import { table } from '../kit/table.ts'

/** @property chosen hidden fields of the form: ids, or filter. @property statuses counts by status, for actions that show them. */
export type BulkFormFacts = {
  ctx: Context
  action: BulkAction
  count: number
  chosen: [name: string, value: string][]
  choices: Choice[]
  statuses: StateCounts
  extension: ExtensionPreview | null
}

/** Most rows of a preview; the other days are added up. */
const MAX_PREVIEWED = 20

const APOLOGY = 'We sent you this invitation by mistake. We apologize for the inconvenience.'

export function bulkFields(form: Form, facts: BulkFormFacts): Html | false {
  const { choices } = facts
  const options = choices.map(({ id, name }): [string, string] => [id, name])
  switch (facts.action) {
    case 'resend':
      return area(form, {
        name: 'customMessage',
        label: 'Your message',
        hint: 'Leave empty to send each invite’s own message.',
        rows: 4,
      })
    case 'extend':
      return extensionFields(form, facts.extension)
    case 'tag':
      return choice(form, { name: 'tagIds', label: 'Tag', options: [['', 'Choose…'], ...options], ...limitHint(choices) })
    case 'assign':
      return choice(form, {
        name: 'assignedGraderId',
        label: 'Grader',
        options: [['', 'Nobody'], ...options],
        ...limitHint(choices),
      })
    case 'reactivate':
      return field(form, {
        name: 'expiresInDays',
        label: 'Days until they expire',
        type: 'number',
        value: String(DEFAULT_EXPIRES_IN_DAYS),
      })
    case 'revoke':
      return revocationFields(form, facts)
    case 'name':
      return checkbox(form, { name: 'sendsAgain', label: 'Send these candidates the invitation again, with their name' })
    case 'decide':
      return html`${choice(form, { name: 'decision', label: 'Decision', options })}${area(form, { name: 'note', label: 'Note', hint: 'For each of them. Only members who read all candidates see it.' })}`
    default:
      return false
  }
}

function extensionFields(form: Form, preview: ExtensionPreview | null): Html {
  const method = form.values.get('by') ?? 'date'
  const radio = (value: string, label: string) =>
    html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="radio" class="radio radio-sm" name="by" value="${value}" ${method === value && html`checked`}> ${label}</label>`
  return html`<fieldset class="mb-2"><legend class="mb-1.5 text-sm font-medium">New expiry</legend>
${radio('date', 'On the same date for all')}
${field(form, { name: 'expiresOn', label: 'Date', type: 'date', hint: 'The invites expire at the end of this day.', optional: true })}
${radio('days', 'A number of days after each invite’s current expiry')}
${field(form, { name: 'addedDays', label: 'Days', type: 'number', optional: true })}
</fieldset>
${preview && extensionPreview(preview)}`
}

function extensionPreview({ timeZone, days, kept }: ExtensionPreview): Html {
  const otherCount = days.slice(MAX_PREVIEWED).reduce((sum, { count }) => sum + count, 0)
  return html`<h2 class="mb-2" id="dates-heading">New dates</h2>
${
  days.length > 0 &&
  table(
    'dates-heading',
    ['Expires now', 'Will expire', 'Invites'],
    days.slice(0, MAX_PREVIEWED).map(({ from, to, count }) => [from, to, count]),
  )
}
<p class="hint my-3">${otherCount > 0 && `And ${formatCount(otherCount, 'other invite')}. `}${kept > 0 && `${formatCount(kept, 'invite')} can’t be extended, or expire later anyway: ${kept === 1 ? 'it stays as it is' : 'they stay as they are'}. `}Days in ${timeZone}.</p>`
}

const countOf = ({ statuses }: Pick<BulkFormFacts, 'statuses'>, ...wantedStatuses: InviteStatus[]): number =>
  wantedStatuses.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)

/** Invites that a revocation changes, without started ones. */
export const countRevocable = (facts: Pick<BulkFormFacts, 'statuses'>): number => countOf(facts, 'pending', 'accepted')

function revocationFields(form: Form, facts: BulkFormFacts): Html {
  const started = countOf(facts, 'started')
  const endedCount = countOf(facts, 'completed', 'expired', 'revoked')
  return html`${endedCount > 0 && html`<p class="mb-4">${formatCount(endedCount, 'invite')} ${endedCount === 1 ? 'is' : 'are'} completed, expired or revoked already, and ${endedCount === 1 ? 'stays' : 'stay'} as ${endedCount === 1 ? 'it is' : 'they are'}.</p>`}
${started > 0 && checkbox(form, { name: 'includesStarted', label: `Also revoke ${started === 1 ? 'the one that has' : `the ${started.toLocaleString('en')} that have`} been started: what ${started === 1 ? 'this candidate has' : 'these candidates have'} answered is not graded` })}
${checkbox(form, { name: 'email', label: 'Email the candidates that their invitation was revoked' })}
${area(form, { name: 'message', label: 'Your text in this email', value: APOLOGY, hint: 'The email says in the candidate’s language that your organization has withdrawn the invitation, and that the link no longer works. Your text is added as you write it. Only candidates who were sent the invitation get this email.' })}`
}
