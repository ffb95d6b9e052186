import { type Html, html } from '../../html/html.ts'

/** Characters before the match, and in total. */
const BEFORE = 60
const LENGTH = 180

/** Part of a text around the first match, with all matches marked. The beginning if nothing matches. */
export function createExcerpt(text: string, words: string[]): Html {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = places.length > 0 ? Math.min(...places) : 0
  const from = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1
  const to = from + LENGTH >= text.length ? text.length : text.lastIndexOf(' ', from + LENGTH)
  return html`${from > 0 && '… '}${mark(text.slice(from, to), words)}${to < text.length && ' …'}`
}

function mark(text: string, words: string[]): (Html | string)[] {
  if (words.length === 0) return [text]
  const any = new RegExp(`(${words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi')
  return text.split(any).map((part, i) => (i % 2 === 1 ? html`<mark class="bg-warning/20 text-inherit">${part}</mark>` : part))
}
