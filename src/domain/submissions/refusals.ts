import { DomainError, type SessionProblem } from '../errors.ts'

/**
 * @param fields what it is about, where it is about something in particular.
 * @throws DomainError session_refused, with an issue for each field.
 */
export function refuseSession(problem: SessionProblem, fields: readonly string[] = ['']): never {
  throw new DomainError('session_refused', { issues: fields.map((field) => ({ field, rule: 'session', problem })) })
}
