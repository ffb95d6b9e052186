// What a page gains where scripts run; without them it says and does the same.

const SHORT: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' }

/** Times in the reader's own zone; the exact one stays in `datetime` and in the title. */
for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]'))
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, SHORT)

/** `<button hidden data-copy="id">` copies the text of the element with that id. */
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy!)
  if (!source || !navigator.clipboard) continue
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.textContent!.trim())
    button.textContent = 'Copied'
  })
}
