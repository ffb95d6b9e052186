/** The keys n and N follow the page's links to the next and the previous row, `<a hidden data-go="next">`. Grading has keys of its own. */
export function listenToSteps(): void {
  if (document.querySelector('[data-sheet]') || !document.querySelector('a[hidden][data-go]')) return
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return
    const step = event.key === 'n' ? 'next' : event.key === 'N' ? 'previous' : undefined
    if (step) document.querySelector<HTMLElement>(`a[hidden][data-go=${step}]`)?.click()
  })
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]')
