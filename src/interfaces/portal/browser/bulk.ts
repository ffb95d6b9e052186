/** Bar above a list with checkboxes: counts the selected rows, and selects all of the page. */
export function setUpBulkBar(bar: HTMLElement): void {
  // `form.id` would be the checkbox named `id`.
  const form = bar.closest('form')!.getAttribute('id')
  const count = bar.querySelector<HTMLElement>('[data-bulk-count]')!
  const page = bar.querySelector<HTMLElement>('[data-bulk-page]')!
  const wholePage = page.querySelector('input')!
  const boxes = [...document.querySelectorAll<HTMLInputElement>(`input[type=checkbox][name=id][form=${form}]`)]
  const allBox = bar.querySelector<HTMLInputElement>('input[name=all]')
  const tell = () => {
    const tickedCount = boxes.filter(({ checked }) => checked).length
    wholePage.checked = tickedCount === boxes.length
    wholePage.indeterminate = tickedCount > 0 && tickedCount < boxes.length
    const text = allBox?.checked ? 'All that match' : `${tickedCount} selected`
    if (count.textContent !== text) count.textContent = text
  }
  page.hidden = false
  wholePage.addEventListener('change', () => {
    for (const box of boxes) box.checked = wholePage.checked
    tell()
  })
  for (const box of [...boxes, ...(allBox ? [allBox] : [])]) box.addEventListener('change', tell)
  // After going back, browsers may restore the checkboxes.
  addEventListener('pageshow', tell)
  tell()
}
