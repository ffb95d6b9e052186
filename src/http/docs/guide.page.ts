import { type Html, html } from '../../html/html.ts'
import type { Guide, GuideGroup } from './guides.ts'
import { DOCS_PREFIX, type MenuGroup, type MenuItem, pageHead, TITLE } from './layout.ts'
import { type SearchEntry, splitWords } from './search-entries.ts'

export const guideBody = ({ title, body }: Guide, next: Guide | undefined): Html => html`<article class="max-w-3xl">
${pageHead(title)}${body}</article>
${next && html`<p class="border-base-300 mt-12 max-w-3xl border-t pt-6">Next: <a class="link link-primary font-medium" href="${next.address}">${next.title}</a></p>\n`}`

export const contentsOf = ({ headings }: Guide): MenuItem[] =>
  headings.filter(({ level }) => level === 2).map(({ text, anchor }) => ({ label: text, address: `#${anchor}` }))

type Reference = { title: string; address: string; version: string; lead: string }

/** Home page of the documentation. */
export const homeBody = (groups: GuideGroup[], references: Reference[]): Html => html`${pageHead(
  TITLE,
  'Invite candidates to assessments from your own system, follow their progress, and read the results.',
)}<div class="mt-6 flex flex-wrap gap-3"><a class="btn btn-primary" href="${groups[0]!.guides[0]!.address}">${groups[0]!.guides[0]!.title}</a></div>
<div class="mt-8 grid gap-4 md:grid-cols-2">
${references.map(
  ({ title, address, version, lead }) =>
    html`<section class="panel"><h2 class="text-lg"><a class="hover:underline" href="${address}">${title}</a></h2><p class="quiet mt-1 text-sm">${lead}</p>
<ul class="mt-3 flex flex-wrap gap-x-5 gap-y-1 text-sm"><li><a href="${address}">Reference</a></li><li><a href="${address}/openapi.json" download="${downloadName(address, 'openapi')}.json">OpenAPI ${version}</a> (<a href="${address}/openapi.yaml" download="${downloadName(address, 'openapi')}.yaml">YAML</a>)</li><li>Collections for <a href="${address}/bruno.json">Bruno</a> and <a href="${address}/postman.json">Postman</a></li></ul></section>\n`,
)}</div>
${groups.map(
  ({ name, guides }) =>
    html`<section class="mt-10"><h2 class="text-xl">${name}</h2>
<ul class="mt-3 grid gap-x-8 gap-y-4 md:grid-cols-2">${guides.map(({ title, lead, address }) => html`<li><a class="link link-primary font-medium" href="${address}">${title}</a><p class="quiet line-clamp-2 text-sm">${lead}</p></li>\n`)}</ul></section>\n`,
)}`

const downloadName = (address: string, kind: string): string => `${address.slice(DOCS_PREFIX.length + 1)}-${kind}`

/** Search results for browsers without JavaScript. */
export const searchBody = (query: string, entries: SearchEntry[]): Html =>
  html`${pageHead(
    query === '' ? 'Search' : `Search: ${query}`,
    query === ''
      ? 'Enter words of the guides or of the reference.'
      : `${entries.length === 0 ? 'Nothing' : entries.length} found in the guides and the reference.`,
  )}${entryList(entries, splitWords(query))}`

/** @param suggestions search results for the last segment of the address. */
export const notFoundBody = (suggestions: SearchEntry[]): Html => html`${pageHead(
  'Page not found',
  'The documentation has no page at this address. Search above, or start at the first page.',
)}<p class="mt-6"><a class="btn btn-primary" href="${DOCS_PREFIX}">Go to the documentation</a></p>
${suggestions.length > 0 && html`<h2 class="mt-8 text-lg">You may be looking for</h2>${entryList(suggestions, [])}`}`

/** @param words marked in an excerpt of each entry; without words there are no excerpts. */
const entryList = (
  entries: SearchEntry[],
  words: string[],
): Html => html`<ul class="divide-base-300 mt-6 max-w-3xl divide-y">${entries.map(
  ({ title, where, address, text }) =>
    html`<li class="py-3"><a class="link link-primary font-medium" href="${address}">${title}</a><p class="quiet text-sm">${where}</p>${words.length > 0 && text && html`<p class="mt-1 text-sm">${createExcerpt(text, words)}</p>`}</li>\n`,
)}</ul>
`

export const menuOfGuides = (groups: GuideGroup[]): MenuGroup[] =>
  groups.map(({ name, guides }) => ({
    name,
    isReference: false,
    items: guides.map(({ title, address }) => ({ label: title, address })),
  }))

/** Search entries of the guides and their headings. */
export const entriesOfGuides = (groups: GuideGroup[]): SearchEntry[] =>
  groups.flatMap(({ name, guides }) =>
    guides.flatMap(({ title, address, introduction, headings }) => [
      { title, where: name, address, text: introduction },
      ...headings.map(({ text, anchor, content }) => ({
        title: text,
        where: title,
        address: `${address}#${anchor}`,
        text: content,
      })),
    ]),
  )

/** Characters before the match, and in total. */
const BEFORE = 60
const LENGTH = 180

/** Part of a text around the first match, with all matches marked. The beginning if nothing matches. */
function createExcerpt(text: string, words: string[]): Html {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0)
  const first = places.length > 0 ? Math.min(...places) : 0
  const start = first <= BEFORE ? 0 : text.indexOf(' ', first - BEFORE) + 1
  const end = start + LENGTH >= text.length ? text.length : text.lastIndexOf(' ', start + LENGTH)
  return html`${start > 0 && '… '}${mark(text.slice(start, end), words)}${end < text.length && ' …'}`
}

function mark(text: string, words: string[]): (Html | string)[] {
  if (words.length === 0) return [text]
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi')
  return text
    .split(pattern)
    .map((part, i) => (i % 2 === 1 ? html`<mark class="bg-warning/20 text-inherit">${part}</mark>` : part))
}
