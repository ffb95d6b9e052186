// What a page gains where scripts run; without them it says and does the same.

import { guardForm } from './assessments/guard.ts'
import { keepOrder } from './assessments/order.ts'
import { offerPreview } from './assessments/preview.ts'
import { openBulkBar } from './bulk.ts'
import { confirmInDialogs } from './confirm.ts'
import { offerToKeep } from './keep-text.ts'
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

/** A second click, while the answer to the first is on its way, sends nothing twice. */
const CLICKS_TOGETHER_MS = 3_000
const sentAt = new WeakMap<HTMLFormElement, number>()
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  const before = sentAt.get(form) ?? Number.NEGATIVE_INFINITY
  if (event.timeStamp - before < CLICKS_TOGETHER_MS) event.preventDefault()
  else sentAt.set(form, event.timeStamp)
})

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
