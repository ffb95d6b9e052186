import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import type { SignedIn } from './sessions.ts'

/** @property emailVerifiedAt null: the address is not proven. */
export type LockedCredential = { id: string; authVersion: number; emailVerifiedAt: Date | null }

/**
 * Locks a credential until the transaction ends. Every change of sign-in data takes this lock first, so that it sees earlier changes. Lock
 * a member before their credential.
 */
export const lockCredential = ({ db }: ServiceContext, id: string): Promise<LockedCredential | undefined> =>
  unscoped(db)
    .selectFrom('credentials')
    .select(['id', 'authVersion', 'emailVerifiedAt'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()

/**
 * Locks the credential of the signed-in person, then reads the session again, because a change that held the lock may have ended it.
 *
 * @returns null if the session has ended, or is older than the last change of the credential.
 */
export async function lockOwnCredential(
  inside: ServiceContext,
  { sessionId, credential }: Pick<SignedIn, 'sessionId' | 'credential'>,
): Promise<LockedCredential | null> {
  const locked = await lockCredential(inside, credential.id)
  if (!locked) return null
  const isOpen = { endedAt: null, expiresAt: { gt: inside.deps.clock() }, authVersion: locked.authVersion }
  return (await inside.db.session.count({ where: { id: sessionId, ...isOpen } })) > 0 ? locked : null
}

/** {@link lockOwnCredential} for a form. @throws DomainError invalid: `signedOut`. */
export async function requireOwnCredential(
  inside: ServiceContext,
  signedIn: Pick<SignedIn, 'sessionId' | 'credential'>,
): Promise<LockedCredential> {
  const locked = await lockOwnCredential(inside, signedIn)
  if (!locked) throw new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'signedOut' }] })
  return locked
}
