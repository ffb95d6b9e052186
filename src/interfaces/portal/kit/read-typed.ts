import { readFields } from './forms.ts'

// What was typed into a field, as what it means.

/** A text of several lines as it was typed: forms send each end of a line as two characters. */
export const readText = (values: URLSearchParams, name: string): string =>
  readFields(values, name)[name]!.replaceAll('\r\n', '\n')

/** A whole number; 0 where nothing was typed, NaN for what is none. */
export function readNumber(values: URLSearchParams, name: string): number {
  const text = readFields(values, name)[name]!.trim()
  return /^\d*$/.test(text) ? Number(text) : Number.NaN
}

/**
 * Seconds, from minutes ("30") or minutes and seconds ("1:30"); 0, which is no limit, where nothing was typed. NaN for what is none, and for
 * a typed 0: who types that may mean that there is no time at all.
 */
export function readDuration(values: URLSearchParams, name: string): number {
  const text = readFields(values, name)[name]!.trim()
  if (text === '') return 0
  const [, minutes = '', seconds = '0'] = /^(\d*)(?::([0-5]?\d))?$/.exec(text) ?? [undefined, 'none']
  return Number(minutes) * 60 + Number(seconds) || Number.NaN
}

/** Seconds as readDuration reads them: "1:30"; nothing for 0. */
export function printDuration(seconds: number): string {
  const rest = seconds % 60
  return seconds === 0 ? '' : `${Math.floor(seconds / 60)}${rest > 0 ? `:${String(rest).padStart(2, '0')}` : ''}`
}
