import { createElement, setNotice } from '../../../../http/browser/dom.ts'
import { requestWithRetry } from '../../../../http/browser/retry.ts'
import { fieldsOf, updateKeyPreview } from './key-preview.ts'
import { addMediaControls } from './question-media.ts'

const TRY_MS = 20_000
/** Uploads of a file get more time. */
const TRY_FILE_MS = 120_000
const NO_CONNECTION = 'No connection: not saved yet. Keep this page open; saving is retried automatically.'
const SIGNED_OUT = 'Not saved: you are signed out. Sign in in another window, then save again here.'
const NOT_TAKEN = 'Not saved: something went wrong. What you have typed is still here.'

/**
 * Protects what is typed into a form: leaving the page asks first, and saving is retried until the server answers. Retries send the same
 * body, so that the server recognizes them.
 *
 * @param isRefused true if the page shows the mistakes of a form that was sent.
 */
export function guardForm(form: HTMLFormElement, isRefused = false): void {
  updateKeyPreview(form)
  addMediaControls(form)
  const line = createElement('p', { class: 'mistake', role: 'alert', hidden: true })
  form.append(line)
  const typed = () => fieldsOf(form).toString()
  let asLoaded = isRefused ? '' : typed()

  window.addEventListener('beforeunload', (event) => {
    if (form.isConnected && typed() !== asLoaded) event.preventDefault()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    event.stopPropagation()
    if (form.inert) return
    const tooLarge = findTooLarge(form)
    if (tooLarge) setNotice(line, tooLarge)
    else void send(hasFile(form) ? withFiles(form, event.submitter) : fieldsOf(form, event.submitter))
  })

  async function send(body: URLSearchParams | FormData): Promise<void> {
    const focused = document.activeElement as HTMLElement | null
    form.inert = true
    form.ariaBusy = 'true'
    const ask = () =>
      fetch(form.action, { method: 'POST', body, signal: AbortSignal.timeout(body instanceof FormData ? TRY_FILE_MS : TRY_MS) })
    const answer = await requestWithRetry(ask, () => {
      setNotice(line, NO_CONNECTION)
      return true
    })
    const leadsTo = new URL(answer!.url)
    if (answer!.redirected && answer!.ok && !leadsTo.pathname.startsWith('/portal/sign-in')) {
      asLoaded = typed()
      location.assign(answer!.url)
      return
    }
    form.inert = false
    form.ariaBusy = null
    // Refused, or a row was added or removed.
    const isForm = answer!.status === 422 || (answer!.ok && !answer!.redirected)
    const isSignedOut = answer!.status === 401 || answer!.redirected
    if (isForm) showAgain(await answer!.text())
    else setNotice(line, isSignedOut ? SIGNED_OUT : NOT_TAKEN)
    if (form.isConnected) focused?.focus()
  }

  /** Replaces the form by the one in the response, with its mistakes. */
  function showAgain(text: string): void {
    const page = new DOMParser().parseFromString(text, 'text/html')
    const side = form.closest('[data-side]')
    const next = page.querySelector('[data-side]')
    if (!side || !next) {
      setNotice(line, NOT_TAKEN)
      return
    }
    document.title = page.title
    side.replaceWith(document.adoptNode(next))
    const newForm = next.querySelector<HTMLFormElement>('form[data-guarded]')
    if (newForm) guardForm(newForm, true)
    next.querySelector<HTMLElement>('[autofocus]')?.focus()
    newForm?.dispatchEvent(new Event('input', { bubbles: true }))
  }
}

const filesOf = (form: HTMLFormElement): HTMLInputElement[] => [
  ...form.querySelectorAll<HTMLInputElement>('input[type=file][name]'),
]

const hasFile = (form: HTMLFormElement): boolean => filesOf(form).some(({ files }) => files!.length > 0)

/** Message about a file that exceeds the service's limit. */
function findTooLarge(form: HTMLFormElement): string | undefined {
  const input = filesOf(form).find(({ dataset, files }) => (files![0]?.size ?? 0) > Number(dataset.mostBytes))
  return input && `Not saved: this file is larger than ${Number(input.dataset.mostBytes) / 1e6} MB. Choose a smaller one.`
}

/** All fields, with the button that sends the form. */
function withFiles(form: HTMLFormElement, submitter: HTMLElement | null): FormData {
  const fields = new FormData(form)
  if (submitter instanceof HTMLButtonElement && submitter.name) fields.append(submitter.name, submitter.value)
  return fields
}
