import type { BrowserTexts } from '../../../../locales/texts.ts'

/** Message about a failed recording. @param code error code of the service or the outbox. */
export function formatFailure(t: BrowserTexts, code: string): string {
  const knownCode = FAILURES.find((failure) => failure === code)
  return t.text(knownCode ? `failed.${knownCode}` : 'failed.unknown')
}

const FAILURES = [
  'no_attempts_left',
  'closed',
  'submitted',
  'unreachable',
  'quota',
  'too_many',
  'too_big',
  'empty',
  'parts_missing',
  'not_media',
  'other_browser',
  'not_continued',
] as const
