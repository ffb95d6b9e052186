import { DomainError, type SessionProblem } from '../../errors.ts'

/**
 * @param fields what it is about, where it is about something in particular.
 * @param parts of a recording, of those that are missing.
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
