import { createElement } from '../../browser/dom.ts'

const KEY = 'api-key'
const ANSWER = 'bg-base-200 rounded-box mt-2 max-h-96 overflow-auto p-3 text-xs'

/** Sends requests from the reference. The API key is stored in this tab until it is closed. */
export function tryRequests(): void {
  const form = document.querySelector<HTMLFormElement>('form[data-key]')
  const key = form?.querySelector('input')
  if (!form || !key) return
  // sessionStorage: on a shared machine a key must not outlive the tab.
  key.value = sessionStorage.getItem(KEY) ?? ''
  key.addEventListener('input', () => sessionStorage.setItem(KEY, key.value))
  form.addEventListener('reset', () => sessionStorage.removeItem(KEY))
  form.addEventListener('submit', (event) => event.preventDefault())
  for (const requestForm of document.querySelectorAll<HTMLFormElement>('.try form'))
    requestForm.addEventListener('submit', (event) => {
      event.preventDefault()
      send(requestForm, key.value.trim())
    })
}

async function send(form: HTMLFormElement, key: string): Promise<void> {
  const answer = form.querySelector('.answer')!
  answer.replaceChildren('Sending …')
  try {
    const start = performance.now()
    const response = await fetch(addressOf(form), requestOf(form, key))
    const text = await response.text()
    const status = `${response.status} ${response.statusText}, ${Math.round(performance.now() - start)} ms`
    answer.replaceChildren(
      createElement('p', { class: 'font-medium' }, status),
      createElement('pre', { class: ANSWER, tabindex: '0' }, prettyPrint(text)),
    )
  } catch (error) {
    answer.replaceChildren(createElement('p', {}, `The request could not be sent: ${(error as Error).message}`))
  }
}

/** @param place path, query, or header. */
const filledFields = (form: HTMLFormElement, place: string): [string, string][] =>
  ([...form.elements] as HTMLInputElement[])
    .filter((field) => field.dataset.in === place && field.value !== '')
    .map(({ name, value }) => [name, value])

function addressOf(form: HTMLFormElement): string {
  const path = filledFields(form, 'path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    form.dataset.path!,
  )
  const query = new URLSearchParams(filledFields(form, 'query')).toString()
  return query ? `${path}?${query}` : path
}

function requestOf(form: HTMLFormElement, key: string): RequestInit {
  const body = form.querySelector('textarea')?.value
  const headers = Object.fromEntries([...filledFields(form, 'header'), [document.body.dataset.keyHeader!, key]])
  if (body) headers['content-type'] = 'application/json'
  return { method: form.dataset.method!, headers, credentials: 'omit', cache: 'no-store', ...(body && { body }) }
}

function prettyPrint(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
