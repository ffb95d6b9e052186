import { setText } from '../../../../http/browser/dom.ts'
import { requestWithRetry } from '../../../../http/browser/retry.ts'

const SIGNED_OUT = 'Not saved: you are signed out. Sign in in another window, then move the question again.'
const NO_CONNECTION = 'No connection: the order is not saved yet. Saving is retried automatically.'
const CHANGED =
  'The questions were changed in another window or by somebody else. Your order was not saved: this is the current one.'

/**
 * Saves the order of the cards, one request at a time. A retry whose first try has arrived is recognized by the server.
 *
 * @param status element that shows the state of saving.
 */
export function saveOrder(list: HTMLElement, status: HTMLElement) {
  const ids = () => [...list.querySelectorAll<HTMLElement>('[data-question]')].map(({ dataset }) => dataset.question!)
  let saved = ids()
  let isSaving = false
  showHandles()

  function showHandles(): void {
    for (const handle of list.querySelectorAll('[data-handle]')) handle.classList.remove('invisible')
  }

  async function save(): Promise<void> {
    if (isSaving) return
    isSaving = true
    while (saved.join() !== ids().join()) {
      const wanted = ids()
      const answer = await send(wanted)
      if (!answer.ok) {
        await refuse(answer)
        break
      }
      saved = wanted
    }
    isSaving = false
    if (status.textContent === NO_CONNECTION) setText(status, 'The order is saved.')
  }

  async function send(wanted: string[]): Promise<Response> {
    status.classList.remove('mistake')
    const body = new URLSearchParams({ seen: saved.join(' '), wanted: wanted.join(' ') })
    const ask = () => fetch(list.dataset.order!, { method: 'POST', body, redirect: 'manual', keepalive: true })
    const answer = await requestWithRetry(ask, () => {
      setText(status, NO_CONNECTION)
      return true
    })
    return answer!
  }

  /** Shows the current list. */
  async function refuse({ status: code }: Response): Promise<void> {
    status.classList.add('mistake')
    if (code === 401) {
      setText(status, SIGNED_OUT)
      return
    }
    const answer = await fetch(location.href, { redirect: 'manual' }).catch(() => null)
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
    const now = page?.querySelector<HTMLElement>('[data-order]')
    if (now) list.replaceChildren(...now.children)
    showHandles()
    saved = ids()
    setText(status, now ? CHANGED : 'Not saved: the questions can’t be changed any more. Reload this page.')
  }

  return { save, isSaving: () => isSaving }
}
