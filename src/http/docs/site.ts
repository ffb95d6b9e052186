import { toText } from '../../html/html.ts'
import type { Entry } from './find.ts'
import { contentsOf, entriesOfGuides, guideBody, homeBody, menuOfGuides } from './guide.page.ts'
import { readExamples, readGuides } from './guides.ts'
import { DOCS_PREFIX, type MenuGroup, type Page, renderPage } from './layout.ts'
import { once, prerender } from './prerendered.ts'
import { entriesOfReference, menuOfReference, pagesOf, type Reference } from './reference.page.ts'

/** What is sent from an address, made when it is first asked for. */
type File = { type: string; text: () => ReturnType<typeof prerender> }
export type Site = {
  menu: MenuGroup[]
  /** What can be found. */
  entries: Entry[]
  files: Map<string, File>
}

/** The documentation: the guides and, of each interface, the reference. */
export function makeSite(references: Reference[]): Site {
  const groups = readGuides(DOCS_PREFIX)
  const menu = [...menuOfGuides(groups), ...references.map(menuOfReference)]
  const guides = groups.flatMap((group) => group.guides)
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
        { type: 'text/html', text: once(() => prerender(toText(renderPage(menu, page)))) },
      ]),
      ...readExamples(DOCS_PREFIX).map(({ address, text }): [string, File] => [
        address,
        { type: 'text/plain', text: once(() => prerender(text)) },
      ]),
    ]),
  }
}
