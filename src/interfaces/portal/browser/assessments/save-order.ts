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
  const entries = () => [...list.querySelectorAll<HTMLElement>('[data-question], [data-section]')]
  const ids = () => entries().map(({ dataset }) => dataset.question ?? `section:${dataset.section}`)
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
      const wantedIds = ids()
      const answer = await send(wantedIds)
      if (!answer.ok) {
        await refuse(answer)
        break
      }
      saved = wantedIds
      // A pool stays together.
      if (answer.status === 202) await showCurrent()
    }
    isSaving = false
    if (status.textContent === NO_CONNECTION) setText(status, 'The order is saved.')
  }

  async function send(wantedIds: string[]): Promise<Response> {
    status.classList.remove('mistake')
    const body = new URLSearchParams({ seen: saved.join(' '), wanted: wantedIds.join(' ') })
    const ask = () => fetch(list.dataset.order!, { method: 'POST', body, redirect: 'manual', keepalive: true })
    const answer = await requestWithRetry(ask, () => {
      setText(status, NO_CONNECTION)
      return true
    })
    return answer!
  }

  async function refuse(answer: Response): Promise<void> {
    status.classList.add('mistake')
    if (answer.status === 401) {
      setText(status, SIGNED_OUT)
      return
    }
    const { mistakes } = answer.status === 422 ? ((await answer.json().catch(() => ({}))) as { mistakes?: string[] }) : {}
    const isShown = await showCurrent()
    setText(
      status,
      isShown ? (mistakes?.join(' ') ?? CHANGED) : 'Not saved: the questions can’t be changed any more. Reload this page.',
    )
  }

  /** Shows the current list. @returns false if there is none any more. */
  async function showCurrent(): Promise<boolean> {
    const answer = await fetch(location.href, { redirect: 'manual' }).catch(() => null)
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : null
    const now = page?.querySelector<HTMLElement>('[data-order]')
    if (now) list.replaceChildren(...now.children)
    showHandles()
    saved = ids()
    return now !== null && now !== undefined
  }

  return { save, isSaving: () => isSaving }
}
