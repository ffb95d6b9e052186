// Folding of texts for comparison. PostgreSQL's lower() and ILIKE depend on its locale and fold differently from JavaScript, so key columns
// are computed here and stored.

/**
 * Full case folding (Unicode 3.13): ß equals ss, ς equals σ, and İ equals i with a dot above. JavaScript has no case folding, but lower case of
 * upper case gives the same, except for ı: it is no form of i.
 */
const foldCase = (text: string): string =>
  text.replace(/[^ı]+/g, (part) => part.toLowerCase().toUpperCase().toLowerCase()).replaceAll('ς', 'σ')

/** Equal for texts that differ in letter case or Unicode normalization only. */
export const caseKey = (text: string): string => foldCase(text.normalize('NFD')).normalize('NFC')

/** Letters that carry a stroke, or lack a dot, instead of a combining mark. */
const STROKES: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i', Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T' }
const STROKED = new RegExp(`[${Object.keys(STROKES).join('')}]`, 'g')

/**
 * Removes the accents of Latin and Greek letters. In other scripts a mark is a part of the letter; in Cyrillic only ё becomes е, because й is
 * a letter of its own.
 */
export const withoutAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}])\p{M}+/gu, '$1')
    .replace(/([её])\u0308/giu, '$1')
    .replace(STROKED, (letter) => STROKES[letter]!)
    .normalize('NFC')

/** Equal for texts that differ in letter case, Unicode normalization, or accents only. */
export const searchKey = (text: string): string => withoutAccents(caseKey(text))

/** The key columns of a row with a name. */
export const nameKeys = (name: string): { nameKey: string; nameSearch: string } => ({
  nameKey: caseKey(name),
  nameSearch: searchKey(name),
})

/** The key columns of a person's account. */
export const userKeys = ({ firstName, lastName, email }: { firstName: string; lastName: string; email: string }) => ({
  firstNameKey: caseKey(firstName),
  lastNameKey: caseKey(lastName),
  // No word of a search contains the line break.
  searchKey: searchKey(`${firstName}\n${lastName}\n${email}`),
})

/** Characters of a word that are indexed and searched; further ones are ignored. */
const MAX_WORD_LENGTH = 100

/** The words of a text as they are indexed and searched: letters with their marks, and digits. */
export const searchWords = (text: string): string[] => [
  ...new Set((searchKey(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) => word.slice(0, MAX_WORD_LENGTH))),
]
