/** Whose browser shows a page: a member's, or that of somebody who is not signed in. */
export type Viewer = 'admin' | 'grader' | 'client' | 'anybody'

/** A page of the service: what its pictures are called, who looks at it, and where it is. */
export type ShownPage = { name: string; viewer: Viewer; address: string; isMail?: boolean }

/** What is left of these when nothing is at an address. */
export const listPages = (viewer: Viewer, home: string, pages: Record<string, string | false | null | undefined>): ShownPage[] =>
  Object.entries(pages).flatMap(([name, address]) =>
    typeof address === 'string' ? [{ name, viewer, address: home + address }] : [],
  )
