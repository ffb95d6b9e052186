import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { toText } from '../../html/html.ts'
import type { Entry } from './find.ts'
import { contentsOf, entriesOfGuides, guideBody, homeBody, menuOfGuides } from './guide.page.ts'
import { readExamples, readGuides } from './guides.ts'
import { DOCS_PREFIX, type MenuGroup, type Page, renderPage } from './layout.ts'
import { once, prerender } from './prerendered.ts'
import { entriesOfReference, menuOfReference, pagesOf, type Reference } from './reference.page.ts'

/** Names by which the service is reached, for each of which a document says so. */
export const KEPT_ORIGINS = 4
/** What documents call the addresses of the interfaces: where each of them is reached is known when somebody asks. */
const PLACES = { v1: '{base_url}', alternate: '{alt_base_url}' }

type Made = ReturnType<typeof prerender>
/** What is sent from an address, made when it is first asked for. @property text for who reaches the service by an origin. */
type File = { type: string; text: (origin: () => string) => Made }
export type Site = {
  menu: MenuGroup[]
  /** What can be found. */
  entries: Entry[]
  files: Map<string, File>
  /** A page with the interfaces' own addresses, as they are reached by an origin. */
  withAddresses: (page: string, origin: string) => string
}

/** The documentation: the guides and, of each interface, the reference. */
export function makeSite(references: Reference[]): Site {
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
          references.map(({ title, address, description }) => ({ title, address, lead: description.introduction })),
        ),
    },
    ...guides.map((guide, i) => ({
      ...{ title: guide.title, address: guide.address, contents: contentsOf(guide) },
      body: () => guideBody(guide, guides[i + 1]),
    })),
    ...references.flatMap((reference) => pagesOf(reference, `${DOCS_PREFIX}/guides`)),
  ]
  return {
    menu,
    entries: [...entriesOfGuides(groups), ...references.flatMap(entriesOfReference)],
    files: new Map([
      ...pages.map((page): [string, File] => [
        page.address,
        {
          type: 'text/html',
          text: forOrigins(
            once(() => toText(renderPage(menu, page))),
            withAddresses,
          ),
        },
      ]),
      ...readExamples(DOCS_PREFIX).map(({ address, text }): [string, File] => [
        address,
        { type: 'text/plain', text: once(() => prerender(text)) },
      ]),
    ]),
    withAddresses,
  }
}

function createAddressing(references: Reference[]): Site['withAddresses'] {
  const bases = Object.entries(PLACES).flatMap(([name, place]): [string, string][] => {
    const paths =
      references.find((reference) => reference.address.endsWith(`/${name}`))?.description.groups.flatMap(pathsOf) ?? []
    const [shortest] = paths.sort((a, b) => a.length - b.length)
    return shortest === undefined ? [] : [[place, path.posix.dirname(shortest)]]
  })
  return (page, origin) => bases.reduce((text, [place, base]) => text.replaceAll(place, origin + base), page)
}

const pathsOf = ({ operations }: Reference['description']['groups'][number]): string[] => operations.map(({ path }) => path)

/** One text for all, or of what names the interfaces' addresses one for each origin. */
function forOrigins(page: () => string, withAddresses: Site['withAddresses']): File['text'] {
  const same = once(() => prerender(page()))
  const made = new LRUCache<string, Made>({ max: KEPT_ORIGINS })
  return (origin) => {
    if (!Object.values(PLACES).some((place) => page().includes(place))) return same()
    const known = made.get(origin()) ?? prerender(withAddresses(page(), origin()))
    made.set(origin(), known)
    return known
  }
}
