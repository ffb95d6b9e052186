const AFTER_LAST_CHANGE_MS = 300

/** The form of the question as the editor around the preview has it. */
let typed = ''
let timer: ReturnType<typeof setTimeout> | undefined
let newestRequest = 0

/** Clears the result, which belongs to another question. */
export function rememberTyped(form: string): void {
  typed = form
  newestRequest++
  clearTimeout(timer)
}

/** In a preview: has what an answer would get said above it. Nothing is kept. @param answer its form, as it is saved by a candidate. */
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
