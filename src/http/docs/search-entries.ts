/** Search result: a heading of a guide, an operation, or an object. @property text content; not sent to browsers. */
export type SearchEntry = { title: string; where: string; address: string; text?: string }

const MAX_RESULTS = 30

export const splitWords = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean)

/** Entries that contain every word of the query, ranked: in the title, in title and location, anywhere. */
export function searchEntries(entries: SearchEntry[], query: string): SearchEntry[] {
  const words = splitWords(query)
  if (words.length === 0) return []
  const hasAllWords = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const rankOf = ({ title, where, text = '' }: SearchEntry): number | null => {
    if (hasAllWords(title)) return 0
    if (hasAllWords(`${title} ${where}`)) return 1
    return hasAllWords(`${title} ${where} ${text}`) ? 2 : null
  }
  return [0, 1, 2].flatMap((rank) => entries.filter((entry) => rankOf(entry) === rank)).slice(0, MAX_RESULTS)
}
