import { offsetAt } from '../domain/time/zone-rules.ts'
import { type Html, html } from '../html/html.ts'
import { createFormat } from './format.ts'
import { createTexts, FULL_TIME, type Given, localeOf, type Messages, type Texts } from './texts.ts'

/** Says texts on pages and in mails. */
export type PageTexts<Plain, Marked> = Texts<Plain> & {
  /** As markup: what is given is escaped but for markup of our own, and <strong> in a message stays. */
  html: <Key extends keyof Marked & string>(key: Key, ...given: Given<Marked, Key>) => Html
  /** In pieces, for what prints them itself. @param make what becomes of a value that is text, and of what stands between <strong>. */
  pieces: <Key extends keyof Plain & string, Piece>(
    key: Key,
    make: { own: (text: string) => Piece; strong: (within: (string | Piece)[]) => Piece },
    ...given: Given<Plain, Key>
  ) => (string | Piece)[]
  /** "Friday, 27 November 2026 at 18:00 UTC". */
  time: (at: Date) => string
  /** "1 minute 30 seconds". @param seconds whole ones. */
  duration: (seconds: number) => string
  /** "3 days". */
  days: (count: number) => string
}

/** @param zone in which times are said, see domain/time/zones.ts. */
export function createPageTexts<Plain, Marked>(language: string, zone: string, messages: Messages): PageTexts<Plain, Marked> {
  const locale = localeOf(language)
  const format = createFormat(language)
  const times = new Intl.DateTimeFormat(locale, { ...FULL_TIME, timeZone: zone, timeZoneName: 'short' })
  // Node's own rules are used, with the zone's name, unless PostgreSQL has others.
  const formatTime = (at: Date) => {
    const offset = offsetAt(zone, at)
    if (offset === undefined || offset === offsetByNode(zone, at)) return times.format(at)
    return new Intl.DateTimeFormat(locale, { ...FULL_TIME, timeZone: nameOffset(offset), timeZoneName: 'short' }).format(at)
  }
  const measure = (unit: string) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })
  const days = measure('day')
  const minutes = measure('minute')
  const seconds = measure('second')
  const parts = new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' })
  return {
    ...createTexts<Plain>(language, messages),
    html: (key, ...[values]) => {
      const said = format(messages[key]!, {
        ...values,
        strong: (content: (string | Html)[]) => html`<strong>${content}</strong>`,
      })
      return html`${said as Html | string | (Html | string)[]}`
    },
    pieces: (key, { own, strong }, ...[values]) => {
      const given = Object.entries({ ...values }).map(([name, value]) => [name, typeof value === 'string' ? own(value) : value])
      return [format(messages[key]!, { ...Object.fromEntries(given), strong })].flat() as (string | ReturnType<typeof own>)[]
    },
    time: (at) => formatTime(at),
    days: (count) => days.format(count),
    duration: (all) =>
      parts.format([
        ...(all >= 60 ? [minutes.format(Math.floor(all / 60))] : []),
        ...(all % 60 > 0 || all === 0 ? [seconds.format(all % 60)] : []),
      ]),
  }
}

/** As `+05:30`. */
function nameOffset(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

/** Minutes that the zone is ahead of UTC by the rules that come with Node. */
function offsetByNode(zone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(at)
  const name = parts.find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
