import type { Context } from '../../../domain/context.ts'
import { MAX_TEXT_TESTS } from '../../../domain/limits.ts'
import { isAutomatic, TEMPLATE_KINDS, type TemplateKind } from '../../../domain/mails/candidate-mails.ts'
import type { MailTemplate } from '../../../domain/mails/mail-templates.ts'
import type { ExampleName } from '../../../domain/mails/member-emails.ts'
import type { FoundText, TextPlace, WrittenText } from '../../../domain/mails/template-places.ts'
import { hasButton, type Placeholder, placeholdersOf } from '../../../domain/mails/template-text.ts'
import { type Html, html } from '../../../html/html.ts'
import { labelLanguage, labelOfferedLanguage } from '../kit/formatting.ts'
import { area, choice, type Form, field, hiddenStateField, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { tabs } from '../kit/parts.ts'
import { labelMail } from '../reminders/reminder-labels.ts'

/** Sample recipients, with names that are hard to typeset. */
const PREVIEWED: Record<ExampleName, string> = {
  plain: 'Sam Rivera',
  long: 'a very long name',
  arabic: 'a name in Arabic',
  none: 'no name',
}

/** Fixed content below each text. */
const FRAMES: Record<TemplateKind, string> = {
  invitation: 'the full link, the last day, what is needed, and who invites',
  not_accepted: 'the last day, who invites, the full link, and how to stop reminders',
  not_started: 'the last day, who invites, the full link, and how to stop reminders',
  not_finished: 'who invites, the full link, and how to stop reminders',
  submitted: 'when it was submitted, whether the time was up, and how to stop such emails',
  released: 'the full link, and how to stop such emails',
}

const PLACEHOLDER_MEANINGS: Record<Placeholder, string> = {
  candidate_name: 'the candidate’s name',
  assessment: 'the assessment’s name',
  organization: 'your organization’s name',
  sender_name: 'who invites',
  question_count: 'how many questions there are',
  time_limit: 'how long the assessment takes at most',
  expires_at: 'the last day to start',
  expires_in: 'how long is left to start',
  message: 'the message of the invite',
  link: 'the button, or the link',
  submitted_at: 'when it was submitted',
}

type Facts = {
  ctx: Context
  /** The page's own address. */
  home: string
  place: TextPlace
  assessment: { id: string; name: string } | null
  template: MailTemplate
  /** Text in the form: the saved one, or the default. */
  initial: WrittenText
  /** Text that applies if this one is empty; null: the service's. */
  standIn: FoundText | null
  main: string | null
  offered: readonly string[]
  notice?: string | undefined
}

/** Query string of one text. */
export const queryFor = ({ kind, language }: Pick<TextPlace, 'kind' | 'language'>): string =>
  `?${new URLSearchParams({ kind, language })}`

/** The organization's text of one kind of mail in one language, for all assessments or for one. */
export function emailTemplatePage(form: Form, facts: Facts): Page {
  const { ctx, home, place, assessment, template, notice } = facts
  const { kind, language } = place
  const { codes } = ctx.deps.languages
  return {
    title: 'Email templates',
    subtitle: assessment
      ? 'Emails to this assessment’s candidates. They replace the organization’s templates.'
      : 'Emails to candidates. Each assessment can have its own templates.',
    trail: assessment
      ? [
          ['Assessments', pathOf(ctx, 'assessments')],
          [assessment.name, pathOf(ctx, `assessments/${assessment.id}/edit`)],
        ]
      : [['Settings', pathOf(ctx, 'settings')]],
    notice,
    tabs: tabs(
      'Emails',
      TEMPLATE_KINDS.map((templateKind) => ({
        label: labelMail(templateKind),
        address: home + queryFor({ kind: templateKind, language }),
        isCurrent: templateKind === kind,
      })),
    ),
    body: html`${mistakes(form)}${codes.length > 1 && languages(home, codes, facts)}<form class="space-y-6" method="post" action="${home}">
<input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="language" value="${language}">
${hiddenStateField(form, 'seen', String(template.version))}
${settingsPanel('text', `${labelMail(kind)}, in ${labelLanguage(language)}`, about(facts), fields(form, facts))}
${settingsPanel('preview', 'Preview', ABOUT_PREVIEW, preview(form, facts))}
</form>
${assessment === null && mainForm(form, facts)}`,
  }
}

const languages = (home: string, codes: readonly string[], { place: { kind, language }, offered }: Facts): Html =>
  html`<nav id="language" class="tabs tabs-border mb-4" aria-label="Languages">${codes.map((code) =>
    code === language
      ? html`<a class="tab tab-active" aria-current="page" href="${home + queryFor({ kind, language: code })}">${labelOfferedLanguage(code, offered)}</a>`
      : html`<a class="tab" href="${home + queryFor({ kind, language: code })}">${labelOfferedLanguage(code, offered)}</a>`,
  )}</nav>`

const about = (facts: Facts): Html => {
  const { ctx, assessment, place } = facts
  const reminders = pathOf(ctx, assessment ? `assessments/${assessment.id}/reminders` : 'settings/reminders')
  const isOffered = facts.offered.includes(place.language)
  return html`${currentTextNote(facts)}${!isOffered && html` Offer it under <a href="${pathOf(ctx, 'settings/languages')}">Languages and times</a>.`}${facts.template.body !== '' && ` Empty both fields to return to ${fallbackNote(facts)}.`} Always added below: ${FRAMES[place.kind]}.${isAutomatic(place.kind) && html` It is sent where it is switched on: <a href="${reminders}">Reminders and notices</a>.`}`
}

/** Text that mails use at present, and why. */
const currentTextNote = (facts: Facts): string => {
  const { template, place, assessment } = facts
  if (!facts.offered.includes(place.language))
    return `Your organization doesn’t offer ${labelLanguage(place.language)}: only candidates of assessments in this language get this text.`
  if (!template.body) return `Until you change it, emails have ${fallbackNote(facts)}.`
  const fallbackName = assessment ? 'this assessment’s own text' : 'your text, where an assessment has none of its own'
  return `Candidates who read ${labelLanguage(place.language)} get ${fallbackName} (version ${template.version}).`
}

/** Text that is used while this one is empty, and why. */
const fallbackNote = ({ standIn, place, assessment }: Facts): string => {
  if (!standIn) return `the service’s own text in ${labelLanguage(place.language)}`
  if (standIn.origin === 'organization') return `the organization’s text in ${labelLanguage(standIn.language)}`
  return assessment
    ? `the organization’s text in ${labelLanguage(standIn.language)}, which it has chosen for languages without one`
    : `your text in ${labelLanguage(standIn.language)}, which is chosen below for languages without one`
}

const ABOUT_PREVIEW = `The text above, for an example. Nothing is saved. A test is emailed to you alone, at most ${MAX_TEXT_TESTS} an hour; its subject says that it is a test.`

const fields = (form: Form, { initial: { subject, body }, place: { kind } }: Facts): Html => html`${field(form, {
  name: 'subject',
  label: 'Subject',
  value: subject,
  optional: true,
})}
${area(form, {
  name: 'body',
  label: 'Text',
  hint: `Leave a line empty for a new paragraph. **bold**, *emphasis*, - lists, [links](https://example.com).${hasButton(kind) ? ' {{ link }} alone in a paragraph becomes the button.' : ''}`,
  value: body,
  rows: 14,
})}
<details class="mb-4"><summary class="link text-sm">Placeholders</summary>
<ul class="hint mt-2">${placeholdersOf(kind).map((name) => html`<li><code>${`{{ ${name} }}`}</code> ${PLACEHOLDER_MEANINGS[name]}</li>\n`)}</ul>
<p class="hint mt-2">If a value may be missing, give a default: <code>${'{{ candidate_name | default: "there" }}'}</code>. A paragraph whose placeholders are all empty is left out.</p></details>
<button class="btn btn-primary">Save</button>`

/** The buttons send the typed text into the preview frames. */
const preview = (form: Form, { home, place }: Facts): Html => {
  const options = Object.entries(PREVIEWED).map(([who, label]) => [who, label] as const)
  const first = `${home}/preview${queryFor(place)}`
  return html`${choice(form, { name: 'who', label: 'For a candidate with', options, value: 'plain' })}
