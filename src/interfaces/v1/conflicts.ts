import { DomainError, type Issue, type Problem } from '../../domain/errors.ts'

/** Problems of valid requests that the current state does not allow. */
const CONFLICTS: readonly Problem[] = [
  'released',
  'notReleased',
  'ungraded',
  'undecided',
  'otherPoints',
  'gradesAlready',
  'assignedToOther',
  'lastAdmin',
  'deactivated',
  'foreignDomain',
]

const isChanged = (issue: Issue): boolean =>
  issue.rule === 'changed' || (issue.rule === 'account' && issue.problem === 'regraded')
const isConflict = (issue: Issue): boolean =>
  issue.rule === 'invited' || (issue.rule === 'account' && CONFLICTS.includes(issue.problem))

/**
 * Answers 409 to conflicts that the portal shows beside a form: a concurrent change, or a state that does not allow the action.
 *
 * @throws DomainError changed_meanwhile, state_conflict, and other errors of the work.
 */
export async function reportConflicts<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
    const { issues } = error
    const changedIssues = issues.filter(isChanged)
    if (changedIssues.length > 0) throw new DomainError('changed_meanwhile', { issues: changedIssues })
    const [first] = issues
    throw first && isConflict(first) ? new DomainError('state_conflict', { issues }) : error
  }
}
