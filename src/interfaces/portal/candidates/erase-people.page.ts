import type { Context } from '../../../domain/context.ts'
import type { ChosenPerson, ErasurePreview } from '../../../domain/invites/bulk/choose-invites.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { ERASE_PEOPLE } from '../invites/bulk.page.ts'
import type { FilterChoices } from '../invites/read-filter.ts'
import { checkbox, checkboxes, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty, person } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Most people listed per kind, and how many of them at first. */
const MAX_LISTED = 500
const MAX_UNFOLDED = 10

/**
 * @property preview null before a filter is chosen. @property most number of invites that the preview covers.
 * @property chosen hidden fields of the form.
 */
type Facts = {
  ctx: Context
  preview: ErasurePreview | null
  most: number
  chosen: [name: string, value: string][]
  choices: FilterChoices | null
}

/** Preview of an erasure by filter or of selected invites, and the form that starts it. */
export const erasePeoplePage = (form: Form, { ctx, preview, most, chosen, choices }: Facts): Page => ({
  title: 'Erase people',
  trail: [['Candidates', pathOf(ctx, 'candidates')]],
  body: html`${mistakes(form)}${choices && filterPanel(form, ctx, choices)}${
    preview
      ? html`${previewPanels(ctx, preview)}${erasePanel(form, { ctx, preview, most, chosen })}`
      : html`<p class="hint" id="sure">Choose whom to erase. You can check the list of people before you confirm.</p>`
  }`,
})

const previewPanels = (ctx: Context, { erasable, started, others, waitingEmails }: ErasurePreview): Html =>
  html`${panel(
    'erased',
    `Will be erased: ${formatPeople(erasable.length)}`,
    html`<p class="hint mb-3">This erases all their invites, answers, results, recordings, and emails, in live and test data. Open invites are revoked first.</p>
${waitingEmails > 0 && waitingNote(waitingEmails)}
${erasable.length === 0 ? empty('users', started.length + others.length === 0 ? 'No people match.' : 'Everyone here has started, or has other invites.') : people(ctx, 'erased-heading', erasable)}`,
  )}${started.length > 0 && panel('started', `Have started or completed: ${formatPeople(started.length)}`, html`<p class="hint mb-3">They are kept unless you tick the box below.</p>${people(ctx, 'started-heading', started)}`)}${others.length > 0 && panel('others', `Have other invites, and are kept: ${formatPeople(others.length)}`, people(ctx, 'others-heading', others))}`

/** A revocation’s apology, for example, is lost if its recipient is erased first. */
const waitingNote = (count: number): Html =>
  html`<p class="alert alert-soft alert-warning mb-3" role="note">${formatCount(count, 'email')} to these people ${count === 1 ? 'is' : 'are'} still to be sent. If you erase them now, ${count === 1 ? 'it is' : 'they are'} not sent: wait a few minutes, then reload this page.</p>`

type ErasePanel = Pick<Facts, 'ctx' | 'most' | 'chosen'> & { preview: ErasurePreview }

const erasePanel = (form: Form, { ctx, preview: { erasable, started, fingerprint }, most, chosen }: ErasePanel): Html | false =>
  (erasable.length + started.length === 0 && html`<p class="hint" id="sure">Nobody would be erased.</p>`) ||
  panel(
    'erase',
    'Erase',
    html`<form method="post" action="${pathOf(ctx, ERASE_PEOPLE)}">${onceField()}
<input type="hidden" name="most" value="${most}">
<input type="hidden" name="seen" value="${fingerprint}">
${chosen.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
${started.length > 0 && checkbox(form, { name: 'includesStarted', label: `Also erase the ${formatPeople(started.length)} who have started or completed, with their answers and results` })}
${checkboxes(form, { name: 'sure', label: 'This can’t be undone', options: [['yes', 'Erase these people for good']] })}
<button class="btn btn-error mt-3">${icon('trash-2')}Erase these people</button>
</form>`,
  )

const formatPeople = (count: number): string => (count === 1 ? '1 person' : `${count.toLocaleString('en')} people`)

function filterPanel(form: Form, ctx: Context, { assessments, tags, lists }: FilterChoices): Html {
  const anyOf = (items: { id: string; name: string }[], any: string): [string, string][] => [
    ['', any],
    ...items.map(({ id, name }): [string, string] => [id, name]),
  ]
  return html`<section class="panel" aria-label="Filter"><form method="get" action="${pathOf(ctx, ERASE_PEOPLE)}" class="filters">
<input type="hidden" name="all" value="yes">
${field(form, { name: 'search', label: 'Name or email', type: 'search', optional: true })}
${choice(form, { name: 'assessment', label: 'Assessment', options: anyOf(assessments, 'Every assessment') })}
${choice(form, { name: 'tag', label: 'Tag', options: anyOf(tags, 'Every tag') })}
${lists.length > 0 && choice(form, { name: 'list', label: 'List', options: anyOf(lists, 'Every list') })}
<button class="btn">Show who would be erased</button>
</form></section>`
}

/** The first people, and the others folded, so that the button below stays in sight. */
function people(ctx: Context, heading: string, chosenPeople: readonly ChosenPerson[]): Html {
  const list = (rows: readonly ChosenPerson[]) =>
    table(
      heading,
      ['Candidate'],
      rows.map(({ inviteId, email, name }) => [person({ name, email, address: pathOf(ctx, `candidates/${inviteId}`) })]),
    )
  const foldedCount = chosenPeople.length - MAX_UNFOLDED
  return html`${list(chosenPeople.slice(0, MAX_UNFOLDED))}${
    foldedCount > 0 &&
    html`<details class="mt-3"><summary class="link text-sm">Show ${formatCount(foldedCount, 'other')}</summary>
${list(chosenPeople.slice(MAX_UNFOLDED, MAX_LISTED))}${chosenPeople.length > MAX_LISTED && html`<p class="hint mt-3">And ${formatCount(chosenPeople.length - MAX_LISTED, 'other')}.</p>`}</details>`
  }`
}
