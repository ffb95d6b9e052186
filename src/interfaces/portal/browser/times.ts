import { wordAgo } from '../../../domain/time/word-ago.ts'

/** The zone that the reader has set, see kit/layout.ts; else, or where this browser does not know it, the browser's own. */
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
