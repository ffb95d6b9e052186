import { offsetAt } from '../domain/time/zone-rules.ts'
import { type Html, html } from '../html/html.ts'
import { createFormat } from './format.ts'
import { createTexts, FULL_TIME, localeOf, type MessageArgs, type Messages, type Texts } from './texts.ts'

/** Texts of a catalog for pages and mails. */
export type PageTexts<Plain, Marked> = Texts<Plain> & {
  /** HTML. Text values are escaped; Html values and <strong> in messages are kept. */
  html: <Key extends keyof Marked & string>(key: Key, ...given: MessageArgs<Marked, Key>) => Html
  /** Pieces of a message. @param make converts text values and the content of <strong>. */
  pieces: <Key extends keyof Plain & string, Piece>(
    key: Key,
    make: { text: (text: string) => Piece; strong: (within: (string | Piece)[]) => Piece },
    ...given: MessageArgs<Plain, Key>
  ) => (string | Piece)[]
  /** "Friday, 27 November 2026 at 18:00 UTC". */
  time: (at: Date) => string
  /** "1 minute 30 seconds". @param seconds integer. */
  duration: (seconds: number) => string
  /** "3 days". */
  days: (count: number) => string
}

/** @param zone time zone, see domain/time/zones.ts. */
export function createPageTexts<Plain, Marked>(language: string, zone: string, messages: Messages): PageTexts<Plain, Marked> {
  const locale = localeOf(language)
  const format = createFormat(language)
  const times = new Intl.DateTimeFormat(locale, { ...FULL_TIME, timeZone: zone, timeZoneName: 'short' })
  // If PostgreSQL's zone rules differ from Node's, print PostgreSQL's offset instead of the zone's name.
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
      const content = format(messages[key]!, {
        ...values,
        strong: (content: (string | Html)[]) => html`<strong>${content}</strong>`,
      })
      return html`${content as Html | string | (Html | string)[]}`
    },
    pieces: (key, { text, strong }, ...[values]) => {
      const converted = Object.entries({ ...values }).map(([name, value]) => [
        name,
        typeof value === 'string' ? text(value) : value,
      ])
      return [format(messages[key]!, { ...Object.fromEntries(converted), strong })].flat() as (string | ReturnType<typeof text>)[]
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

/** `+05:30`. */
function nameOffset(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

/** Minutes ahead of UTC by Node's zone rules. */
function offsetByNode(zone: string, at: Date): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(at)
  const name = parts.find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
