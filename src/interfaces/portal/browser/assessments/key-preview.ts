const AFTER_LAST_CHANGE_MS = 600

/** Updates the preview of the answer key, such as example answers, while it is typed: the server renders the form without changing a row. */
export function updateKeyPreview(form: HTMLFormElement): void {
  if (!form.querySelector('[data-outlook]')) return
  let timer: ReturnType<typeof setTimeout> | undefined
  let newestRequest = 0
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(ask, AFTER_LAST_CHANGE_MS)
  })

  async function ask(): Promise<void> {
    const thisRequest = ++newestRequest
    const body = fieldsOf(form)
    body.set('rows', 'look')
    const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' }).catch(() => null)
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
    const next = page?.querySelector('[data-outlook]')
    const current = form.querySelector('[data-outlook]')
    // Screen readers would read an unchanged live region again.
    if (next && current && thisRequest === newestRequest && next.innerHTML !== current.innerHTML)
      current.replaceChildren(...next.childNodes)
  }
}

/** The form's fields, and the button that sends it. */
export function fieldsOf(form: HTMLFormElement, submitter: HTMLElement | null = null): URLSearchParams {
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
  // Safari before 16.4 ignores the second argument of FormData.
  if (submitter instanceof HTMLButtonElement && submitter.name) fields.append(submitter.name, submitter.value)
  return fields
}
