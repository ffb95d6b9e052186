/** Cache by language and code: a lookup takes longer than the rest of a page. */
const names = new Map<string, string>()

/** Name of a language in the language itself, such as "Português (Brasil)". */
export function nameOfLanguage(language: string): string {
  const name = nameLanguageIn(language, language)
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}

/**
 * Name of a language in another one, as within a sentence: "espagnol".
 *
 * @param code invalid codes, which imports may contain, stay as they are.
 */
export function nameLanguageIn(language: string, code: string): string {
  const key = `${language} ${code}`
  const known = names.get(key)
  if (known !== undefined) return known
  const name = findName(language, code)
  names.set(key, name)
  return name
}

function findName(language: string, code: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'language', languageDisplay: 'standard' }).of(code) ?? code
  } catch {
    return code
  }
}
