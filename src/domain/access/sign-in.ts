import { everyones } from '../../db/everyone.ts'
import { first } from '../../db/statements.ts'
import { isEmailAddress } from '../checking/email-address.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { inTurn, isPassword, lineOf } from './passwords.ts'
import {
  type Browser,
  type Credential,
  findMemberships,
  type NewSession,
  type Origin,
  recordForAll,
  startSession,
} from './sessions.ts'
import { countSignIn, forgiveSignIn } from './sign-in-attempts.ts'

/**
 * What is signed in with by an address, in either case. The case is taken off here as it is for the count of attempts: PostgreSQL makes
 * other letters alike as well (İ and i), and each would be an address of its own to that count.
 */
export async function findCredential({ db }: ServiceContext, email: string): Promise<Credential | undefined> {
  const credentials = everyones.selectFrom('credentials').select(['id', 'email', 'passwordHash'])
  return first(
    db,
    credentials.where((eb) => eb(eb.fn<string>('lower', ['email']), '=', email.toLowerCase())),
  )
}

/**
 * Whether it is the password of whoever signs in with the address, counted against those who try. A wrong one takes as long as the
 * right one, and one of nobody's as long. It is counted when its turn has come: what was turned away in the line was not tried.
 *
 * @throws DomainError invalid: `tooMany`, of the address or the network; too_many_passwords.
 */
export async function checkPassword(
  service: ServiceContext,
  { email, password, origin }: { email: string; password: string; origin: Origin },
): Promise<Credential | null> {
  const { credential, isRight } = await inTurn(lineOf(email, origin), async () => {
    await countSignIn(service, { email, origin })
    const credential = await findCredential(service, email)
    return { credential, isRight: await isPassword(password, credential?.passwordHash) }
  })
  if (!credential || !isRight) {
    if (isEmailAddress(email)) await service.deps.queue.enqueueFailedSignIn(service.db, email)
    return null
  }
  await forgiveSignIn(service, { email, origin })
  return credential
}

/** Records a wrong password in the organizations of whoever signs in with the address. */
export async function recordFailedSignIn(service: ServiceContext, email: string): Promise<void> {
  const credential = await findCredential(service, email)
  const memberships = credential ? await findMemberships(service, credential.id) : []
  await inTransaction(service, (inside) => recordForAll(inside, memberships, { action: 'failed_sign_in' }))
}

/**
 * Signs a person in by address and password, in a new session.
 *
 * @throws DomainError invalid: `wrong`, without saying which of the two; `tooMany`; too_many_passwords.
 */
export async function signIn(
  service: ServiceContext,
  { email, password, browser }: { email: string; password: string; browser: Browser },
): Promise<NewSession> {
  const credential = await checkPassword(service, { email, password, origin: browser })
  const memberships = credential ? await findMemberships(service, credential.id) : []
  if (!credential || memberships.length === 0) throw wrong()
  return inTransaction(service, async (inside) => {
    const session = await startSession(inside, credential, browser)
    if (!session) throw wrong()
    await recordForAll(inside, memberships, { action: 'signed_in' })
    return session
  })
}

const wrong = () => new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem: 'wrong' }] })
