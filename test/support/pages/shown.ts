/** The viewer of a page: a member, or nobody signed in. */
export type Viewer = 'admin' | 'grader' | 'client' | 'anybody'

/** A page of the service: what its pictures are called, who looks at it, and where it is. */
export type ShownPage = { name: string; viewer: Viewer; address: string; isMail?: boolean }

/** The remaining parts of a "not found" page. */
export const listPages = (viewer: Viewer, home: string, pages: Record<string, string | false | null | undefined>): ShownPage[] =>
  Object.entries(pages).flatMap(([name, address]) =>
    typeof address === 'string' ? [{ name, viewer, address: home + address }] : [],
  )
