import { sql } from '../../db/builder.ts'
import { among, type Expression, type SqlBool } from '../../db/own.ts'
import { affectedRows } from '../../db/statements.ts'
import type { AuditAction } from '../audit/record-audit.ts'
import { repeatInHalves } from '../concurrency/in-halves.ts'
import { ERASED_MEMBER } from '../look-ups/former-members.ts'
import { forgetMailEvents } from '../mails/mail-events.ts'
import { forgetOutageReason } from '../mails/mail-outage.ts'
import { eraseAnswers, eraseArchives, eraseWords, forgetMailJobs, isNaming } from './erase-traces.ts'
import { type Counting, eraseCounted, patternOf } from './erasing.ts'
import type { Named } from './request-member-erasure.ts'

/** What names a member, once the member is nobody. */
export type ErasingMember = Counting & { memberId: string; named: Named }

/** Entries of one transaction. */
const ENTRIES_AT_ONCE = 2_000
/** What they have called their own things. */
const OWN_NAMES: readonly AuditAction[] = ['added_factor', 'renamed_factor', 'removed_factor']

/** What mail servers and the queue say of their mails. @throws Error while one is under way for longer than that takes: it is tried again. */
export async function eraseMemberMails(erasing: ErasingMember): Promise<void> {
  const { ctx, named } = erasing
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await forgetMailEvents(inside, named.emailIds) }))
  for (const address of named.addresses) {
    await forgetMailJobs(ctx, named.emailIds, { pattern: patternOf(address) })
    await forgetOutageReason(ctx, patternOf(address))
  }
}

/** Copies of what was held about them; those that they had made of candidates, nobody else may have. */
export const eraseMemberArchives = ({ memberId, ...erasing }: ErasingMember): Promise<void> =>
  eraseArchives(erasing, { OR: [{ memberId }, { actorKind: 'member', actorId: memberId }] })

/** What else names them: answers, forms, words in the audit log, and mails to others of what they have done. */
export async function eraseMemberTraces(erasing: ErasingMember): Promise<void> {
  const { addresses, name } = erasing.named
  for (const address of addresses) {
    await eraseAnswers({ ...erasing, address }, [])
    await eraseCounted(erasing, async (inside) => {
      const providers = inside.db.updateTable('signInProviders').where(({ ref }) => isNaming(ref('lastError'), address))
      return { otherTraces: await affectedRows(providers.set({ lastError: null })) }
    })
  }
  for (const text of new Set([...addresses, ...(name ? [name] : [])])) await eraseWords(erasing, text, ERASED_MEMBER)
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await eraseRefusals(inside, erasing) }))
  await eraseAuditEntries(erasing)
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await eraseFacts(inside, erasing) }))
}

/** Who was not let in by the organization's identity provider: by its id of them, or by their address. */
function eraseRefusals(inside: Counting['ctx'], { named: { addresses, subjects } }: ErasingMember): Promise<number> {
  const theirs = inside.db
    .updateTable('auditEntries')
    .where('action', '=', 'refused_sign_in' satisfies AuditAction)
    .where(({ ref }) => {
      const told = (key: string) => sql`${ref('details')} ->> ${key}`
      return sql<SqlBool>`(${told('subject')} = any(${subjects}::text[]) or ${isOneOf(told('email'), addresses)})`
    })
  return affectedRows(theirs.set(({ ref }) => ({ details: sql`${ref('details')} - '{subject,email}'::text[]` })))
}

/** Compares in any letter case: the database folds both sides. */
const isOneOf = (text: Expression<unknown>, texts: readonly string[]) =>
  sql<SqlBool>`lower(normalize(${text})) in (select lower(normalize(one)) from unnest(${texts}::text[]) one)`

/** Mails to others tell who has done something, from where and with what, and to whom. */
async function eraseFacts(inside: Counting['ctx'], { named: { addresses, name } }: ErasingMember): Promise<number> {
  const called = [...addresses, name]
  let count = 0
  for (const [key, going] of [
    ['person', '{person,address,userAgent}'],
    ['called', '{called}'],
  ] as const) {
    const told = inside.db.updateTable('memberEmails').where(({ ref }) => isOneOf(sql`${ref('facts')} ->> ${key}`, called))
    count += await affectedRows(told.set(({ ref }) => ({ facts: sql`${ref('facts')} - ${going}::text[]` })))
  }
  return count
}

/**
 * What was done stays, and by which member or to which; from where, with which browser, how they have called their things, their department
 * and why their second step was taken away does not.
 */
const eraseAuditEntries = ({ memberId, ...erasing }: ErasingMember): Promise<void> =>
  repeatInHalves(ENTRIES_AT_ONCE, async (atMost) => {
    let found = 0
    await eraseCounted(erasing, async (inside) => {
      const isOwnName = sql<SqlBool>`action = any(${OWN_NAMES}::text[]) and details <> '{}'::jsonb`
      const entries = inside.db.selectFrom('auditEntries').select('id').limit(atMost)
      const by = entries
        .where('actorId', '=', memberId)
        .where(({ or, eb }) => or([eb('address', 'is not', null), eb('userAgent', 'is not', null), isOwnName]))
      const about = entries
        .where('targetKind', '=', 'member')
        .where('targetId', '=', memberId)
        .where(({ ref }) => sql<SqlBool>`${ref('details')} ?| '{department,reason}'::text[]`)
      const [done, told] = [await by.execute(), await about.execute()]
      found = Math.max(done.length, told.length)
      const details = sql<never>`case when action = any(${OWN_NAMES}::text[]) then '{}'::jsonb else details end`
      const [emptied, without] = [done, told].map((some) =>
        inside.db.updateTable('auditEntries').where('id', '=', among(some.map(({ id }) => id))),
      )
      const count = await affectedRows(emptied!.set({ address: null, userAgent: null, details }))
      const words = without!.set(({ ref }) => ({ details: sql`${ref('details')} - '{department,reason}'::text[]` }))
      return { auditEntries: count, otherTraces: await affectedRows(words) }
    })
    return found
  })
