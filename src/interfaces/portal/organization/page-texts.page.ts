import { type ConsentText, hashPageTexts, type PageTexts } from '../../../domain/brand/page-texts.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { directionOf } from '../../../locales/texts.ts'
import { labelLanguage, labelOfferedLanguage, time } from '../kit/formatting.ts'
import { area, type Form, field, hiddenStateField, mistakes } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'

export const PAGE_TEXTS = 'settings/links'

type Facts = {
  ctx: Context
  language: string
  /** Main language, whose links and text are used where a language has none. */
  main: string
  /** Languages that candidates can choose. */
  offered: readonly string[]
  words: PageTexts
  versions: (ConsentText & { createdAt: Date })[]
  done: string
}

/** Links and additional consent text for candidates, per language. */
export function pageTextsPage(form: Form, { ctx, language, main, offered, words, versions, done }: Facts): Page {
  const address = pathOf(ctx, PAGE_TEXTS)
  const { codes } = ctx.deps.languages
  return {
    title: 'Links and consent',
    subtitle: 'Links at the end of candidates’ pages and emails, and your consent text.',
    notice: done === 'saved' ? 'Saved. Pages and emails use it from now on.' : undefined,
    trail: [['Settings', pathOf(ctx, 'settings')]],
    body: html`${mistakes(form)}${codes.length > 1 && languages(address, codes, { language, offered })}${language !== main && !offered.includes(language) && notOffered(ctx, language)}<form class="space-y-6" method="post" action="${address}">
${hiddenStateField(form, 'seen', hashPageTexts(words))}
<input type="hidden" name="language" value="${language}">
${settingsPanel('links', `Links, in ${labelLanguage(language)}`, fallback(language, main), links(form, words))}
${settingsPanel('consent-part', `Consent, in ${labelLanguage(language)}`, ABOUT_CONSENT, consent(form, words, versions))}
<button class="btn btn-primary">Save</button>
</form>`,
  }
}

const ABOUT_CONSENT =
  'It follows the service’s text, and candidates agree to both. Which version they agreed to is kept with their submission.'

const fallback = (language: string, main: string): string =>
  language === main
    ? 'Also used for languages that have none of their own.'
    : `Candidates get an empty one in ${labelLanguage(main)}, your language, instead.`

const notOffered = (ctx: Context, language: string): Html =>
  html`<p class="mb-4" id="not-offered">Your organization doesn’t offer ${labelLanguage(language)}: only candidates of assessments in this language get these. Offer it under <a href="${pathOf(ctx, 'settings/languages')}">Languages and times</a>.</p>`

const languages = (address: string, codes: readonly string[], { language, offered }: Pick<Facts, 'language' | 'offered'>): Html =>
  html`<nav id="language" class="tabs tabs-border mb-4" aria-label="Languages">${codes.map(
    (code) =>
      html`<a class="tab ${code === language && 'tab-active'}" aria-current="${code === language ? 'page' : 'false'}" href="${`${address}?language=${code}`}">${labelOfferedLanguage(code, offered)}</a>`,
  )}</nav>`

const links = (form: Form, { imprint, privacy, contact }: PageTexts): Html => html`${field(form, {
  name: 'imprint',
  label: 'Imprint',
  hint: 'A full address, such as https://example.com/imprint.',
  value: imprint,
  optional: true,
})}
${field(form, { name: 'privacy', label: 'Privacy', value: privacy, optional: true })}
${field(form, { name: 'contact', label: 'Contact', hint: 'Or an email address, such as mailto:jobs@example.com.', value: contact, optional: true })}`

const consent = (form: Form, words: PageTexts, versions: Facts['versions']): Html => html`${area(form, {
  name: 'consent',
  label: 'Your consent text',
  hint: 'Empty: none. Line breaks are kept.',
  value: words.consent,
  rows: 8,
})}
${versions.length > 0 && html`<details class="mb-4"><summary class="link text-sm">All versions</summary>${versions.map(version)}</details>`}`

const version = ({ version: number, body, createdAt, language }: Facts['versions'][number]): Html =>
  html`<h3 class="mt-4">Version ${number}, ${time(createdAt)}</h3>
${body === '' ? html`<p class="hint">No text.</p>` : html`<div class="whitespace-pre-line wrap-anywhere" lang="${language}" dir="${directionOf(language)}">${body}</div>`}`
