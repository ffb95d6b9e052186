import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { toText } from '../../html/html.ts'
import { contentsOf, entriesOfGuides, guideBody, homeBody, menuOfGuides } from './guide.page.ts'
import { type GuideGroup, readExamples, readGuides } from './guides.ts'
import { DOCS_PREFIX, type MenuGroup, type Page, renderPage } from './layout.ts'
import { createLazily, prerender } from './prerendered.ts'
import { entriesOfReference, menuOfReference, pagesOf, type Reference } from './reference.page.ts'
import type { SearchEntry } from './search-entries.ts'

/** Most origins for which rendered documents are cached. */
export const MAX_ORIGINS = 4
/** Placeholders in documents for the base addresses of the interfaces, which depend on the request's origin. */
const PLACEHOLDERS = { v1: '{base_url}', alternate: '{alt_base_url}' }

type Prerendered = ReturnType<typeof prerender>
/** @property text renders the file on its first request. */
type File = { type: string; text: (origin: () => string) => Prerendered }
export type DocsSite = {
  groups: GuideGroup[]
  menu: MenuGroup[]
  /** Search index. */
  entries: SearchEntry[]
  /** By path. */
  files: Map<string, File>
  /** Replaces the placeholders of a page. */
  withAddresses: (page: string, origin: string) => string
}

/** Builds the documentation from the guides and the reference of each interface. */
export function createDocsSite(references: Reference[]): DocsSite {
  const groups = readGuides(DOCS_PREFIX)
  const menu = [...menuOfGuides(groups), ...references.map(menuOfReference)]
  const guides = groups.flatMap((group) => group.guides)
  const withAddresses = createAddressing(references)
  const pages: Page[] = [
    {
      title: 'Documentation',
      address: DOCS_PREFIX,
      body: () =>
        homeBody(
          groups,
          references.map(({ title, address, description: { version, introduction } }) => ({
            ...{ title, address, version },
            lead: introduction,
          })),
        ),
    },
    ...guides.map((guide, i) => ({
      ...{ title: guide.title, address: guide.address, contents: contentsOf(guide), markdown: `${guide.address}.md` },
      body: () => guideBody(guide, guides[i + 1]),
    })),
    ...references.flatMap((reference) => pagesOf(reference, `${DOCS_PREFIX}/guides`)),
  ]
  return {
    groups,
    menu,
    entries: [...entriesOfGuides(groups), ...references.flatMap(entriesOfReference)],
    files: new Map([
      ...pages.map((page): [string, File] => [
        page.address,
        {
          type: 'text/html',
          text: cachePerOrigin(
            createLazily(() => toText(renderPage(menu, page))),
            withAddresses,
          ),
        },
      ]),
      ...guides.map(({ address, markdown }): [string, File] => [
        `${address}.md`,
        { type: 'text/markdown', text: cachePerOrigin(() => markdown, withAddresses) },
      ]),
      ...readExamples(DOCS_PREFIX).map(({ address, text }): [string, File] => [
        address,
        { type: 'text/plain', text: createLazily(() => prerender(text)) },
      ]),
    ]),
    withAddresses,
  }
}

function createAddressing(references: Reference[]): DocsSite['withAddresses'] {
  const bases = Object.entries(PLACEHOLDERS).flatMap(([name, placeholder]): [string, string][] => {
    const paths =
      references.find((reference) => reference.address.endsWith(`/${name}`))?.description.groups.flatMap(pathsOf) ?? []
    const [shortest] = paths.sort((a, b) => a.length - b.length)
    return shortest === undefined ? [] : [[placeholder, path.posix.dirname(shortest)]]
  })
  return (page, origin) => bases.reduce((text, [placeholder, base]) => text.replaceAll(placeholder, origin + base), page)
}

const pathsOf = ({ operations }: Reference['description']['groups'][number]): string[] => operations.map(({ path }) => path)

/** Renders once, or once per origin if the page has placeholders. */
function cachePerOrigin(page: () => string, withAddresses: DocsSite['withAddresses']): File['text'] {
  const shared = createLazily(() => prerender(page()))
  const cache = new LRUCache<string, Prerendered>({ max: MAX_ORIGINS })
  return (origin) => {
    if (!Object.values(PLACEHOLDERS).some((placeholder) => page().includes(placeholder))) return shared()
    const rendered = cache.get(origin()) ?? prerender(withAddresses(page(), origin()))
    cache.set(origin(), rendered)
    return rendered
  }
}
