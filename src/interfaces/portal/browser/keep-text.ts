/**
 * `<button hidden data-save="id" data-file="name">` downloads the text of the element with that id; `<button hidden data-print>` prints the
 * page.
 */
export function setUpSaveAndPrint(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-save], button[data-print]')) {
    button.hidden = false
    button.addEventListener('click', () => (button.dataset.save ? save(button.dataset.save, button.dataset.file!) : print()))
  }
}

function save(id: string, file: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([document.getElementById(id)!.textContent!.trim(), '\n'], { type: 'text/plain' }))
  link.download = file
  link.click()
  URL.revokeObjectURL(link.href)
}
