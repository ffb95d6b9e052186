import type { Pages } from '../pages/follow-pages.ts'
import type { showForm } from '../pages/show-page.ts'
import { rememberTyped } from './try-answer.ts'

/** Inside the editor's frame: shows the question as it is typed. Skips outdated versions. */
export function followEditor({ readAndEnter }: Pages, showTyped: typeof showForm): void {
  if (window.parent === window) return
  const address = `${location.pathname}/question`
  let waiting: string | null = null
  let isShowing = false
  window.addEventListener('message', ({ origin, source, data }) => {
    if (origin !== location.origin || source !== window.parent || typeof data !== 'string') return
    waiting = data
    rememberTyped(data)
    if (!isShowing) void show()
  })
  window.parent.postMessage('preview', location.origin)

  async function show(): Promise<void> {
    isShowing = true
    while (waiting !== null) {
      const typed = new URLSearchParams(waiting)
      waiting = null
      if (await showTyped(address, typed)) await readAndEnter()
    }
    isShowing = false
  }
}
