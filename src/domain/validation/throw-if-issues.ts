import { DomainError, type Issue } from '../errors.ts'

/** @throws DomainError invalid, when there are issues. */
export function throwIfIssues(issues: Issue[]): void {
  if (issues.length > 0) throw new DomainError('invalid', { issues })
}
