const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})

/** Times in the reader's own zone, which is named; the exact one stays in `datetime` and in the title. */
export function localizeTimes(within: ParentNode): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[datetime]'))
    time.textContent = TIME.format(new Date(time.dateTime))
}
