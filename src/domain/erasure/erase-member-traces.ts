import { sql } from '../../db/builder.ts'
import { among, own, ownUpdate } from '../../db/own.ts'
import { all, run } from '../../db/statements.ts'
import type { AuditAction } from '../audit/record-audit.ts'
import { forgetOutageReason } from '../mails/mail-outage.ts'
import { repeatInHalves } from '../work/in-halves.ts'
import { eraseOtherTraces, forgetMailJobs, isNaming } from './erase-traces.ts'
import { type Counting, eraseCounted, patternOf } from './erasing.ts'
import type { Named } from './request-member-erasure.ts'

/** What names a member, once the member is nobody. @property until what was made later is of somebody else. */
export type ErasingMember = Counting & { memberId: string; until: Date; named: Named }

/** Entries of one transaction. */
const ENTRIES_AT_ONCE = 2_000
/** What they have called their own things. */
const OWN_NAMES: readonly AuditAction[] = ['added_factor', 'renamed_factor', 'removed_factor']

/** What else names them: answers, forms, words in the audit log, the queue, and mails to others of what they have done. */
export async function eraseMemberTraces(erasing: ErasingMember): Promise<void> {
  const { ctx, named } = erasing
  for (const address of named.addresses) {
    await eraseOtherTraces({ ...erasing, address })
    await forgetMailJobs(ctx, [], patternOf(address))
    await forgetOutageReason(ctx, patternOf(address))
    await eraseCounted(erasing, async (inside) => {
      const providers = ownUpdate(inside, 'signInProviders').where(({ ref }) => isNaming(ref('lastError'), address))
      return { otherTraces: await run(inside.db, providers.set({ lastError: '' })) }
    })
  }
  await eraseAuditEntries(erasing)
  await eraseCounted(erasing, async (inside) => {
    const told = ownUpdate(inside, 'memberEmails').where(({ ref }) => sql<boolean>`${ref('facts')} ->> 'person' = ${named.name}`)
    return {
      otherTraces: await run(
        inside.db,
        told.set(({ ref }) => ({ facts: sql`${ref('facts')} - 'person'` })),
      ),
    }
  })
}

/** What was done stays, and by which member; from where, with which browser, and how they have called their things does not. */
const eraseAuditEntries = (erasing: ErasingMember): Promise<void> =>
  repeatInHalves(ENTRIES_AT_ONCE, async (atMost) => {
    let found = 0
    await eraseCounted(erasing, async (inside) => {
      const isOwnName = sql<boolean>`action = any(${OWN_NAMES}::text[]) and details <> '{}'::jsonb`
      const theirs = own(inside, 'auditEntries')
        .where('actorId', '=', erasing.memberId)
        .where(({ or, eb }) => or([eb('address', 'is not', null), eb('userAgent', 'is not', null), isOwnName]))
      const ids = (await all(inside.db, theirs.select('id').limit(atMost))).map(({ id }) => id)
      found = ids.length
      const entries = ownUpdate(inside, 'auditEntries').where('id', '=', among(ids))
      const details = sql<never>`case when action = any(${OWN_NAMES}::text[]) then '{}'::jsonb else details end`
      return { auditEntries: await run(inside.db, entries.set({ address: null, userAgent: null, details })) }
    })
    return found
  })
