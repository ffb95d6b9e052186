import type { Context } from '../../../domain/context.ts'
import { MAX_TEXT_TESTS } from '../../../domain/limits.ts'
import type { ExampleName } from '../../../domain/mails/member-emails.ts'
import type { FoundText } from '../../../domain/mails/template-places.ts'
import { PLACEHOLDERS } from '../../../domain/mails/template-text.ts'
import type { MailTemplate } from '../../../domain/members/mail-templates.ts'
import { type Html, html } from '../../../html/html.ts'
import { area, choice, type Form, field, hiddenSeen, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

/** Whom a preview is for, by what is hard about their names. */
const PREVIEWED: Record<ExampleName, string> = {
  plain: 'Sam Rivera',
  long: 'a very long name',
  arabic: 'a name in Arabic',
  none: 'no name',
}

type Facts = {
  ctx: Context
  language: string
  template: MailTemplate
  /** What has the place of an empty text; null: ours. */
  standIn: FoundText | null
  main: string | null
  offered: readonly string[]
  notice?: string | undefined
}

/** The organization's own words for invitations, in one language. */
export function wordsPage(form: Form, facts: Facts): Page {
  const { ctx, language, template, notice } = facts
  const address = pathOf(ctx, 'settings/words')
  const { codes } = ctx.deps.languages
  return {
    title: 'Words of invitations',
    subtitle: 'What candidates read in the email, in your words instead of ours.',
    trail: [['Settings', pathOf(ctx, 'settings/organization')]],
    notice,
    body: html`${mistakes(form)}${codes.length > 1 && languages(address, codes, language)}<form method="post" action="${address}">
<input type="hidden" name="language" value="${language}">
${hiddenSeen(form, 'seen', String(template.version))}
${settingsPanel('text', `Text in ${nameOf(language)}`, about(facts), fields(form, template))}
${settingsPanel('preview', 'Preview', html`What stands above, for an example${!facts.template.body && `; with nothing written, ${wordStandIn(facts.standIn)}`}. Nothing is saved. A test is mailed to you alone, ${MAX_TEXT_TESTS} an hour at most; its subject says that it is one.`, preview(form, address, language))}
</form>
${mainForm(form, address, facts)}`,
  }
}

const languages = (address: string, codes: readonly string[], current: string): Html =>
  html`<nav id="language" class="tabs tabs-border mb-4" aria-label="Languages">${codes.map((code) =>
    code === current
      ? html`<a class="tab tab-active" aria-current="page" href="${`${address}?language=${code}`}">${nameOf(code)}</a>`
      : html`<a class="tab" href="${`${address}?language=${code}`}">${nameOf(code)}</a>`,
  )}</nav>`

const nameOf = (code: string): string => new Intl.DisplayNames('en', { type: 'language' }).of(code) ?? code

const about = ({ template: { version, body }, language, standIn }: Facts): Html =>
  html`${body ? `Invitations have this text (version ${version}).` : `Nothing is written in ${nameOf(language)}: invitations have ${wordStandIn(standIn)}. Leave both fields empty to keep it so.`} The address in full, until when it is open, what is needed and who invites stand below it in any case.`

/** What has the place of a text that is not written, and why. */
const wordStandIn = (standIn: FoundText | null): string =>
  standIn ? `your text in ${nameOf(standIn.language)}, as you have chosen below` : 'the service’s own text'

const mainForm = (form: Form, address: string, { language, main, offered }: Facts): Html =>
  settingsPanel(
    'main',
    'Languages without a text',
    'Your own text, whatever the language: a mail is then in one language from its first line to its last.',
    html`<form method="post" action="${`${address}/main`}"><input type="hidden" name="language" value="${language}">
${choice(form, {
  name: 'mainLanguage',
  label: 'Where you have written nothing in the candidate’s language',
  options: [
    ['', 'The service’s own text in that language'],
    ...offered.map((code) => [code, `Your text in ${nameOf(code)}`] as const),
  ],
  value: main ?? '',
})}
<button class="btn" aria-label="Save what stands in">Save</button></form>`,
  )

const fields = (form: Form, { subject, body }: MailTemplate): Html => html`${field(form, {
  name: 'subject',
  label: 'Subject',
  value: subject,
  optional: true,
})}
${area(form, {
  name: 'body',
  label: 'Text',
  hint: 'An empty line begins a paragraph. **bold**, *emphasis*, - lists, [words](https://example.com). {{ link }} in a paragraph of its own is the button.',
  value: body,
  rows: 14,
})}
<details class="mb-4"><summary class="link text-sm">What can be put in</summary>
<p class="hint mt-2">${PLACEHOLDERS.map((name, i) => html`${i > 0 && ', '}<code>${`{{ ${name} }}`}</code>`)}. What stands there where there is nothing: <code>${'{{ candidate_name | default: "there" }}'}</code>. A paragraph with nothing to put in is left out.</p></details>
<button class="btn btn-primary">Save</button>`

/** The buttons send what is typed into the frames, which hold nothing but the mail. */
const preview = (form: Form, address: string, language: string): Html => {
  const options = Object.entries(PREVIEWED).map(([who, label]) => [who, label] as const)
  const first = (width: string) => `${address}/preview?language=${language}&width=${width}`
  return html`${choice(form, { name: 'who', label: 'For a candidate with', options, value: 'plain' })}
<div class="mb-4 flex flex-wrap gap-2">
<button class="btn" formaction="${`${address}/preview`}" formtarget="wide" formnovalidate>Preview</button>
<button class="btn" formaction="${`${address}/preview`}" formtarget="narrow" formnovalidate>Preview on a phone</button>
<button class="btn" formaction="${`${address}/preview`}" formtarget="wide" formnovalidate name="part" value="text">Preview as text</button>
<button class="btn" formaction="${`${address}/test`}" formnovalidate>Mail me a test</button>${onceField()}
</div>
<div class="flex flex-wrap gap-4">
<iframe class="h-144 w-150 max-w-full rounded-box border border-base-300" title="The invitation on a wide screen" name="wide" sandbox="" src="${first('wide')}"></iframe>
<iframe class="h-144 w-98 max-w-full rounded-box border border-base-300" title="The invitation on a phone" name="narrow" sandbox="" src="${first('narrow')}"></iframe>
</div>`
}
