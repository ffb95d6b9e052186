/** Fills the reader's time zone into the forms that ask for it. */
export function fillZone(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  for (const field of document.querySelectorAll<HTMLInputElement>('input[name=zone]')) field.value = timeZone ?? ''
}
