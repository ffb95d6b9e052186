/** The bar above a list whose rows can be ticked: says how many are, and ticks all of the page. */
export function openBulkBar(bar: HTMLElement): void {
  // Not `form.id`: that is what is ticked.
  const form = bar.closest('form')!.getAttribute('id')
  const count = bar.querySelector<HTMLElement>('[data-bulk-count]')!
  const page = bar.querySelector<HTMLElement>('[data-bulk-page]')!
  const wholePage = page.querySelector('input')!
  const boxes = [...document.querySelectorAll<HTMLInputElement>(`input[type=checkbox][name=id][form=${form}]`)]
  const everything = bar.querySelector<HTMLInputElement>('input[name=all]')
  const tell = () => {
    const ticked = boxes.filter(({ checked }) => checked).length
    wholePage.checked = ticked === boxes.length
    wholePage.indeterminate = ticked > 0 && ticked < boxes.length
    const text = everything?.checked ? 'All that match' : `${ticked} selected`
    if (count.textContent !== text) count.textContent = text
  }
  page.hidden = false
  wholePage.addEventListener('change', () => {
    for (const box of boxes) box.checked = wholePage.checked
    tell()
  })
  for (const box of [...boxes, ...(everything ? [everything] : [])]) box.addEventListener('change', tell)
  // A browser that comes back to the page may have them ticked as they were left.
  addEventListener('pageshow', tell)
  tell()
}
