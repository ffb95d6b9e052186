// Addresses of an organization's pages, in the footer of candidates' pages and mails. Each language has its own.

export const PAGE_LINKS = ['imprint', 'privacy', 'contact'] as const
export type PageLink = (typeof PAGE_LINKS)[number]
/** Empty: no link. */
export type PageLinks = Record<PageLink, string>
type Stored = { [language: string]: Partial<PageLinks> | undefined } | null

/** Links of one language, without defaults. */
export function linksIn(stored: unknown, language: string): PageLinks {
  const { imprint = '', privacy = '', contact = '' } = (stored as Stored)?.[language] ?? {}
  return { imprint, privacy, contact }
}

/** Links for a reader: each in their language, or in the organization's main one; links without either are left out. */
export function pageLinksFor(
  { pageLinks, language: main }: { pageLinks: unknown; language: string },
  language: string,
): { link: PageLink; url: string }[] {
  const [inLanguage, fallback] = [linksIn(pageLinks, language), linksIn(pageLinks, main)]
  return PAGE_LINKS.flatMap((link) => {
    const url = inLanguage[link] || fallback[link]
    return url ? [{ link, url }] : []
  })
}
