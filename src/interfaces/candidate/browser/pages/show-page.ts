// Shows the session's pages inside one document, so that recordings continue across questions: forms are sent by fetch, and the response
// replaces the page. The address stays the same, as it does without scripts.

import { RETRYABLE_STATUSES } from '../../../../http/browser/retry.ts'

/** Sends a form, and shows the returned page. @returns false if no page of the service was returned: the shown page then stays. */
export const sendForm = (address: string, fields: URLSearchParams): Promise<boolean> =>
  isShown(fetch(address, { method: 'POST', body: fields, signal: AbortSignal.timeout(TRY_MS) }))

/** As sendForm, without moving the focus, because the user is in the editor. */
export const showForm = (address: string, fields: URLSearchParams): Promise<boolean> =>
  isShown(fetch(address, { method: 'POST', body: fields, signal: AbortSignal.timeout(TRY_MS) }), false)

/** Loads the current page again. @returns as sendForm. */
export const reloadPage = (): Promise<boolean> => isShown(fetch(location.pathname, { signal: AbortSignal.timeout(TRY_MS) }))

const TRY_MS = 20_000

const isShown = (response: Promise<Response>, hasFocus = true): Promise<boolean> =>
  response
    .then((answer) => show(answer, hasFocus))
    .then(
      () => true,
      () => false,
    )

async function show(answer: Response, hasFocus: boolean): Promise<void> {
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const main = next.querySelector('main')
  // The service or its proxy is down: keep the open page and its recordings.
  if (!main || RETRYABLE_STATUSES.includes(answer.status)) throw new Error(`No page, but ${answer.status}`)
  document.title = next.title
  document.querySelector('main')!.replaceWith(document.adoptNode(main))
  // Only a preview's address changes with the page.
  if (answer.redirected) history.replaceState(null, '', new URL(answer.url).pathname)
  if (!hasFocus) return
  const heading = document.querySelector<HTMLElement>('main [role=alert], main h2, main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  window.scrollTo(0, 0)
}

/** The fields of a form, with the button that sends it. */
export function fieldsOf(form: HTMLFormElement, submitter: HTMLElement | null): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
  // Safari before 16.4 ignores the second argument of FormData.
  if (submitter instanceof HTMLButtonElement && submitter.name) fields.append(submitter.name, submitter.value)
  return fields
}
