import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { ServiceContext } from '../context.ts'
import { KNOWN_DEVICE_MS } from './devices.ts'
import { recordRefusalCounts } from './record-refusal.ts'

const LINKS_KEPT_FOR_MS = 90 * 86_400_000
/** Rows a statement: what has piled up while nobody swept is more than one statement has time for. */
const FORGOTTEN_AT_ONCE = 5_000

/** So long a session that is over says whose a form is that was being filled in, and that it has ended. */
const SESSIONS_KEPT_FOR_MS = 86_400_000

/** Forgets sessions that are over, browsers that nobody has signed in with for long, forms that were kept for who signs in again, what was used up and is not good any more, attempts that count no more, and, some months later, what was mailed to members and its links. */
export async function forgetOldSignIns(system: ServiceContext): Promise<void> {
  const { db, deps } = system
  await recordRefusalCounts(system)
  const now = deps.clock()
  const over = new Date(now.getTime() - SESSIONS_KEPT_FOR_MS)
  const unused = new Date(now.getTime() - KNOWN_DEVICE_MS)
  const old = new Date(now.getTime() - LINKS_KEPT_FOR_MS)
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const sessions = unscoped(system.db).selectFrom('sessions').select('id').where('expiresAt', '<=', over).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('sessions').where('id', 'in', sessions))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const unknown = unscoped(system.db).selectFrom('devices').select('id').where('lastSeenAt', '<=', unused).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('devices').where('id', 'in', unknown))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const spent = unscoped(system.db).selectFrom('usedTokens').select('key').where('expiresAt', '<=', now).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('usedTokens').where('key', 'in', spent))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const parked = unscoped(system.db).selectFrom('savedForms').select('id').where('expiresAt', '<=', now).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('savedForms').where('id', 'in', parked))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const ended = unscoped(system.db).selectFrom('signInAttempts').select('key').where('expiresAt', '<=', now).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('signInAttempts').where('key', 'in', ended.forUpdate().skipLocked()))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const links = unscoped(system.db).selectFrom('accountLinks').select('id').where('expiresAt', '<=', old).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('accountLinks').where('id', 'in', links))
  })
  await repeatBatch(FORGOTTEN_AT_ONCE, (atMost) => {
    const mails = unscoped(system.db).selectFrom('memberEmails').select('id').where('createdAt', '<=', old).limit(atMost)
    return affectedRows(unscoped(db).deleteFrom('memberEmails').where('id', 'in', mails))
  })
}
