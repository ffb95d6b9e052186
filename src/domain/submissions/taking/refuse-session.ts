import { DomainError, type SessionProblem } from '../../errors.ts'

/**
 * @param fields affected fields, if any. @param parts missing parts of a recording.
 * @throws DomainError session_refused, with an issue for each field.
 */
export function refuseSession(
  problem: SessionProblem,
  fields: readonly string[] = [''],
  parts?: [segment: number, number: number][],
): never {
  const rule = { rule: 'session', problem, ...(parts && { parts }) } as const
  throw new DomainError('session_refused', { issues: fields.map((field) => ({ field, ...rule })) })
}
