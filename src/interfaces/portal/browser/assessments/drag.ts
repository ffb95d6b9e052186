/** Distance from the edge of the window at which dragging scrolls the page, and the step per frame, both in pixels. */
const EDGE = 80
const SCROLLED = 12

/**
 * Moves a list's cards by dragging their handles, with a mouse, a pen, or a finger. Escape puts the card back. The dragged card keeps its
 * place in the document and the others move around it: browsers release the pointer from an element that moves in the document.
 *
 * @param dropped called when a card was dropped in a new place.
 */
export function dragCards(list: HTMLElement, dropped: (card: HTMLElement) => void): void {
  list.addEventListener('pointerdown', (event) => {
    const handle = (event.target as Element).closest<HTMLElement>('[data-handle]')
    const card = handle?.closest('li')
    if (handle && card && event.button === 0) follow(card, event)
  })

  function follow(card: HTMLElement, { clientY, pointerId }: PointerEvent): void {
    const dragging = new AbortController()
    const { signal } = dragging
    const before = card.nextElementSibling
    const grabOffset = clientY + window.scrollY - card.offsetTop
    let y = clientY
    card.classList.add('z-20', 'shadow-lg')

    function place(): void {
      const top = y + window.scrollY - grabOffset
      const middle = top + card.offsetHeight / 2
      const middleOf = (other: HTMLElement) => other.offsetTop + other.offsetHeight / 2
      for (let next = card.nextElementSibling; next && middle > middleOf(next as HTMLElement); next = card.nextElementSibling)
        card.before(next)
      for (
        let last = card.previousElementSibling;
        last && middle < middleOf(last as HTMLElement);
        last = card.previousElementSibling
      )
        card.after(last)
      card.style.transform = `translateY(${top - card.offsetTop}px)`
    }

    function scroll(): void {
      if (signal.aborted) return
      const step = y < EDGE ? -SCROLLED : y > window.innerHeight - EDGE ? SCROLLED : 0
      if (step !== 0) {
        window.scrollBy(0, step)
        place()
      }
      requestAnimationFrame(scroll)
    }

    function end(isDropped: boolean): void {
      dragging.abort()
      if (!isDropped) putBack()
      card.style.transform = ''
      card.classList.remove('z-20', 'shadow-lg')
      if (isDropped) dropped(card)
    }

    function putBack(): void {
      while (card.nextElementSibling !== before && card.nextElementSibling) card.before(card.nextElementSibling)
      while (card.nextElementSibling !== before && card.previousElementSibling) card.after(card.previousElementSibling)
    }

    const forPointer = (act: (event: PointerEvent) => void) => (event: PointerEvent) => {
      if (event.pointerId === pointerId) act(event)
    }
    const move = forPointer((event) => {
      y = event.clientY
      place()
    })
    // A native drag of the link that covers the card would cancel the pointer events.
    document.addEventListener('dragstart', (event) => event.preventDefault(), { signal })
    document.addEventListener('pointermove', move, { signal })
    document.addEventListener(
      'pointerup',
      forPointer(() => end(true)),
      { signal },
    )
    document.addEventListener(
      'pointercancel',
      forPointer(() => end(false)),
      { signal },
    )
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && end(false), { signal })
    requestAnimationFrame(scroll)
  }
}
