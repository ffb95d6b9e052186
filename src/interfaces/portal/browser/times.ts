import { wordAgo } from '../../../domain/values/word-ago.ts'

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
})
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })

/**
 * Times in the reader's own zone, which is named; the exact one stays in `datetime`. Of one that is said as it is from now (`data-ago`),
 * the title says the time.
 */
export function localizeTimes(within: ParentNode): void {
  const now = new Date()
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const at = new Date(time.dateTime)
    const isAgo = time.dataset.ago !== undefined
    if (isAgo) time.title = TIME.format(at)
    time.textContent = isAgo ? (wordAgo(at, now) ?? DAY.format(at)) : TIME.format(at)
  }
}
