import type { QuestionInput } from '../../domain/assessments/question-input.ts'

/** Fields of a form, empty if missing. Without NUL, which PostgreSQL can't store, and with `\n` instead of the `\r\n` that browsers send. */
export const readFields = <Name extends string>(values: URLSearchParams, ...names: Name[]): Record<Name, string> =>
  Object.fromEntries(
    names.map((name) => [name, (values.get(name) ?? '').replaceAll('\0', '').replaceAll('\r\n', '\n')]),
  ) as Record<Name, string>

/** A text of several lines. */
export const readText = (values: URLSearchParams, name: string): string =>
  readFields(values, name)[name]!.replaceAll('\r\n', '\n')

/** A whole number. @returns 0 for an empty field, NaN for an invalid one. */
export function readNumber(values: URLSearchParams, name: string): number {
  const text = readFields(values, name)[name]!.trim()
  return /^\d*$/.test(text) ? Number(text) : Number.NaN
}

/**
 * Reads a duration in minutes ("30") or minutes and seconds ("1:30").
 *
 * @returns seconds; 0 (no limit) for an empty field. NaN for an invalid text, and for a typed 0, because it is unclear what it means.
 */
export function readDuration(values: URLSearchParams, name: string): number {
  const text = readFields(values, name)[name]!.trim()
  if (text === '') return 0
  const match = /^(\d*)(?::([0-5]?\d))?$/.exec(text)
  const seconds = match ? Number(match[1]) * 60 + Number(match[2] ?? 0) : 0
  return seconds === 0 ? Number.NaN : seconds
}

/** The reverse of readDuration: "1:30"; empty for 0. */
export function formatDurationField(seconds: number): string {
  const remainder = seconds % 60
  return seconds === 0 ? '' : `${Math.floor(seconds / 60)}${remainder > 0 ? `:${String(remainder).padStart(2, '0')}` : ''}`
}

/** The question form without its rubric, to save or to preview. */
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
    preparationTime: readDuration(values, 'preparationTime'),
    simultaneous: values.get('simultaneous') === 'yes',
    sourceLanguage: sourceLanguage.trim(),
    targetLanguage: targetLanguage.trim(),
    rubric: null,
  }
}
