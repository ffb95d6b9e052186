import { setText } from '../../../../http/browser/dom.ts'
import { dragCards } from './drag.ts'
import { saveOrder } from './save-order.ts'

/**
 * Moves questions by dragging, by keys on their handles, and by their menus, without reloading the page. Each order is saved at once, one
 * request at a time; the server refuses it if the order has changed elsewhere.
 *
 * @param list the questions' cards, with the address that saves their order.
 */
export function enableReordering(list: HTMLElement): void {
  const status = document.querySelector<HTMLElement>('[data-order-status]')!
  const cards = () => [...list.querySelectorAll<HTMLElement>('[data-question]')]
  const first = Number(list.querySelector('[data-place]')?.textContent ?? 1)
  const total = () => first - 1 + cards().length
  const order = saveOrder(list, status)

  dragCards(list, afterMove)
  list.addEventListener('keydown', (event) => {
    const handle = (event.target as Element).closest<HTMLElement>('[data-handle]')
    const step = ({ ArrowUp: -1, ArrowDown: 1 } as const)[event.key as 'ArrowUp']
    if (!handle || !step) return
    event.preventDefault()
    moveBy(handle.closest('li')!, step)
    handle.focus()
  })
  list.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const card = form.closest('li')!
    const step = form.dataset.move === 'up' ? -1 : form.dataset.move === 'down' ? 1 : 0
    // At the end of a page the form is submitted, since the neighbor is on another page.
    if (step === 0 || !neighbour(card, step)) return
    event.preventDefault()
    event.stopPropagation()
    moveBy(card, step)
    card.querySelector('details')!.open = false
    card.querySelector('summary')!.focus()
  })
  window.addEventListener('beforeunload', (event) => {
    if (order.isSaving()) event.preventDefault()
  })

  const sibling = (item: HTMLElement, step: number) =>
    (step < 0 ? item.previousElementSibling : item.nextElementSibling) as HTMLElement | null

  /** Next element that a card moves past: a card, the heading of a section, or the far end of another pool. */
  function neighbour(card: HTMLElement, step: number): HTMLElement | null {
    let other = sibling(card, step)
    const pool = other?.dataset.pool
    if (!pool || pool === card.dataset.pool) return other
    for (let next = sibling(other!, step); next?.dataset.pool === pool; next = sibling(next, step)) other = next
    return other
  }

  function moveBy(card: HTMLElement, step: -1 | 1): void {
    const other = neighbour(card, step)
    if (step < 0) other?.before(card)
    else other?.after(card)
    afterMove(card)
  }

  function afterMove(card: HTMLElement): void {
    for (const [i, item] of cards().entries()) number(item, first + i)
    countSections(list)
    card.scrollIntoView({ block: 'nearest' })
    setText(status, `Question moved to position ${first + cards().indexOf(card)} of ${total()}.`)
    void order.save()
  }

  function number(card: HTMLElement, place: number): void {
    for (const element of card.querySelectorAll('[data-place]')) element.textContent = String(place)
    for (const [direction, isPossible] of [
      ['up', place > 1],
      ['down', place < total() || card.nextElementSibling !== null],
    ] as const) {
      const button = card.querySelector<HTMLButtonElement>(`[data-move=${direction}] button`)!
      button.disabled = !isPossible
      button.ariaLabel = `Move ${direction} question ${place}`
    }
  }
}

/** Shows below the heading of each section how many questions follow it. */
function countSections(list: HTMLElement): void {
  const headings = [...list.querySelectorAll<HTMLElement>('[data-section]')]
  for (const heading of headings) {
    let count = 0
    for (let next = heading.nextElementSibling; next?.hasAttribute('data-question'); next = next.nextElementSibling) count++
    heading.querySelector('[data-count]')!.textContent = `${count} question${count === 1 ? '' : 's'}`
  }
}
