import type { UploadedListProblem } from '../domain/ports/problems.ts'

/** A file that is refused as a whole. @property limit number that the problem's sentence names. */
export class UnreadableFile extends Error {
  readonly problem: UploadedListProblem
  readonly limit: number | undefined

  constructor(problem: UploadedListProblem, limit?: number) {
    super(problem)
    this.name = 'UnreadableFile'
    this.problem = problem
    this.limit = limit
  }
}
