/** @property path e.g. `organizations[0].members[3].email`. */
export type Problem = { path: string; message: string }

/** The document was refused; nothing was written. */
export class ImportError extends Error {
  readonly problems: Problem[]
  constructor(problems: Problem[]) {
    super(problems.map(describeProblem).join('\n'))
    this.name = 'ImportError'
    this.problems = problems
  }
}

export const describeProblem = ({ path, message }: Problem): string => `${path}: ${message}`
