/** @property path e.g. `organizations[0].members[3].email`. */
export type ImportProblem = { path: string; message: string }

/** The document was refused; nothing was written. */
export class ImportError extends Error {
  readonly problems: ImportProblem[]
  constructor(problems: ImportProblem[]) {
    super(problems.map(describeProblem).join('\n'))
    this.name = 'ImportError'
    this.problems = problems
  }
}

export const describeProblem = ({ path, message }: ImportProblem): string => `${path}: ${message}`
