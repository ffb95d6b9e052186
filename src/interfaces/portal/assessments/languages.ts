import { LANGUAGE_CODES } from '../../../domain/assessments/language-codes.ts'

const names = new Intl.DisplayNames(['en'], { type: 'language' })

/** A language's name and its code, since several codes share a name. Invalid codes, which imports may contain, stay as they are. */
export function labelLanguageWithCode(code: string): string {
  try {
    const name = names.of(code)
    return name === undefined || name === code ? code : `${name} (${code})`
  } catch {
    return code
  }
}

const sortedLanguages = LANGUAGE_CODES.map((code): [string, string] => [code, labelLanguageWithCode(code)]).sort(([, a], [, b]) =>
  a.localeCompare(b, 'en'),
)

/** Languages sorted by name. @param keptCodes codes that are already selected, valid or not. */
export const languageOptions = (keptCodes: readonly string[]): [code: string, name: string][] => [
  ...keptCodes
    .filter((code) => code !== '' && !LANGUAGE_CODES.includes(code))
    .map((code): [string, string] => [code, labelLanguageWithCode(code)]),
  ...sortedLanguages,
]
