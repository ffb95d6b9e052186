// Addresses of an organization that stand at the foot of its candidates' pages and of mails to them: in each language its own.

export const PAGE_LINKS = ['imprint', 'privacy', 'contact'] as const
export type PageLink = (typeof PAGE_LINKS)[number]
/** Empty: there is none. */
export type PageLinks = Record<PageLink, string>
/** What is stored, by language. */
type Stored = { [language: string]: Partial<PageLinks> | undefined } | null

/** Those of one language, without what may stand in for them. */
export function linksIn(stored: unknown, language: string): PageLinks {
  const { imprint = '', privacy = '', contact = '' } = (stored as Stored)?.[language] ?? {}
  return { imprint, privacy, contact }
}

/** What a reader is shown: each in their language, else in the organization's main one; what is in neither is left out. */
export function pageLinksFor(
  { pageLinks, language: main }: { pageLinks: unknown; language: string },
  language: string,
): { link: PageLink; url: string }[] {
  const [own, fallback] = [linksIn(pageLinks, language), linksIn(pageLinks, main)]
  return PAGE_LINKS.flatMap((link) => {
    const url = own[link] || fallback[link]
    return url ? [{ link, url }] : []
  })
}
