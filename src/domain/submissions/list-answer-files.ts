/** Files of an answer: not those that the candidate removed, or that did not arrive completely. */
export const listAnswerFiles = <F extends { id: string }>({ value, files }: { value: unknown; files: readonly F[] }): F[] =>
  files.length > 0 && Array.isArray(value) ? files.filter(({ id }) => value.some((file) => file?.id === id)) : []
