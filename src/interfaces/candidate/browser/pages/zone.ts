/** Has the forms that ask for it tell in which zone the reader is. */
export function fillZone(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  for (const field of document.querySelectorAll<HTMLInputElement>('input[name=zone]')) field.value = timeZone ?? ''
}
