/** Part of a word: its trigrams from `first` to `last`, counted from 0. */
export type SearchPart = { word: string; first: number; last: number }

/** The index is not asked for grams that more addresses contain, because it reads all of them. */
const MAX_GRAM_SHARE = 0.05
/** Above this share of matching addresses the index saves little: most of the work is to count the matches. */
const MAX_MATCHING_SHARE = 0.1
/** More grams in a row do not find less. */
const MOST_GRAMS = 8

/**
 * The words' parts that are rarest among these addresses.
 *
 * @param words as addressWord folds them. @param addresses sample of the searched addresses. It affects the cost, not the result.
 * @returns an empty list if the index doesn't help: no word has three characters, or the words are too frequent.
 */
export function chooseParts(words: string[], addresses: string[]): SearchPart[] {
  const folded = addresses.map((address) => address.toLowerCase())
  const matching = folded.filter((address) => words.every((word) => address.includes(word)))
  if (matching.length > folded.length * MAX_MATCHING_SHARE) return []
  const parts = words
    .map((word) => choosePart(word, folded))
    .filter((part) => part !== null)
    .sort((a, b) => a.count - b.count)
  return parts.filter(({ count }, i) => i === 0 || count <= folded.length * MAX_GRAM_SHARE)
}

/** The rarest gram of the word with the rare ones beside it. @property count how many of the addresses have the rarest. */
function choosePart(word: string, addresses: string[]): (SearchPart & { count: number }) | null {
  const letters = [...word]
  const counts = letters.slice(2).map((_, i) => {
    const gram = letters.slice(i, i + 3).join('')
    return addresses.filter((address) => address.includes(gram)).length
  })
  if (counts.length === 0) return null
  const count = Math.min(...counts)
  const isRare = (i: number) => i >= 0 && i < counts.length && counts[i]! <= Math.max(count, addresses.length * MAX_GRAM_SHARE)
  let [first, last] = [counts.indexOf(count), counts.indexOf(count)]
  while (last - first + 1 < MOST_GRAMS && isRare(last + 1)) last++
  while (last - first + 1 < MOST_GRAMS && isRare(first - 1)) first--
  return { word, first, last, count }
}
