import { FULL_TIME, localeOf } from '../../../../locales/texts.ts'

/** Placeholder for a time in a page. */
const PLACE = '{}'

/** Writes the times of the page as the clock of who reads it has them: the service does not know where that is. */
export function wordTimes(): void {
  const format = new Intl.DateTimeFormat(localeOf(document.documentElement.lang), FULL_TIME)
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-own]'))
    time.textContent = time.dataset.own!.replace(PLACE, format.format(new Date(time.dateTime)))
}
