import type { Context } from '../../../domain/context.ts'
import { MAX_TEXT_TESTS } from '../../../domain/limits.ts'
import { comesByItself, TEMPLATE_KINDS, type TemplateKind } from '../../../domain/mails/candidate-mails.ts'
import type { ExampleName } from '../../../domain/mails/member-emails.ts'
import type { FoundText, TextPlace } from '../../../domain/mails/template-places.ts'
import { hasButton, placeholdersOf } from '../../../domain/mails/template-text.ts'
import type { MailTemplate } from '../../../domain/members/mail-templates.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, choice, type Form, field, hiddenSeen, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { tabs } from '../kit/parts.ts'
import { wordLanguage, wordOffered } from '../kit/wording.ts'
import { wordMail } from '../reminders/words.ts'

/** Whom a preview is for, by what is hard about their names. */
const PREVIEWED: Record<ExampleName, string> = {
  plain: 'Sam Rivera',
  long: 'a very long name',
  arabic: 'a name in Arabic',
  none: 'no name',
}

/** What stands below each text, whatever it says. */
const FRAMES: Record<TemplateKind, string> = {
  invitation: 'The address in full, until when it is open, what is needed and who invites stand',
  not_accepted: 'Until when it is open, who invites, the address in full and how to stop reminders stand',
  not_started: 'Until when it is open, who invites, the address in full and how to stop reminders stand',
  not_finished: 'Who invites, the address in full and how to stop reminders stand',
  submitted: 'When it was handed in, that it was by the clock where it was, and how to stop such emails stand',
  released: 'The address in full and how to stop such emails stand',
}

type Facts = {
  ctx: Context
  /** The page's own address. */
  home: string
  place: TextPlace
  assessment: { id: string; name: string } | null
  template: MailTemplate
  /** What has the place of an empty text; null: ours. */
  standIn: FoundText | null
  main: string | null
  offered: readonly string[]
  notice?: string | undefined
}

/** What a page of texts adds to its address for one of them. */
export const queryFor = ({ kind, language }: Pick<TextPlace, 'kind' | 'language'>): string =>
  `?${new URLSearchParams({ kind, language })}`

/** The organization's own words for one kind of mail, in one language: for all assessments, or one. */
export function wordsPage(form: Form, facts: Facts): Page {
  const { ctx, home, place, assessment, template, notice } = facts
  const { kind, language } = place
  const { codes } = ctx.deps.languages
  return {
    title: 'Your own words',
    subtitle: assessment
      ? 'What this assessment’s candidates read in emails. It comes before the organization’s text.'
      : 'What candidates read in emails, in your words instead of ours. An assessment can have its own.',
    trail: assessment
      ? [
          ['Assessments', pathOf(ctx, 'assessments')],
          [assessment.name, pathOf(ctx, `assessments/${assessment.id}/edit`)],
        ]
      : [['Settings', pathOf(ctx, 'settings/organization')]],
    notice,
    tabs: tabs(
      'Emails',
      TEMPLATE_KINDS.map((one) => ({
        label: wordMail(one),
        address: home + queryFor({ kind: one, language }),
        isCurrent: one === kind,
      })),
    ),
    body: html`${mistakes(form)}${codes.length > 1 && languages(home, codes, facts)}<form class="space-y-6" method="post" action="${home}">
<input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="language" value="${language}">
${hiddenSeen(form, 'seen', String(template.version))}
${settingsPanel('text', `${wordMail(kind)}, in ${wordLanguage(language)}`, about(facts), fields(form, facts))}
${settingsPanel('preview', 'Preview', aboutPreview(facts), preview(form, facts))}
</form>
${assessment === null && mainForm(form, facts)}`,
  }
}

const languages = (home: string, codes: readonly string[], { place: { kind, language }, offered }: Facts): Html =>
  html`<nav id="language" class="tabs tabs-border mb-4" aria-label="Languages">${codes.map((code) =>
    code === language
      ? html`<a class="tab tab-active" aria-current="page" href="${home + queryFor({ kind, language: code })}">${wordOffered(code, offered)}</a>`
      : html`<a class="tab" href="${home + queryFor({ kind, language: code })}">${wordOffered(code, offered)}</a>`,
  )}</nav>`

const about = (facts: Facts): Html => {
  const { ctx, assessment, place } = facts
  const reminders = pathOf(ctx, assessment ? `assessments/${assessment.id}/reminders` : 'settings/reminders')
  const isOffered = facts.offered.includes(place.language)
  return html`${applies(facts)}${!isOffered && html` Offer it under <a href="${pathOf(ctx, 'settings/languages')}">Languages and times</a>.`} Leave both fields empty for ${standInOf(facts)}. ${FRAMES[place.kind]} below it in any case.${comesByItself(place.kind) && html` It is sent where it is switched on: <a href="${reminders}">Reminders and notices</a>.`}`
}

