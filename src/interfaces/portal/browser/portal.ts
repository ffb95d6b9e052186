// Progressive enhancement: every page also works without these scripts.

import { createElement } from '../../../http/browser/dom.ts'
import { guardForm } from './assessments/guard.ts'
import { enableReordering } from './assessments/order.ts'
import { showPreview } from './assessments/preview.ts'
import { setUpBulkBar } from './bulk.ts'
import { confirmInDialogs } from './confirm.ts'
import { playInStep } from './in-step.ts'
import { setUpSaveAndPrint } from './keep-text.ts'
import { offerSearch } from './search-options.ts'
import { openGradingView } from './sheet.ts'
import { listenToSteps } from './step-keys.ts'
import { localizeTimes } from './times.ts'
import { followTranscripts } from './transcripts.ts'

localizeTimes(document)
followTranscripts(document)
playInStep(document)
confirmInDialogs()
listenToSteps()
setUpSaveAndPrint()

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

/** `<button formtarget="a" data-also="b">` also submits the form into frame `b`. */
function submitToSecondFrame(form: HTMLFormElement, button: HTMLButtonElement): void {
  const copy = createElement('form', { method: 'post', action: button.formAction, target: button.dataset.also!, hidden: '' })
  for (const [name, value] of new FormData(form, button))
    if (typeof value === 'string') copy.append(createElement('input', { type: 'hidden', name, value }))
  document.body.append(copy)
  copy.submit()
  copy.remove()
}

/** Ignores a second click while the first request is on its way. */
const DOUBLE_SUBMIT_MS = 3_000
const sentAt = new WeakMap<HTMLFormElement, number>()
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  const button = event.submitter
  if (button instanceof HTMLButtonElement && button.dataset.also) return submitToSecondFrame(form, button)
  const before = sentAt.get(form) ?? Number.NEGATIVE_INFINITY
  if (event.timeStamp - before < DOUBLE_SUBMIT_MS) event.preventDefault()
  else {
    sentAt.set(form, event.timeStamp)
    if (form.closest('[data-unsent]')) setTimeout(showSent)
  }
})

/** If the response is a file the page stays, so it says that the form was sent. */
function showSent(): void {
  for (const part of document.querySelectorAll<HTMLElement>('[data-unsent], [data-sent]')) part.hidden = !part.hidden
}

for (const search of document.querySelectorAll<HTMLInputElement>('[data-search]')) offerSearch(search)
const bulk = document.querySelector<HTMLElement>('[data-bulk]')
if (bulk) setUpBulkBar(bulk)
const order = document.querySelector<HTMLElement>('[data-order]')
if (order) enableReordering(order)
const guarded = document.querySelector<HTMLFormElement>('form[data-guarded]')
if (guarded) guardForm(guarded)
const previewing = document.querySelector<HTMLAnchorElement>('a[data-preview-link]')
if (guarded && previewing) showPreview(previewing)

const sheet = document.querySelector<HTMLElement>('[data-sheet]')
if (sheet) openGradingView(sheet)
