import type { SavedForm } from '../../../domain/access/saved-forms.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { nameOfField } from '../kit/issue-words.ts'
import type { Page } from '../kit/layout.ts'
import { RESUMED } from './parked.ts'

/** So much of what was typed is shown before it is sent: fields, and characters of each. */
const SHOWN_FIELDS = 30
const SHOWN_LENGTH = 200
/** What pages keep in their forms for themselves. */
const OWN_FIELDS: readonly string[] = ['once', 'seen', 'stood', 'next', 'sealed', 'username']

const shorten = (text: string): string => (text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text)

/** A form that was kept, which is sent by its button alone. */
export function resumePage({ id, url, fields, isMultipart, page, isIncomplete, isUsed }: SavedForm): Page {
  const back = page ?? PORTAL_PREFIX
  if (isUsed)
    return {
      title: 'This was sent',
      body: html`<p>What was kept for you has been sent since.</p>
<p><a class="btn w-full" href="${back}">Go on</a></p>`,
    }
  const shown = fields.filter(([name, value]) => value !== '' && !OWN_FIELDS.includes(name))
  return {
    title: 'Nothing was sent yet',
    body: html`<p>You are signed in. What you had filled in was kept: send it now, or leave it.</p>
${isIncomplete && html`<p class="hint">Passwords, codes and files are not kept. Where one is needed, you are asked for it again.</p>`}
${
  shown.length > 0 &&
  html`<details><summary class="text-sm font-medium">What will be sent</summary>
<dl class="mt-2 text-sm">
${shown.slice(0, SHOWN_FIELDS).map(([name, value]) => html`<dt class="hint">${nameOfField(name)}</dt><dd class="mb-2 break-words whitespace-pre-wrap" dir="auto">${shorten(value)}</dd>\n`)}</dl></details>`
}
<form method="post" action="${url}" enctype="${isMultipart ? 'multipart/form-data' : 'application/x-www-form-urlencoded'}">
<input type="hidden" name="${RESUMED}" value="${id}">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<button class="btn btn-primary w-full" autofocus>Send it now</button>
</form>
<p class="text-center text-sm"><a href="${back}">Don’t send it</a></p>`,
  }
}
