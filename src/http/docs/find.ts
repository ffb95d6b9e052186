/** What a search can find: a heading of a guide, an operation, an object. */
export type Entry = { title: string; where: string; address: string }

/** More than this nobody reads. */
const SHOWN = 30

/** The entries that have each of the words, those first that have them all in their titles. */
export function findEntries(entries: Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const found = entries.filter(({ title, where }) => has(`${title} ${where}`))
  const [inTitle, elsewhere] = [found.filter(({ title }) => has(title)), found.filter(({ title }) => !has(title))]
  return [...inTitle, ...elsewhere].slice(0, SHOWN)
}
