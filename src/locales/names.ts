/** Cache by code: a lookup takes longer than the rest of a page. */
const names = new Map<string, string>()

/** Name of a language in the language itself, such as "Português (Brasil)". */
export function nameOfLanguage(language: string): string {
  const known = names.get(language)
  if (known !== undefined) return known
  const found = new Intl.DisplayNames(language, { type: 'language', languageDisplay: 'standard' }).of(language) ?? language
  const name = found.charAt(0).toLocaleUpperCase(language) + found.slice(1)
  names.set(language, name)
  return name
}
