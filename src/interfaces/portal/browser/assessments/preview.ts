import { createElement } from '../../../../http/browser/dom.ts'
import { fieldsOf } from './key-preview.ts'

const AFTER_LAST_KEY_MS = 400

/**
 * Shows a question as candidates see it, in a frame beside its form, and updates it while it is typed.
 *
 * @param link opens the preview as a page of its own on small screens.
 */
export function showPreview(link: HTMLAnchorElement): void {
  const place = document.querySelector<HTMLElement>('[data-preview-place]')!
  let frame: HTMLIFrameElement | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  link.addEventListener('click', (event) => {
    if (place.parentElement!.offsetParent === null) return // a phone
    event.preventDefault()
    if (frame) frame.remove()
    frame = frame
      ? null
      : createElement('iframe', {
          src: link.href,
          title: 'Preview',
          class: 'border-base-300 rounded-box h-[32rem] w-full border',
        })
    if (frame) place.append(frame)
    link.ariaExpanded = String(frame !== null)
  })
  window.addEventListener('message', ({ origin, source }) => {
    if (origin === location.origin && frame && source === frame.contentWindow) tell()
  })
  // The element is replaced whenever the form is shown again.
  const form = () => document.querySelector<HTMLFormElement>('form[data-guarded]')
  document.addEventListener('input', ({ target }) => {
    if (!form()?.contains(target as Node)) return
    clearTimeout(timer)
    timer = setTimeout(tell, AFTER_LAST_KEY_MS)
  })

  function tell(): void {
    const typed = form()
    if (typed) frame?.contentWindow?.postMessage(fieldsOf(typed).toString(), location.origin)
  }
}
