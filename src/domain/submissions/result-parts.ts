/** Parts of a result that outsiders and clients may see besides points. */
export const RESULT_PARTS = ['names', 'answers', 'recordings', 'transcripts'] as const
export type ResultPart = (typeof RESULT_PARTS)[number]

export const isResultPart = (word: string): word is ResultPart => RESULT_PARTS.some((part) => part === word)

/** Name of a candidate whose name is hidden. */
export const pseudonymOf = ({ id }: { id: string }): string => `Candidate ${id.slice(-4).toUpperCase()}`
