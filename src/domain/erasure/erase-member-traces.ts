import { sql } from '../../db/builder.ts'
import { anyOfIds, type Expression, type SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import type { AuditAction } from '../audit/record-audit.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import { ERASED_MEMBER } from '../loaders/former-members.ts'
import { purgeMailEvents } from '../mails/mail-events.ts'
import { purgeOutageReason } from '../mails/mail-outage.ts'
import {
  eraseArchives,
  eraseStoredResponses,
  eraseText,
  ORGANIZATION_EXPORT,
  purgeMailJobs,
  textContainsAddress,
} from './erase-traces.ts'
import { type ErasureRef, eraseCounted, toAddressPattern } from './erasing.ts'
import type { MemberIdentifiers } from './request-member-erasure.ts'

/** Erasure of a member, with the texts that identify them. */
export type ErasingMember = ErasureRef & { memberId: string; named: MemberIdentifiers }

/** Entries of one transaction. */
const ENTRIES_AT_ONCE = 2_000
/** Actions whose details contain names that the member chose. */
const OWN_NAMES: readonly AuditAction[] = ['added_factor', 'renamed_factor', 'removed_factor']

/**
 * Deletes reports of mail servers and queue entries of the member's mails. @throws Error while a mail is being sent; it is
 * retried.
 */
export async function eraseMemberMails(erasing: ErasingMember): Promise<void> {
  const { ctx, named } = erasing
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await purgeMailEvents(inside, named.emailIds) }))
  for (const address of named.addresses) {
    await purgeMailJobs(ctx, named.emailIds, { pattern: toAddressPattern(address) })
    await purgeOutageReason(ctx, toAddressPattern(address))
  }
}

/** Deletes archives about the member, exports of the organization, and archives they requested, which nobody else may download. */
export const eraseMemberArchives = ({ memberId, ...erasing }: ErasingMember): Promise<void> =>
  eraseArchives(erasing, { OR: [{ memberId }, { actorKind: 'member', actorId: memberId }, ORGANIZATION_EXPORT] })

/** Erases the member from stored responses, saved forms, audit details, and mails to others about what they did. */
export async function eraseMemberTraces(erasing: ErasingMember): Promise<void> {
  const { addresses, name } = erasing.named
  for (const address of addresses) {
    await eraseStoredResponses({ ...erasing, address }, [])
    await eraseCounted(erasing, async (inside) => {
      const providers = inside.db
        .updateTable('signInProviders')
        .where(({ ref }) => textContainsAddress(ref('lastError'), address))
      return { otherTraces: await affectedRows(providers.set({ lastError: null })) }
    })
  }
  for (const text of new Set([...addresses, ...(name ? [name] : [])])) await eraseText(erasing, text, ERASED_MEMBER)
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await eraseRefusals(inside, erasing) }))
  await eraseAuditEntries(erasing)
  await eraseCounted(erasing, async (inside) => ({ otherTraces: await eraseFacts(inside, erasing) }))
}

/** Refused sign-ins by the identity provider, found by its subject or by the address. */
function eraseRefusals(inside: ErasureRef['ctx'], { named: { addresses, subjects } }: ErasingMember): Promise<number> {
  const entriesOfMember = inside.db
    .updateTable('auditEntries')
    .where('action', '=', 'refused_sign_in' satisfies AuditAction)
    .where(({ ref }) => {
      const detail = (key: string) => sql`${ref('details')} ->> ${key}`
      return sql<SqlBool>`(${detail('subject')} = any(${subjects}::text[]) or ${isOneOf(detail('email'), addresses)})`
    })
  return affectedRows(entriesOfMember.set(({ ref }) => ({ details: sql`${ref('details')} - '{subject,email}'::text[]` })))
}

/** Compares in any letter case: the database folds both sides. */
const isOneOf = (text: Expression<unknown>, texts: readonly string[]) =>
  sql<SqlBool>`lower(normalize(${text})) in (select lower(normalize(one)) from unnest(${texts}::text[]) one)`

/** Security emails to others contain the member's name, address, network, and device. */
async function eraseFacts(inside: ErasureRef['ctx'], { named: { addresses, name } }: ErasingMember): Promise<number> {
  const called = [...addresses, name]
  let count = 0
  for (const [key, going] of [
    ['person', '{person,address,userAgent}'],
    ['called', '{called}'],
  ] as const) {
    const matchingMails = inside.db
      .updateTable('memberEmails')
      .where(({ ref }) => isOneOf(sql`${ref('facts')} ->> ${key}`, called))
    count += await affectedRows(matchingMails.set(({ ref }) => ({ facts: sql`${ref('facts')} - ${going}::text[]` })))
  }
  return count
}

/**
 * Keeps actions and their members. Erases networks, browsers, names that members chose, departments, and reasons of a reset
 * second factor.
 */
const eraseAuditEntries = ({ memberId, ...erasing }: ErasingMember): Promise<void> =>
  repeatBatch(ENTRIES_AT_ONCE, async (atMost) => {
    let found = 0
    await eraseCounted(erasing, async (inside) => {
      const isOwnName = sql<SqlBool>`action = any(${OWN_NAMES}::text[]) and details <> '{}'::jsonb`
      const entries = inside.db.selectFrom('auditEntries').select('id').limit(atMost)
      const byMember = entries
        .where('actorId', '=', memberId)
        .where(({ or, eb }) => or([eb('address', 'is not', null), eb('userAgent', 'is not', null), isOwnName]))
      const aboutMember = entries
        .where('targetKind', '=', 'member')
        .where('targetId', '=', memberId)
        .where(({ ref }) => sql<SqlBool>`${ref('details')} ?| '{department,reason}'::text[]`)
      const [ownEntries, entriesAboutMember] = [await byMember.execute(), await aboutMember.execute()]
      found = Math.max(ownEntries.length, entriesAboutMember.length)
      const details = sql<never>`case when action = any(${OWN_NAMES}::text[]) then '{}'::jsonb else details end`
      const [emptied, without] = [ownEntries, entriesAboutMember].map((selected) =>
        inside.db.updateTable('auditEntries').where('id', '=', anyOfIds(selected.map(({ id }) => id))),
      )
      const count = await affectedRows(emptied!.set({ address: null, userAgent: null, details }))
      const words = without!.set(({ ref }) => ({ details: sql`${ref('details')} - '{department,reason}'::text[]` }))
      return { auditEntries: count, otherTraces: await affectedRows(words) }
    })
    return found
  })
