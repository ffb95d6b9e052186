/** The viewer of a page: a member, or nobody signed in. */
export type Viewer = 'admin' | 'grader' | 'client' | 'anybody'

/** A page of the service. @property name name of its screenshots. */
export type ShownPage = { name: string; viewer: Viewer; address: string; isMail?: boolean }

/** Lists the pages that exist. @param pages addresses below `home` by name. Anything but a string means that the page does not exist. */
export const listPages = (viewer: Viewer, home: string, pages: Record<string, string | false | null | undefined>): ShownPage[] =>
  Object.entries(pages).flatMap(([name, address]) =>
    typeof address === 'string' ? [{ name, viewer, address: home + address }] : [],
  )
