import { Resolver } from 'node:dns/promises'

/** Milliseconds per query and name server, and number of tries. */
const RESOLVER_OPTIONS = { timeout: 3_000, tries: 2 }
const NO_RECORDS = ['ENOTFOUND', 'ENODATA']

/** The TXT records of a name, each joined to one string; empty if there are none. @throws Error if no name server answers. */
export async function readTextRecords(name: string): Promise<string[]> {
  const resolver = new Resolver(RESOLVER_OPTIONS)
  try {
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    if (NO_RECORDS.includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
