// What a page gains where scripts run; without them it says and does the same.

import { make } from '../../../http/browser/dom.ts'
import { guardForm } from './assessments/guard.ts'
import { keepOrder } from './assessments/order.ts'
import { offerPreview } from './assessments/preview.ts'
import { openBulkBar } from './bulk.ts'
import { confirmInDialogs } from './confirm.ts'
import { offerToKeep } from './keep-text.ts'
import { offerSearch } from './search-options.ts'
import { openSheet } from './sheet.ts'
import { localizeTimes } from './times.ts'

localizeTimes(document)
confirmInDialogs()
offerToKeep()

/** `<button hidden data-copy="id">` copies the text of the element with that id. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy!)
  if (!source || !navigator.clipboard) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.textContent!.trim())
    button.lastChild!.textContent = 'Copied'
  })
}

/** `<button formtarget="a" data-also="b">` has the frame `b` show the same as `a`. */
function showAlso(form: HTMLFormElement, button: HTMLButtonElement): void {
  const copy = make('form', { method: 'post', action: button.formAction, target: button.dataset.also!, hidden: '' })
  for (const [name, value] of new FormData(form, button))
    if (typeof value === 'string') copy.append(make('input', { type: 'hidden', name, value }))
  document.body.append(copy)
  copy.submit()
  copy.remove()
}

/** A second click, while the answer to the first is on its way, sends nothing twice. */
const CLICKS_TOGETHER_MS = 3_000
const sentAt = new WeakMap<HTMLFormElement, number>()
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  const button = event.submitter
  if (button instanceof HTMLButtonElement && button.dataset.also) return showAlso(form, button)
  const before = sentAt.get(form) ?? Number.NEGATIVE_INFINITY
  if (event.timeStamp - before < CLICKS_TOGETHER_MS) event.preventDefault()
  else {
    sentAt.set(form, event.timeStamp)
    if (form.closest('[data-unsent]')) setTimeout(showSent)
  }
})

/** Says on the page of a saved form that it was sent: where the answer is a file, the page stays. */
function showSent(): void {
  for (const part of document.querySelectorAll<HTMLElement>('[data-unsent], [data-sent]')) part.hidden = !part.hidden
}

for (const search of document.querySelectorAll<HTMLInputElement>('[data-search]')) offerSearch(search)
const bulk = document.querySelector<HTMLElement>('[data-bulk]')
if (bulk) openBulkBar(bulk)
const order = document.querySelector<HTMLElement>('[data-order]')
if (order) keepOrder(order)
const guarded = document.querySelector<HTMLFormElement>('form[data-guarded]')
if (guarded) guardForm(guarded)
const previewing = document.querySelector<HTMLAnchorElement>('a[data-preview-link]')
if (guarded && previewing) offerPreview(previewing)

const sheet = document.querySelector<HTMLElement>('[data-sheet]')
if (sheet) openSheet(sheet)
