import type { ServiceContext } from '../context.ts'
import type { SecurityMailKind } from '../mails/member-emails.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { notifyPerson } from './notify-person.ts'
import { findMemberships } from './sessions.ts'
import { claimToken } from './used-tokens.ts'

/** Notifies a person about attempts by strangers, at most once a day. */
export async function notifyOnceADay(service: ServiceContext, credentialId: string, kind: SecurityMailKind): Promise<void> {
  const now = service.deps.clock()
  const key = `mail ${kind} ${credentialId} ${now.toISOString().slice(0, 10)}`
  await inTransaction(service, async (inside) => {
    if (!(await claimToken(inside, key, new Date(now.getTime() + DAY_MS)))) return
    await notifyPerson(inside, await findMemberships(inside, credentialId), kind)
  })
}
