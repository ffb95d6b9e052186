import { createElement, setNotice, sleep } from '../../../../http/browser/dom.ts'
import { nextEvent } from '../../../../http/browser/retry.ts'
import type { Proctoring } from '../proctoring/proctoring.ts'
import { Refusal } from '../session/session.ts'
import type { Pages } from './follow-pages.ts'
import { fieldsOf, sendForm } from './show-page.ts'

const SEND_AGAIN_MS = 1_000
const SEND_AGAIN_AT_LAST_MS = 8_000
const LAST_PART = /[^/]+$/
/** Forms that lead to content that the candidate has not seen. */
const GOING_ON = /\/(open|open-section|answer|next|go)$/

/** Sends the pages' forms, with retries until a page is returned. @param connection dispatches `back` when the connection is back. */
export function sendForms(pages: Pages, proctoring: Proctoring, connection: EventTarget): void {
  const { player } = pages
  const { t, session } = player
  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    event.preventDefault()
    if (form.ariaBusy !== 'true') void submit(form, event.submitter)
  })

  async function submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
    form.ariaBusy = 'true'
    clearNotSent()
    try {
      await pages.entered()
      if (submitter instanceof HTMLButtonElement && submitter.name === 'language')
        return await chooseLanguage(form, submitter.value)
      if (GOING_ON.test(form.action) && !(await proctoring.mayGoOn(player.state.deadlineAt)))
        return showNotSent(form, t.text('form.unshared'))
      await sendUntilShown(form, submitter)
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'taken_over')) showNotSent(form, t.text('form.unsent'))
    } finally {
      form.ariaBusy = null
    }
  }

  /** Saves the answer, then reloads the page with the script of that language. */
  async function chooseLanguage(form: HTMLFormElement, language: string): Promise<void> {
    const { isRecording, beforeReload } = pages.control()
    if (isRecording?.()) return showNotSent(form, t.text('language.recording'))
    if (beforeReload && !(await beforeReload())) return
    const { proof } = Object.fromEntries(fieldsOf(form, null))
    const isKept = await sendForm(
      form.action.replace(LAST_PART, 'language'),
      new URLSearchParams({ proof: proof ?? '', language }),
    )
    if (isKept) location.reload()
    else showNotSent(form, t.text('form.unsent'))
  }

  /** Retries, because sending one of these forms twice has no second effect. Stops if the clock or another tab has replaced the page. */
  async function sendUntilShown(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
    for (
      let pause = SEND_AGAIN_MS;
      form.isConnected && !session.isTakenOver();
      pause = Math.min(pause * 2, SEND_AGAIN_AT_LAST_MS)
    ) {
      if (!(await pages.control().beforeSending(form, submitter)) || !form.isConnected) return
      const isShown = await sendForm(form.action, fieldsOf(form, submitter))
      session.setReachable(isShown)
      if (isShown) return pages.readAndEnter()
      showNotSent(form, t.text('form.unsent'))
      await Promise.race([sleep(pause), nextEvent(connection, 'back')])
      clearNotSent()
    }
  }
}

function showNotSent(form: HTMLFormElement, text: string): void {
  const line =
    form.querySelector<HTMLElement>('[data-not-sent]') ??
    createElement('p', { class: 'mistake', role: 'alert', 'data-not-sent': true })
  form.append(line)
  setNotice(line, text)
}

export function clearNotSent(): void {
  for (const line of document.querySelectorAll<HTMLElement>('[data-not-sent]')) setNotice(line, '')
}
