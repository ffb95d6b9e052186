import type { Context } from '../../../domain/context.ts'
import type { NoticeSwitches } from '../../../domain/invites/notice-switches.ts'
import { MAX_LISTED_OPEN, type OpenReminders } from '../../../domain/invites/reminders/plan-reminders.ts'
import type { RuleSettings } from '../../../domain/invites/reminders/reminder-rules.ts'
import { MAX_REMINDERS, MAX_STEPS, type ReminderStep } from '../../../domain/invites/reminders/reminder-steps.ts'
import { type Html, html } from '../../../html/html.ts'
import { time } from '../kit/formatting.ts'
import { checkbox, checkboxes, choice, emptyForm, type Form, field, foldedFields, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { table } from '../kit/table.ts'
import { REMINDER_LABELS } from './reminder-labels.ts'

type Facts = {
  ctx: Context
  /** The page's own address. */
  home: string
  assessment: { id: string; name: string } | null
  hasRule: boolean
  settings: RuleSettings
  /** Number of earlier invites that would be reminded, too. */
  open: number
  switches: NoticeSwitches
  done: string
}

const NOTICES = new Map([
  ['saved', 'Saved.'],
  ['dropped', 'This assessment uses the organization’s reminders again.'],
  ['open', 'Candidates who were already invited get reminders too.'],
])
const ANCHOR_OPTIONS = [
  ['', 'None'],
  ['sent', 'After the invitation'],
  ['started', 'After the start'],
  ['before_expiry', 'Before the invite expires'],
] as const
const STATE_OPTIONS = [
  ['pending', 'have not responded'],
  ['accepted', 'have accepted, but not started'],
  ['started', 'have started, but not submitted'],
] as const
const FULL_HOURS = Array.from({ length: 24 }, (_, hour): [string, string] => [String(hour), `${hour}:00`])

export function remindersPage(form: Form, { ctx, home, assessment, hasRule, settings, open, switches, done }: Facts): Page {
  const trail: Page['trail'] = assessment
    ? [
        ['Assessments', pathOf(ctx, 'assessments')],
        [assessment.name, pathOf(ctx, `assessments/${assessment.id}/edit`)],
      ]
    : [['Settings', pathOf(ctx, 'settings')]]
  const rows = Array.from({ length: MAX_STEPS }, (_, i) => stepFields(form, i + 1, settings.steps[i]))
  const shownSteps = Math.max(settings.steps.length, 2)
  return {
    title: 'Reminders and notices',
    subtitle: assessment
      ? 'For this assessment’s candidates.'
      : 'Automatic emails to candidates. All are off until you switch them on.',
    trail,
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}${assessment && !hasRule && html`<p class="mb-4">This assessment uses the organization’s reminders. What you save here replaces them for this assessment.</p>`}<form class="space-y-6" method="post" action="${home}">
${settingsPanel(
  'rule',
  'Reminders',
  `At most ${MAX_REMINDERS} for each invite, and never within 24 hours of another email to the same address. If several are due, only the latest is sent. Candidates can stop reminders with one click.`,
  html`${checkbox(form, { name: 'isOn', label: 'Remind candidates', checked: settings.isOn })}
<p class="hint mb-4">For invites that you send from now on. After saving you choose whether those already invited get reminders too, and see when.</p>
<div id="steps">${rows.slice(0, shownSteps)}${rows.length > shownSteps && foldedFields(form, 'More reminders', html`${rows.slice(shownSteps)}`)}</div>`,
)}${settingsPanel(
  'hours',
  'Hours',
  'In the candidate’s time zone, or in yours if theirs is unknown.',
  html`<div class="grid gap-x-4 sm:grid-cols-2">${choice(form, { name: 'quietFrom', label: 'No emails from', options: FULL_HOURS, value: String(settings.quietFrom) })}
${choice(form, { name: 'quietUntil', label: 'until', options: FULL_HOURS, value: String(settings.quietUntil) })}</div>
${checkbox(form, { name: 'onDaysOff', label: 'Also on your days off', checked: settings.onDaysOff })}
<p class="hint mb-4">Reminders before the expiry are sent on days off too.</p>
<button class="btn btn-primary">Save reminders</button>`,
)}</form>
${open > 0 && settingsPanel('before', 'Already invited', 'They get reminders only if you turn them on here.', html`<a class="btn" href="${`${home}/open`}">Remind ${open.toLocaleString('en')} open ${open === 1 ? 'invite' : 'invites'} of before, too</a>`)}${settingsPanel(
  'notices',
  'Notices',
  'Each is sent once. The email about a result never contains the result.',
  html`<form method="post" action="${`${home}/notices`}">
${assessment ? [switchOrInherit('submitted', 'Receipt when the candidate submits', switches), switchOrInherit('released', 'Notice when the candidate’s result is released', switches)] : [checkbox(emptyForm, { name: 'submitted', label: 'Receipt when the candidate submits', checked: switches.submitted === true }), checkbox(emptyForm, { name: 'released', label: 'Notice when the candidate’s result is released', checked: switches.released === true })]}
<button class="btn mt-2" aria-label="Save notices">Save</button>
</form>`,
)}${
  assessment &&
  hasRule &&
  settingsPanel(
    'drop',
    'Organization’s reminders',
    'This assessment has its own reminders.',
    html`<form method="post" action="${`${home}/drop`}"><button class="btn">Use the organization’s reminders</button></form>`,
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
${checkboxes(form, { name: `states${n}`, label: 'Send to candidates who', options: STATE_OPTIONS, values: step?.states ?? [] })}
</fieldset>`

/** Switch of an assessment, which can inherit the organization's setting. */
const switchOrInherit = (name: keyof NoticeSwitches, label: string, switches: NoticeSwitches): Html =>
  choice(emptyForm, {
    name,
    label,
    options: [
      ['inherit', 'Use the organization’s setting'],
      ['on', 'Send'],
      ['off', 'Don’t send'],
    ],
    value: switches[name] === null ? 'inherit' : switches[name] ? 'on' : 'off',
  })

/** Preview of reminders for open invites, before they are switched on. */
export const openRemindersPage = ({
  ctx,
  home,
  total,
  today,
  lastAt,
  listed,
}: OpenReminders & { ctx: Context; home: string }): Page => ({
  title: 'Remind candidates who are already invited',
  subtitle: `${total.toLocaleString('en')} open ${total === 1 ? 'invite was' : 'invites were'} sent before reminders were switched on.`,
  trail: [['Reminders and notices', home]],
  body: html`${
    total > 0 &&
    settingsPanel(
      'switch',
      'Preview',
      'Nobody gets more than one email a day. Candidates who go on in the meantime get none.',
      html`<dl class="details"><div><dt>Go out today</dt><dd>${today.toLocaleString('en')}</dd></div><div><dt>Go out later</dt><dd>${(total - today).toLocaleString('en')}</dd></div>${lastAt && html`<div><dt>The last one</dt><dd>${time(lastAt)}</dd></div>`}</dl>
<form class="mt-4" method="post" action="${`${home}/open`}">
${checkbox(emptyForm, { name: 'sure', label: `Remind ${total === 1 ? 'this candidate' : `these ${total.toLocaleString('en')} candidates`}` })}
<div class="flex flex-wrap gap-2"><button class="btn btn-primary">Turn on reminders for them</button><a class="btn btn-ghost" href="${home}">Not now</a></div>
</form>`,
    )
  }<section class="panel" aria-labelledby="open-heading">
<h2 class="mb-4" id="open-heading">${total > MAX_LISTED_OPEN ? `The first ${MAX_LISTED_OPEN}` : 'All of them'}</h2>
${
  listed.length === 0
    ? html`<p class="hint">Nobody would be reminded.</p>`
    : table(
        'open-heading',
        ['Candidate', 'Assessment', 'First reminder', 'When'],
        listed.map(({ inviteId, recipientEmail, assessment, kind, at }) => [
          html`<a class="named" href="${pathOf(ctx, `invites/${inviteId}`)}">${recipientEmail}</a>`,
          assessment,
          REMINDER_LABELS[kind],
          time(at),
        ]),
      )
}
</section>`,
})
