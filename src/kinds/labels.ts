import { offers } from './authors.ts'

const ways = [...offers.scored, ...offers.graded].filter(({ preset }) => preset === undefined)

/** The response types that have a name of ours. */
export const KIND_WORDS: readonly string[] = [...new Set(ways.map(({ word }) => word))]

/** How a question is answered, as lists name it; an organization's own word as it is. */
export const wordKind = (responseType: string): string => ways.find(({ word }) => word === responseType)?.label ?? responseType
