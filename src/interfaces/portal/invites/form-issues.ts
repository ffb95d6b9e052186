import { DomainError } from '../../../domain/errors.ts'

/** Rethrows a duplicate invite or an unknown assessment as a mistake in the form, other errors as they are. */
export function rethrowAsFormIssue(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  if (error.kind === 'assessment_not_found') throw new DomainError('invalid', { issues: error.issues })
  if (error.kind !== 'duplicate_invite') throw error
  throw new DomainError('invalid', { issues: [{ field: 'recipientEmail', rule: 'account', problem: 'invited' }] })
}
