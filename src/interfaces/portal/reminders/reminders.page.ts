import type { Context } from '../../../domain/context.ts'
import type { NoticeSwitches } from '../../../domain/invites/notice-switches.ts'
import { LISTED_OPEN, type OpenReminder } from '../../../domain/invites/reminders/plan.ts'
import type { RuleSettings } from '../../../domain/invites/reminders/rules.ts'
import { MAX_REMINDERS, MAX_STEPS, type ReminderStep } from '../../../domain/invites/reminders/steps.ts'
import { type Html, html } from '../../../html/html.ts'
import { checkbox, checkboxes, choice, emptyForm, type Form, field, folded, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { table } from '../kit/table.ts'
import { time } from '../kit/wording.ts'
import { REMINDER_WORDS } from './words.ts'

type Facts = {
  ctx: Context
  /** The page's own address. */
  home: string
  assessment: { id: string; name: string } | null
  hasRule: boolean
  settings: RuleSettings
  /** Invites of before that would be reminded, too. */
  open: number
  switches: NoticeSwitches
  done: string
}

const NOTICES = new Map([
  ['saved', 'Saved.'],
  ['dropped', 'The organization’s rule holds for this assessment again.'],
  ['open', 'Candidates who were invited before are reminded, too.'],
])
const ANCHOR_OPTIONS = [
  ['', 'none'],
  ['sent', 'after the invitation'],
  ['started', 'after the start'],
  ['before_expiry', 'before the invite expires'],
] as const
const STATE_OPTIONS = [
  ['pending', 'have not answered'],
  ['accepted', 'have accepted, and not started'],
  ['started', 'have started, and not handed in'],
] as const
const FULL_HOURS = Array.from({ length: 24 }, (_, hour): [string, string] => [String(hour), `${hour}:00`])

/** When candidates are reminded, and which notices they get. */
export function remindersPage(form: Form, { ctx, home, assessment, hasRule, settings, open, switches, done }: Facts): Page {
  const trail: Page['trail'] = assessment
    ? [
        ['Assessments', pathOf(ctx, 'assessments')],
        [assessment.name, pathOf(ctx, `assessments/${assessment.id}/edit`)],
      ]
    : [['Settings', pathOf(ctx, 'settings')]]
  const rows = Array.from({ length: MAX_STEPS }, (_, i) => stepFields(form, i + 1, settings.steps[i]))
  const shown = Math.max(settings.steps.length, 2)
  return {
    title: 'Reminders and notices',
    subtitle: assessment
      ? 'Of this assessment’s candidates.'
      : 'Emails that candidates get by themselves. All are off until you switch them on.',
    trail,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${assessment && !hasRule && html`<p class="mb-4">The organization’s rule holds for this assessment. What you save here takes its place.</p>`}<form class="space-y-6" method="post" action="${home}">
${settingsPanel(
  'rule',
  'Reminders',
  `At most ${MAX_REMINDERS} for an invite, and none within 24 hours of another email to the same address. Only the latest that is due is sent. Each can be stopped by its reader with one click.`,
  html`${checkbox(form, { name: 'isOn', label: 'Remind candidates', checked: settings.isOn })}
<p class="hint mb-4">Only for invites that are sent after you switch it on.</p>
<div id="steps">${rows.slice(0, shown)}${rows.length > shown && folded(form, 'More reminders', html`${rows.slice(shown)}`)}</div>`,
)}${settingsPanel(
  'hours',
  'Hours',
  'By the clock of the candidate; where that is not known, by yours.',
  html`<div class="grid gap-x-4 sm:grid-cols-2">${choice(form, { name: 'quietFrom', label: 'Nothing is sent from', options: FULL_HOURS, value: String(settings.quietFrom) })}
${choice(form, { name: 'quietUntil', label: 'until', options: FULL_HOURS, value: String(settings.quietUntil) })}</div>
${checkbox(form, { name: 'onDaysOff', label: 'Also on your days off', checked: settings.onDaysOff })}
<p class="hint mb-4">What is about the expiry is sent on days off, too.</p>
<button class="btn btn-primary">Save reminders</button>`,
)}</form>
${open > 0 && settingsPanel('before', 'Invites of before', 'They are not reminded unless you say so.', html`<a class="btn" href="${`${home}/open`}">Remind ${open.toLocaleString('en')} open ${open === 1 ? 'invite' : 'invites'} of before, too</a>`)}${settingsPanel(
  'notices',
  'Notices',
  'Sent once each. The email about a result never says what it is.',
  html`<form method="post" action="${`${home}/notices`}">
${assessment ? [ofAssessment('submitted', 'A receipt when the candidate has handed in', switches), ofAssessment('released', 'When there is a result that the candidate may see', switches)] : [checkbox(emptyForm, { name: 'submitted', label: 'A receipt when the candidate has handed in', checked: switches.submitted === true }), checkbox(emptyForm, { name: 'released', label: 'When there is a result that the candidate may see', checked: switches.released === true })]}
<button class="btn mt-2" aria-label="Save notices">Save</button>
</form>`,
)}${
  assessment &&
  hasRule &&
  settingsPanel(
    'drop',
    'As the organization has it',
    'This assessment has a rule of its own.',
    html`<form method="post" action="${`${home}/drop`}"><button class="btn">Use the organization’s rule</button></form>`,
  )
}`,
  }
}

const stepFields = (
  form: Form,
  n: number,
  step: ReminderStep | undefined,
): Html => html`<fieldset class="border-base-300 mb-4 border-t pt-3">
<legend class="sr-only">Reminder ${n}</legend>
<div class="grid gap-x-4 sm:grid-cols-2">${choice(form, { name: `after${n}`, label: `Reminder ${n}`, options: ANCHOR_OPTIONS, value: step?.after ?? '' })}
${field(form, { name: `hours${n}`, label: 'Hours', type: 'number', value: String(step?.hours ?? ''), optional: true })}</div>
${checkboxes(form, { name: `states${n}`, label: 'To those who', options: STATE_OPTIONS, values: step?.states ?? [] })}
</fieldset>`

const ofAssessment = (name: keyof NoticeSwitches, label: string, switches: NoticeSwitches): Html =>
  choice(emptyForm, {
    name,
    label,
    options: [
      ['inherit', 'as the organization has it'],
      ['on', 'send it'],
      ['off', 'do not send it'],
    ],
    value: switches[name] === null ? 'inherit' : switches[name] ? 'on' : 'off',
  })

/** Who would get what when, before it is switched on for them. */
export const openRemindersPage = ({
  ctx,
  home,
  total,
  listed,
}: {
  ctx: Context
  home: string
  total: number
  listed: OpenReminder[]
}): Page => ({
  title: 'Remind candidates of before',
  subtitle: `${total.toLocaleString('en')} open ${total === 1 ? 'invite was' : 'invites were'} sent before reminders were switched on.`,
  trail: [['Reminders and notices', home]],
  body: html`<section class="panel" aria-labelledby="open-heading">
<h2 class="mb-4" id="open-heading">${total > LISTED_OPEN ? `The first ${LISTED_OPEN}` : 'All of them'}</h2>
${
  listed.length === 0
    ? html`<p class="hint">Nobody would be reminded.</p>`
    : table(
        'open-heading',
        ['Candidate', 'Assessment', 'First reminder', 'When'],
        listed.map(({ inviteId, recipientEmail, assessment, kind, at }) => [
          html`<a class="named" href="${pathOf(ctx, `invites/${inviteId}`)}">${recipientEmail}</a>`,
          assessment,
          REMINDER_WORDS[kind],
          time(at),
        ]),
      )
}
${
  listed.length > 0 &&
  html`<form class="mt-4" method="post" action="${`${home}/open`}">
${checkbox(emptyForm, { name: 'sure', label: `Remind these ${total.toLocaleString('en')}, too` })}
<button class="btn btn-primary">Switch on for them</button>
</form>`
}
</section>`,
})
