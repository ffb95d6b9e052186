import { createElement } from '../../../../http/browser/dom.ts'
import { fieldsOf } from './outlook.ts'

const AFTER_LAST_KEY_MS = 400

/**
 * Beside the form of a question shows it as candidates see it, while it is typed: by their own page, in a frame, which is told what is typed.
 *
 * @param link to the page by itself, for where there is no room.
 */
export function offerPreview(link: HTMLAnchorElement): void {
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
  // The form is another one after each time it is shown again.
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
