/** What a search can find: a heading of a guide, an operation, an object. @property text what is said there; browsers are not sent it. */
export type Entry = { title: string; where: string; address: string; text?: string }

/** More than this nobody reads. */
const SHOWN = 30

export const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean)

/** The entries that have each of the words: those first that have them all in their titles, those last that have them in their text alone. */
export function findEntries(entries: Entry[], query: string): Entry[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const rankOf = ({ title, where, text = '' }: Entry): number | null => {
    if (has(title)) return 0
    if (has(`${title} ${where}`)) return 1
    return has(`${title} ${where} ${text}`) ? 2 : null
  }
  return [0, 1, 2].flatMap((rank) => entries.filter((entry) => rankOf(entry) === rank)).slice(0, SHOWN)
}
