const KEPT = 'docs-language'

/** Shows all examples in the language that was chosen for one of them, on the next page too. */
export function followLanguage(): void {
  const boxes = [...document.querySelectorAll<HTMLInputElement>('[data-samples] input[type=radio]')]
  const choose = (language: string) => {
    for (const box of boxes.filter(({ value }) => value === language)) box.checked = true
  }
  const kept = sessionStorage.getItem(KEPT)
  if (kept) choose(kept)
  for (const box of boxes)
    box.addEventListener('change', () => {
      const { top } = box.getBoundingClientRect()
      sessionStorage.setItem(KEPT, box.value)
      choose(box.value)
      // Examples above may be longer now: what was chosen stays where it is.
      scrollBy({ top: box.getBoundingClientRect().top - top, behavior: 'instant' })
    })
}
