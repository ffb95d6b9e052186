import type { ServiceContext } from '../context.ts'
import { repeatInHalves } from '../in-halves.ts'

const LINKS_KEPT_FOR_MS = 90 * 86_400_000
/** Rows a statement: what has piled up while nobody swept is more than one statement has time for. */
const FORGOTTEN_AT_ONCE = 5_000

/** Forgets sessions that are over, attempts that count no more, and, some months later, what was mailed to members and its links. */
export async function forgetOldSignIns({ db, deps }: ServiceContext): Promise<void> {
  const now = deps.clock()
  const old = new Date(now.getTime() - LINKS_KEPT_FOR_MS)
  await repeatInHalves(
    FORGOTTEN_AT_ONCE,
    (atMost) => db.$executeRaw`
      DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ${now} LIMIT ${atMost})`,
  )
  await repeatInHalves(
    FORGOTTEN_AT_ONCE,
    (atMost) => db.$executeRaw`
      DELETE FROM sign_in_attempts WHERE key IN (
        SELECT key FROM sign_in_attempts WHERE ends_at <= ${now} LIMIT ${atMost} FOR UPDATE SKIP LOCKED)`,
  )
  await repeatInHalves(
    FORGOTTEN_AT_ONCE,
    (atMost) => db.$executeRaw`
      DELETE FROM account_links WHERE id IN (SELECT id FROM account_links WHERE expires_at <= ${old} LIMIT ${atMost})`,
  )
  await repeatInHalves(
    FORGOTTEN_AT_ONCE,
    (atMost) => db.$executeRaw`
      DELETE FROM member_emails WHERE id IN (SELECT id FROM member_emails WHERE created_at <= ${old} LIMIT ${atMost})`,
  )
}
