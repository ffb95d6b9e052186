import { DomainError } from '../../../domain/errors.ts'

/** Who is invited already is a mistake in the form, at the address. */
export function sayInForm(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  if (error.kind === 'assessment_not_found') throw new DomainError('invalid', { issues: error.issues })
  if (error.kind !== 'duplicate_invite') throw error
  throw new DomainError('invalid', { issues: [{ field: 'recipientEmail', rule: 'account', problem: 'invited' }] })
}