/** Which text mails have at present, and why. */
const applies = (facts: Facts): string => {
  const { template, place, assessment } = facts
  if (!facts.offered.includes(place.language))
    return `Nobody gets this text: your candidates are not offered ${wordLanguage(place.language)}.`
  if (!template.body) return `Nothing is written here: emails have ${standInOf(facts)}.`
  const whose = assessment ? 'this assessment’s own text' : 'your text, where an assessment has none of its own'
  return `Candidates who read ${wordLanguage(place.language)} get ${whose} (version ${template.version}).`
}

/** What has the place of a text that is not written, and why. */
const standInOf = ({ standIn, place, assessment }: Facts): string => {
  if (!standIn) return `the service’s own text in ${wordLanguage(place.language)}`
  if (standIn.whose === 'organization') return `the organization’s text in ${wordLanguage(standIn.language)}`
  return assessment
    ? `the organization’s text in ${wordLanguage(standIn.language)}, which it has chosen for languages without one`
    : `your text in ${wordLanguage(standIn.language)}, which is chosen below for languages without one`
}

const aboutPreview = (facts: Facts): Html =>
  html`What stands above, for an example${!facts.template.body && `; with nothing written, ${standInOf(facts)}`}. Nothing is saved. A test is mailed to you alone, ${MAX_TEXT_TESTS} an hour at most; its subject says that it is one.`

const fields = (form: Form, { template: { subject, body }, place: { kind } }: Facts): Html => html`${field(form, {
  name: 'subject',
  label: 'Subject',
  value: subject,
  optional: true,
})}
${area(form, {
  name: 'body',
  label: 'Text',
  hint: `An empty line begins a paragraph. **bold**, *emphasis*, - lists, [words](https://example.com).${hasButton(kind) ? ' {{ link }} in a paragraph of its own is the button.' : ''}`,
  value: body,
  rows: 14,
})}
<details class="mb-4"><summary class="link text-sm">What can be put in</summary>
<p class="hint mt-2">${placeholdersOf(kind).map((name, i) => html`${i > 0 && ', '}<code>${`{{ ${name} }}`}</code>`)}. What stands there where there is nothing: <code>${'{{ candidate_name | default: "there" }}'}</code>. A paragraph with nothing to put in is left out.</p></details>
<button class="btn btn-primary">Save</button>`

/** The buttons send what is typed into the frames, which hold nothing but the mail. */
const preview = (form: Form, { home, place }: Facts): Html => {
  const options = Object.entries(PREVIEWED).map(([who, label]) => [who, label] as const)
  const first = `${home}/preview${queryFor(place)}`
  return html`${choice(form, { name: 'who', label: 'For a candidate with', options, value: 'plain' })}
<div class="mb-4 flex flex-wrap gap-2">
<button class="btn" formaction="${`${home}/preview`}" formtarget="wide" formnovalidate data-also="narrow">Preview</button>
<button class="btn" formaction="${`${home}/preview`}" formtarget="narrow" formnovalidate data-also="wide">Preview on a phone</button>
<button class="btn" formaction="${`${home}/preview`}" formtarget="wide" formnovalidate data-also="narrow" name="part" value="text">Preview as text</button>
<button class="btn" formaction="${`${home}/test`}" formnovalidate>Mail me a test</button>${onceField()}
</div>
<div class="flex flex-wrap gap-4">
<iframe class="h-144 w-150 max-w-full rounded-box border border-base-300" title="The email on a wide screen" name="wide" sandbox="" src="${`${first}&width=wide`}"></iframe>
<iframe class="h-144 w-98 max-w-full rounded-box border border-base-300" title="The email on a phone" name="narrow" sandbox="" src="${`${first}&width=narrow`}"></iframe>
</div>`
}

const mainForm = (form: Form, { home, place: { kind, language }, main, offered }: Facts): Html =>
  settingsPanel(
    'main',
    'Languages without a text',
    'Your own text, whatever the language: an email is then in one language from its first line to its last.',
    html`<form method="post" action="${`${home}/main`}"><input type="hidden" name="kind" value="${kind}"><input type="hidden" name="language" value="${language}">
${choice(form, {
  name: 'mainLanguage',
  label: 'Where you have written nothing in the candidate’s language',
  options: [
    ['', 'The service’s own text in that language'],
    ...offered.map((code) => [code, `Your text in ${wordLanguage(code)}`] as const),
  ],
  value: main ?? '',
})}
<button class="btn" aria-label="Save what stands in">Save</button></form>`,
  )
