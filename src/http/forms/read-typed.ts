import type { QuestionInput } from '../../domain/assessments/edit-questions.ts'

// What was typed into a form, as what it means.

/**
 * What was typed into these fields; the empty text where one is missing. Without NUL, which PostgreSQL does
 * not hold and nobody can type, and with lines that end as everywhere else, not as browsers send them.
 */
export const readFields = <Name extends string>(values: URLSearchParams, ...names: Name[]): Record<Name, string> =>
  Object.fromEntries(
    names.map((name) => [name, (values.get(name) ?? '').replaceAll('\0', '').replaceAll('\r\n', '\n')]),
  ) as Record<Name, string>

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

/** What was typed into the form of a question: for whoever saves it, and for the page that previews it. */
export const readQuestion = (values: URLSearchParams): QuestionInput => {
  const { inputType, responseType, audioUrl, videoUrl, sourceLanguage, targetLanguage } = readFields(
    values,
    'inputType',
    'responseType',
    'audioUrl',
    'videoUrl',
    'sourceLanguage',
    'targetLanguage',
  )
  return {
    inputType,
    responseType,
    script: readText(values, 'script'),
    scriptFormat: values.get('scriptFormat') || 'plain',
    audioUrl: audioUrl.trim(),
    videoUrl: videoUrl.trim(),
    points: readNumber(values, 'points'),
    timeLimit: readDuration(values, 'timeLimit'),
    sourceLanguage: sourceLanguage.trim(),
    targetLanguage: targetLanguage.trim(),
  }
}
