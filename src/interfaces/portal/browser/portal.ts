// What a page gains where scripts run; without them it says and does the same.

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** Times in the reader's own zone, which is named; the exact one stays in `datetime` and in the title. */
for (const time of document.querySelectorAll<HTMLTimeElement>('time[datetime]'))
  time.textContent = TIME.format(new Date(time.dateTime))

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

/** A second click, while the answer to the first is on its way, sends nothing twice. */
const CLICKS_TOGETHER_MS = 3_000
for (const form of document.querySelectorAll('form[method="post"]')) {
  let sentAt = Number.NEGATIVE_INFINITY
  form.addEventListener('submit', (event) => {
    if (event.timeStamp - sentAt < CLICKS_TOGETHER_MS) event.preventDefault()
    else sentAt = event.timeStamp
  })
}
