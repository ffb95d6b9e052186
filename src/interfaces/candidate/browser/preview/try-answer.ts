const AFTER_LAST_CHANGE_MS = 300

/** The editor's form of the question, URL-encoded. */
let typed = ''
let timer: ReturnType<typeof setTimeout> | undefined
let newestRequest = 0

/** Stores the edited question. Ignores pending results, which are of the previous version. */
export function rememberTyped(form: string): void {
  typed = form
  newestRequest++
  clearTimeout(timer)
}

/** Shows above a preview how an answer would be scored. Nothing is stored. @param answer URL-encoded form data. */
export function tryAnswer(answer: string): void {
  const line = document.querySelector<HTMLElement>('[data-trial]')
  if (!line || !document.querySelector('[data-fields]')) return
  clearTimeout(timer)
  timer = setTimeout(() => void ask(line, answer), AFTER_LAST_CHANGE_MS)
}

async function ask(line: HTMLElement, answer: string): Promise<void> {
  const thisRequest = ++newestRequest
  const body = new URLSearchParams([...new URLSearchParams(typed), ...new URLSearchParams(answer)])
  const response = await fetch(`${location.pathname}/try`, { method: 'POST', body }).catch(() => null)
  const page = response?.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : null
  if (page && thisRequest === newestRequest) line.textContent = page.querySelector('[data-trial]')?.textContent ?? ''
}
