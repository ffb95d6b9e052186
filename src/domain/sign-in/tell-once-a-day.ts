import type { ServiceContext } from '../context.ts'
import type { SecurityMailKind } from '../mails/member-emails.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { findMemberships } from './sessions.ts'
import { tellPerson } from './tell-person.ts'
import { spend } from './used-tokens.ts'

/** Writes to a person of what strangers do, once a day. */
export async function tellOnceADay(service: ServiceContext, credentialId: string, kind: SecurityMailKind): Promise<void> {
  const now = service.deps.clock()
  const key = `mail ${kind} ${credentialId} ${now.toISOString().slice(0, 10)}`
  await inTransaction(service, async (inside) => {
    if (!(await spend(inside, key, new Date(now.getTime() + DAY_MS)))) return
    await tellPerson(inside, await findMemberships(inside, credentialId), kind)
  })
}
