import { createElement, setText } from '../../browser/dom.ts'

const COPIED_MS = 2_000

/** Adds a copy button to each code block. */
export function addCopyButtons(): void {
  if (!navigator.clipboard) return // exists in secure contexts only
  for (const block of document.querySelectorAll<HTMLElement>('[data-code]')) {
    const button = createElement('button', { type: 'button', class: 'btn btn-xs absolute top-2 right-2' }, 'Copy')
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '')
      setText(button, 'Copied')
      setTimeout(() => setText(button, 'Copy'), COPIED_MS)
    })
    block.append(button)
  }
}
