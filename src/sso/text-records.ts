import { Resolver } from 'node:dns/promises'

/** Milliseconds for one question to one name server, and how often it is asked. */
const QUESTION = { timeout: 3_000, tries: 2 }
const NONE = ['ENOTFOUND', 'ENODATA']

/** The TXT records of a name, each in one piece; none where it has none. @throws Error when no name server answers. */
export async function readTextRecords(name: string): Promise<string[]> {
  const resolver = new Resolver(QUESTION)
  try {
    return (await resolver.resolveTxt(name)).map((pieces) => pieces.join(''))
  } catch (error) {
    if (NONE.includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
