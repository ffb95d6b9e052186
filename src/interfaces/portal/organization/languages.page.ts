import type { Context } from '../../../domain/context.ts'
import type { LanguageSettings } from '../../../domain/members/language-settings.ts'
import { TIME_ZONES } from '../../../domain/members/preferences.ts'
import { type Html, html } from '../../../html/html.ts'
import { termsList } from '../../../http/pages/consent-terms.ts'
import { shippedLanguages } from '../../../locales/languages.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import { directionOf } from '../../../locales/texts.ts'
import { checkboxes, choice, type Form, mistakes, seenField } from '../kit/forms.ts'
import { type Page, pathOf, settingsPanel } from '../kit/layout.ts'

type Facts = { ctx: Context; settings: LanguageSettings & { updatedAt: Date }; done: string }

export function languageSettingsPage(form: Form, { ctx, settings, done }: Facts): Page {
  const { codes } = ctx.deps.languages
  return {
    title: 'Languages and times',
    subtitle: 'For candidates’ pages and emails. The portal is in English.',
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    trail: [['Settings', pathOf(ctx, 'settings')]],
    body: html`${mistakes(form)}<form class="space-y-6" method="post" action="${pathOf(ctx, 'settings/languages')}">
${seenField(form, settings)}
${settingsPanel(
  'languages',
  'Languages',
  'A candidate gets the first of these that is set: the assessment’s fixed language, their own choice, the invite’s language, their browser’s, the assessment’s, yours.',
  html`${checkboxes(form, {
    name: 'languagesOffered',
    label: 'Languages for candidates',
    hint: 'Candidates can always choose the languages of their assessment as well. Read the consent texts below before you offer a language.',
    options: codes.map((code) => [code, nameOfLanguage(code)] as const),
    values: settings.languagesOffered,
  })}
${codes.map((code) => consentText(ctx, code))}
${choice(form, {
  name: 'language',
  label: 'Your language',
  hint: 'Used when nothing else is set, and for emails to members.',
  options: codes.map((code): [string, string] => [code, nameOfLanguage(code)]),
  value: settings.language,
})}`,
)}${settingsPanel(
  'times',
  'Times',
  'For candidates whose time zone is not known yet, as in the invitation.',
  choice(form, {
    name: 'timeZone',
    label: 'Time zone',
    options: TIME_ZONES.map((zone): [string, string] => [zone, zone.replaceAll('_', ' ')]),
    value: settings.timeZone,
  }),
)}<button class="btn btn-primary">Save</button>
</form>`,
  }
}

/** Every item that consent can cover, with a sample number of days. */
const EXAMPLE = {
  needs: { camera: true, microphone: true, screen: true, idPhoto: true, facePhoto: true, choice: true, transcription: true },
  keptDays: { answers: 365, proctoring: 90, idPhoto: 30 },
  webcam: 'stills',
  addition: null,
} as const

/** Preview of the consent text with all its items. */
function consentText({ organization, deps }: Context, code: string): Html {
  const t = shippedLanguages.candidate(code, 'UTC')
  return html`<details class="mb-3"><summary class="text-sm">Consent text: ${nameOfLanguage(code)}${!deps.languages.reviewed.includes(code) && ' (no native speaker has checked it yet)'}</summary>
<div class="panel mt-2" lang="${code}" dir="${directionOf(code)}"><h3>${t.text('consent.heading')}</h3>${termsList(t, { webcamMonitoring: true, organization }, EXAMPLE)}<p class="mt-3"><strong>${t.text('consent.agree')}</strong></p></div></details>
`
}
