// The pages of the session inside one document, so that what is recorded across questions goes on: forms are sent by fetch, and the page
// that answers takes the place of the one before. The address stays the same, as it does without scripts.

/** Sends a form, and shows the page that answers. @throws TypeError, or DOMException, where there is no connection. */
export const sendForm = async (address: string, fields: URLSearchParams): Promise<void> =>
  show(await fetch(address, { method: 'POST', body: fields, signal: AbortSignal.timeout(TRY_MS) }))

/** Shows the page as it is now. @throws as sendForm. */
export const reloadPage = async (): Promise<void> => show(await fetch(location.pathname, { signal: AbortSignal.timeout(TRY_MS) }))

const TRY_MS = 20_000

async function show(answer: Response): Promise<void> {
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
  document.title = next.title
  document.querySelector('main')!.replaceWith(document.adoptNode(next.querySelector('main')!))
  const heading = document.querySelector<HTMLElement>('main [role=alert], main h2, main h1')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  window.scrollTo(0, 0)
}

/** The fields of a form, with the button that sends it. */
export function fieldsOf(form: HTMLFormElement, submitter: HTMLElement | null): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form, submitter)) if (typeof value === 'string') fields.append(name, value)
  return fields
}
