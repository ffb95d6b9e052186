import { everyones } from '../../db/everyone.ts'
import { run } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { repeatInHalves } from '../work/in-halves.ts'

const LINKS_KEPT_FOR_MS = 90 * 86_400_000
/** Rows a statement: what has piled up while nobody swept is more than one statement has time for. */
const FORGOTTEN_AT_ONCE = 5_000

/** Forgets sessions that are over, attempts that count no more, and, some months later, what was mailed to members and its links. */
export async function forgetOldSignIns({ db, deps }: ServiceContext): Promise<void> {
  const now = deps.clock()
  const old = new Date(now.getTime() - LINKS_KEPT_FOR_MS)
  await repeatInHalves(FORGOTTEN_AT_ONCE, (atMost) => {
    const over = everyones.selectFrom('sessions').select('id').where('expiresAt', '<=', now).limit(atMost)
    return run(db, everyones.deleteFrom('sessions').where('id', 'in', over))
  })
  await repeatInHalves(FORGOTTEN_AT_ONCE, (atMost) => {
    const ended = everyones.selectFrom('signInAttempts').select('key').where('endsAt', '<=', now).limit(atMost)
    return run(db, everyones.deleteFrom('signInAttempts').where('key', 'in', ended.forUpdate().skipLocked()))
  })
  await repeatInHalves(FORGOTTEN_AT_ONCE, (atMost) => {
    const links = everyones.selectFrom('accountLinks').select('id').where('expiresAt', '<=', old).limit(atMost)
    return run(db, everyones.deleteFrom('accountLinks').where('id', 'in', links))
  })
  await repeatInHalves(FORGOTTEN_AT_ONCE, (atMost) => {
    const mails = everyones.selectFrom('memberEmails').select('id').where('createdAt', '<=', old).limit(atMost)
    return run(db, everyones.deleteFrom('memberEmails').where('id', 'in', mails))
  })
}
