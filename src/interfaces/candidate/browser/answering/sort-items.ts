// Loaded only for questions with a list to sort. It imports nothing, so that the script of other pages stays small.

/** @property text announced to screen readers. */
type Item = { row: HTMLElement; select: HTMLSelectElement; text: string }

/**
 * Moves the items of a list to their chosen places, and adds buttons to move each item up and down. The first move gives every item a place.
 */
export function sortItems(fields: HTMLElement): void {
  const list = fields.querySelector('ol')
  const status = fields.querySelector('[role=status]')
  if (!list || !status) return

  const readItems = (): Item[] =>
    [...list.children].map((row) => ({
      row: row as HTMLElement,
      select: row.querySelector('select')!,
      text: (row as HTMLElement).dataset.item!,
    }))

  /** @param place from 0. */
  function move(movedItem: Item, place: number): void {
    const items = readItems().filter(({ row }) => row !== movedItem.row)
    items.splice(place, 0, movedItem)
    for (const [i, { row, select }] of items.entries()) {
      select.selectedIndex = i + 1
      list!.append(row)
    }
    status!.textContent = `${movedItem.text}: ${place + 1}/${items.length}`
  }

  list.addEventListener('input', ({ target }) => {
    const movedItem = readItems().find(({ select }) => select === target)
    if (!movedItem || movedItem.select.value === '') return
    move(movedItem, movedItem.select.selectedIndex - 1)
    movedItem.select.focus() // moving removes the focus
  })

  for (const item of readItems()) {
    const { up: upLabel, down: downLabel } = item.row.dataset
    const createButton = (step: -1 | 1, label: string) => {
      const button = document.createElement('button')
      button.type = 'button'
      button.className = 'btn btn-square'
      button.ariaLabel = label
      button.textContent = step < 0 ? '↑' : '↓'
      button.addEventListener('click', () => {
        const rows = readItems()
        const target = rows.findIndex(({ row }) => row === item.row) + step
        move(item, Math.min(Math.max(target, 0), rows.length - 1))
        fields.dispatchEvent(new Event('input')) // saves it
        button.focus()
      })
      return button
    }
    item.row.append(createButton(-1, upLabel!), createButton(1, downLabel!))
  }

  const items = readItems()
  if (items.some(({ select }) => select.value === '')) return
  for (const { row } of items.toSorted((a, b) => a.select.selectedIndex - b.select.selectedIndex)) list.append(row)
}
