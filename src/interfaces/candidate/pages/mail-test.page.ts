import { html } from '../../../html/html.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { column, type Page } from '../kit/layout.ts'

/** Target of the links in a test mail. */
export const mailTestPage = (t: CandidateTexts): Page => ({
  language: t.language,
  title: t.text('mail_test.title'),
  body: column(html`<h1>${t.text('mail_test.heading')}</h1>
<p class="mt-3">${t.text('mail_test.text')}</p>`),
})
