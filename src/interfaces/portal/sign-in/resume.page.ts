import type { SavedForm } from '../../../domain/sign-in/saved-forms.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { nameOfField } from '../kit/issue-messages.ts'
import type { Page } from '../kit/layout.ts'
import { SAVED_FORM_FIELD } from './unsent-forms.ts'

/** Most fields of a saved form that are shown, and most characters of each. */
const SHOWN_FIELDS = 30
const SHOWN_LENGTH = 200
/** Technical fields, which are not shown. */
const OWN_FIELDS: readonly string[] = ['once', 'seen', 'stood', 'next', 'sealed', 'username']

const shorten = (text: string): string => (text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text)

/** A saved form, which only its button sends. If the response is a file the page stays, so a script then shows that the form was sent. */
export function resumePage({ id, url, fields, isMultipart, page, isIncomplete, isUsed }: SavedForm): Page {
  const returnPath = page ?? PORTAL_PREFIX
  if (isUsed)
    return {
      title: 'This was sent',
      body: html`<p>You have sent this form already.</p>
<p><a class="btn w-full" href="${returnPath}">Continue</a></p>`,
    }
  const shownFields = fields.filter(([name, value]) => value !== '' && !OWN_FIELDS.includes(name))
  return {
    title: 'Send your form',
    body: html`<div data-unsent><p>Nothing was sent yet. Check what you filled in, then send it.</p>
${isIncomplete && html`<p class="hint">Passwords, codes and files are not saved. If one is needed, you’re asked for it again.</p>`}
${
  shownFields.length > 0 &&
  html`<section aria-labelledby="content-heading"><h2 class="mt-4 text-sm font-medium" id="content-heading">What you filled in</h2>
<dl class="mt-2 text-sm">
${shownFields.slice(0, SHOWN_FIELDS).map(([name, value]) => html`<dt class="hint">${nameOfField(name)}</dt><dd class="mb-2 break-words whitespace-pre-wrap" dir="auto">${shorten(value)}</dd>\n`)}</dl></section>`
}
<form method="post" action="${url}" enctype="${isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded'}">
<input type="hidden" name="${SAVED_FORM_FIELD}" value="${id}">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<button class="btn btn-primary w-full" autofocus>Send</button>
</form>
<p class="text-center text-sm"><a href="${returnPath}">Don’t send</a></p></div>
<div data-sent hidden><p role="status">The form was sent.</p>
<p><a class="btn w-full" href="${returnPath}">Continue</a></p></div>`,
  }
}

/** Shown for every form that can't be opened here, so that it doesn't reveal which forms exist. */
export const missingFormPage: Page = {
  title: 'This form can’t be opened here',
  body: html`<p>A saved form opens for one day, in the browser where you filled it in, with the same account. Open this address in that browser, or fill in the form again.</p>
<p><a class="btn w-full" href="${PORTAL_PREFIX}">Go to the portal</a></p>`,
}
