/** Those that are written from the right. */
const FROM_THE_RIGHT = ['ar', 'fa', 'he', 'ur']

/** In which direction a language is written, for `dir`. */
export const directionOf = (language: string): 'ltr' | 'rtl' =>
  FROM_THE_RIGHT.includes(language.split('-', 1)[0]!) ? 'rtl' : 'ltr'

/** What those who speak it call it, such as "Português (Brasil)". */
export function nameOfLanguage(language: string): string {
  const name = new Intl.DisplayNames(language, { type: 'language', languageDisplay: 'standard' }).of(language) ?? language
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}
