const fold = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** Filters the options of a long list by the typed text, which is never sent. */
export function offerSearch(search: HTMLInputElement): void {
  const options = [...search.nextElementSibling!.querySelectorAll('label')].map(
    (option) => [option, fold(option.textContent)] as const,
  )
  search.hidden = false
  search.addEventListener('input', (event) => {
    event.stopPropagation() // the search does not change the form
    for (const [option, text] of options) option.hidden = !text.includes(fold(search.value.trim()))
  })
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault()
  })
}
