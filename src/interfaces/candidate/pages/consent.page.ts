import { hash } from 'node:crypto'
import { consentScope } from '../../../domain/submissions/needs.ts'
import { CONSENT_VERSION } from '../../../domain/submissions/taking/record-consent.ts'
import { type Html, html, toText } from '../../../html/html.ts'
import { type ConsentTerms, termsList } from '../../../http/pages/consent-terms.ts'
import { form, hidden, type View } from '../kit/layout.ts'

/** Requirements, recordings and their purpose, viewers, and retention. */
export const termsInWords = ({ t, invite }: View, terms: ConsentTerms): Html =>
  html`<h2 class="mt-6 mb-2">${t.text('terms.heading')}</h2>\n${termsList(t, invite, terms)}`

/** Identifies the version of the consent text, so that an edited text is asked for again. */
export const hashOfTerms = ({ t, invite }: View, terms: ConsentTerms): Uint8Array<ArrayBuffer> =>
  new Uint8Array(hash('sha256', toText(termsList(t, invite, terms)), 'buffer'))

/** Version of the organization's consent text that the form agrees to. */
export const consentTextVersion = ({ addition }: ConsentTerms): string =>
  addition ? `${addition.language} ${addition.version}` : ''

/** The terms, and the button to agree to them. */
export function consentForm(view: View, terms: ConsentTerms): Html {
  const { t } = view
  return html`<section class="panel mt-6 space-y-4" aria-labelledby="consent-heading">
<h2 id="consent-heading">${t.text('consent.heading')}</h2>
${termsList(t, view.invite, terms)}
${form(
  view,
  'consent',
  html`${hidden('version', CONSENT_VERSION)}
${hidden('media', consentScope(terms.needs).join(' '))}
${hidden('language', t.language)}
${terms.addition && hidden('own', consentTextVersion(terms))}
${hidden('zone', '')}
<button type="submit" class="btn btn-primary btn-lg">${t.text('consent.agree')}</button>`,
)}</section>`
}