<div class="mb-4 flex flex-wrap gap-2">
<button class="btn" formaction="${`${home}/preview`}" formtarget="wide" formnovalidate data-also="narrow">Preview</button>
<button class="btn" formaction="${`${home}/preview`}" formtarget="narrow" formnovalidate data-also="wide">Preview on a phone</button>
<button class="btn" formaction="${`${home}/preview`}" formtarget="wide" formnovalidate data-also="narrow" name="part" value="text">Preview as text</button>
<button class="btn" formaction="${`${home}/test`}" formnovalidate>Email me a test</button>${onceField()}
</div>
<div class="flex flex-wrap gap-4">
<iframe class="h-144 w-150 max-w-full rounded-box border border-base-300" title="The email on a wide screen" name="wide" sandbox="" src="${`${first}&width=wide`}"></iframe>
<iframe class="h-144 w-98 max-w-full rounded-box border border-base-300" title="The email on a phone" name="narrow" sandbox="" src="${`${first}&width=narrow`}"></iframe>
</div>`
}

const mainForm = (form: Form, { home, place: { kind, language }, main, offered }: Facts): Html =>
  settingsPanel(
    'main',
    'Languages without a template',
    'Used for candidates whose language has no template.',
    html`<form method="post" action="${`${home}/main`}"><input type="hidden" name="kind" value="${kind}"><input type="hidden" name="language" value="${language}">
${choice(form, {
  name: 'mainLanguage',
  label: 'If there is no template in the candidate’s language',
  options: [
    ['', 'The service’s own text in that language'],
    ...offered.map((code) => [code, `Your text in ${labelLanguage(code)}`] as const),
  ],
  value: main ?? '',
})}
<button class="btn" aria-label="Save the fallback language">Save</button></form>`,
  )
