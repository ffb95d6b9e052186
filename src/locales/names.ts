/** Those that are written from the right. */
const FROM_THE_RIGHT = ['ar', 'fa', 'he', 'ur']

/** In which direction a language is written, for `dir`. */
export const directionOf = (language: string): 'ltr' | 'rtl' =>
  FROM_THE_RIGHT.includes(language.split('-', 1)[0]!) ? 'rtl' : 'ltr'

/** By code, of the languages that there are: to look each up takes longer than the rest of a page. */
const names = new Map<string, string>()

/** What those who speak it call it, such as "Português (Brasil)". */
export function nameOfLanguage(language: string): string {
  const known = names.get(language)
  if (known !== undefined) return known
  const found = new Intl.DisplayNames(language, { type: 'language', languageDisplay: 'standard' }).of(language) ?? language
  const name = found.charAt(0).toLocaleUpperCase(language) + found.slice(1)
  names.set(language, name)
  return name
}
