import { FULL_TIME, localeOf } from '../../../../locales/texts.ts'

/** Placeholder for a time in a page. */
const PLACE = '{}'

/** Shows the page's times in the reader's time zone, which the service does not know. */
export function localizeTimes(): void {
  const format = new Intl.DateTimeFormat(localeOf(document.documentElement.lang), FULL_TIME)
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-own]'))
    time.textContent = time.dataset.own!.replace(PLACE, format.format(new Date(time.dateTime)))
}
