import { LANGUAGE_CODES } from '../../../domain/assessments/language-codes.ts'

const names = new Intl.DisplayNames(['en'], { type: 'language' })

/** A language by its name, and its code, which tells apart what has one name; a code that is none, as it may be imported, by itself. */
export function wordLanguage(code: string): string {
  try {
    const name = names.of(code)
    return name === undefined || name === code ? code : `${name} (${code})`
  } catch {
    return code
  }
}

const all = LANGUAGE_CODES.map((code): [string, string] => [code, wordLanguage(code)]).sort(([, a], [, b]) =>
  a.localeCompare(b, 'en'),
)

/** The languages to choose from, by name. @param kept codes that are chosen already, whatever they are. */
export const languageOptions = (kept: readonly string[]): [code: string, name: string][] => [
  ...kept
    .filter((code) => code !== '' && !LANGUAGE_CODES.includes(code))
    .map((code): [string, string] => [code, wordLanguage(code)]),
  ...all,
]
