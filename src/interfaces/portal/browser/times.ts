import { formatAgo } from '../../../domain/time/format-ago.ts'

/** The member's time zone, see kit/layout.ts; the browser's own if there is none, or if the browser does not know it. */
const timeZone = knownZone(document.documentElement.dataset.zone)

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
  timeZone,
})
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone })

function knownZone(zone: string | undefined): string | undefined {
  if (!zone) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/**
 * Shows times in the reader's time zone, with its name; `datetime` keeps the exact time. Relative times (`data-ago`) have the time in their
 * title.
 */
export function localizeTimes(root: ParentNode): void {
  const now = new Date()
  for (const time of root.querySelectorAll<HTMLTimeElement>('time[datetime]')) {
    const date = new Date(time.dateTime)
    const isAgo = time.dataset.ago !== undefined
    if (isAgo) time.title = TIME.format(date)
    time.textContent = isAgo ? (formatAgo(date, now) ?? DAY.format(date)) : TIME.format(date)
  }
}
