const KEPT = 'docs-language'

/** Selecting the language of one sample selects it for all, also on later pages. */
export function syncSampleLanguage(): void {
  const boxes = [...document.querySelectorAll<HTMLInputElement>('[data-samples] input[type=radio]')]
  const choose = (language: string) => {
    for (const box of boxes.filter(({ value }) => value === language)) box.checked = true
  }
  const storedLanguage = sessionStorage.getItem(KEPT)
  if (storedLanguage) choose(storedLanguage)
  for (const box of boxes)
    box.addEventListener('change', () => {
      const { top } = box.getBoundingClientRect()
      sessionStorage.setItem(KEPT, box.value)
      choose(box.value)
      // Samples above may have changed their height. Scroll so that the chosen one does not move.
      scrollBy({ top: box.getBoundingClientRect().top - top, behavior: 'instant' })
    })
}
