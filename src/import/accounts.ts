import { sql } from '../db/builder.ts'
import { anyOfIds, sameOrganization } from '../db/queries.ts'
import { unscoped } from '../db/unscoped.ts'
import type { ImportDocument, MemberEntry } from './format.ts'
import { type FoundRow, type ImportCheck, rowsIn } from './match.ts'

/** A member of the document with its account, which may be new. */
type Membership = FoundRow<MemberEntry> & { memberId: string; accountId: string; organizationId: string }

const FACTS = ['email', 'firstName', 'lastName', 'avatarUrl'] as const

/**
 * Finds each member's account: the one of `userId`, else the member's current one, else a new one. Organizations share accounts, so a changed
 * address also changes the person's other memberships. Reports conflicts.
 *
 * @returns account ids by member row.
 */
export async function matchAccounts(check: ImportCheck, { organizations }: ImportDocument): Promise<Map<object, string>> {
  const members = rowsIn(organizations, 'organizations').flatMap((organization) =>
    rowsIn(organization.row.members, `${organization.path}.members`).map((member) => ({
      ...member,
      memberId: check.ids.get(member.row)!,
      organizationId: check.ids.get(organization.row)!,
    })),
  )
  const ids = members.map(({ memberId }) => memberId)
  const existing = await unscoped(check.db)
    .selectFrom('members')
    .select(['id', 'userId', 'erasedAt'])
    .where('id', '=', anyOfIds(ids))
    .execute()
  const present = new Map(existing.map(({ id, userId }) => [id, userId]))
  const memberships = members.map((member) => ({
    ...member,
    accountId: member.row.userId ?? present.get(member.memberId) ?? check.newId(),
  }))
  const erased = new Set(existing.filter(({ erasedAt }) => erasedAt).map(({ id }) => id))
  for (const { path, memberId } of memberships) if (erased.has(memberId)) check.report(path, 'is of a member who was erased')
  reportContradictions(check, memberships)
  await reportDoubleMemberships(check, memberships)
  await reportTakenAddresses(check, memberships)
  return new Map(memberships.map(({ row, accountId }) => [row, accountId]))
}

function reportContradictions(check: ImportCheck, memberships: Membership[]): void {
  const first = new Map<string, Membership>()
  for (const membership of memberships) {
    const { path, row, accountId } = membership
    const earlier = first.get(accountId)
    if (!earlier) first.set(accountId, membership)
    for (const fact of FACTS) {
      const [before, now] = [earlier?.row[fact], row[fact]]
      if (before === undefined || now === undefined || before === now) continue
      check.report(`${path}.${fact}`, `contradicts ${earlier!.path}, which is of the same account`)
    }
  }
}

/** Reports an account that would have two members in one organization. */
async function reportDoubleMemberships(check: ImportCheck, memberships: Membership[]): Promise<void> {
  const accountIds = memberships.map((m) => m.accountId)
  const memberIds = memberships.map((m) => m.memberId)
  const organizationIds = memberships.map((m) => m.organizationId)
  const importedMembers = sql<{ accountId: string; memberId: string; organizationId: string; place: string }>`
    unnest(${accountIds}::uuid[], ${memberIds}::uuid[], ${organizationIds}::uuid[]) with ordinality`.as<'given'>(
    sql`given (account_id, member_id, organization_id, place)`,
  )
  const otherAccounts = unscoped(check.db)
    .selectFrom(importedMembers)
    .innerJoin('members', (join) =>
      join
        .onRef('members.userId', '=', 'given.accountId')
        .on(sameOrganization('members', 'given'))
        .onRef('members.id', '<>', 'given.memberId'),
    )
  const rows = await otherAccounts.select((eb) => [eb.cast<number>('given.place', 'integer').as('place'), 'members.id']).execute()
  for (const { place, id } of rows) check.report(`${memberships[place - 1]!.path}.userId`, `is the account of the member ${id}`)
}

async function reportTakenAddresses(check: ImportCheck, memberships: Membership[]): Promise<void> {
  const changes = memberships.filter(({ row }) => row.email !== undefined)
  const [accountIds, emails] = [changes.map((m) => m.accountId), changes.map((m) => m.row.email!)]
  const importedEmails = sql<{ accountId: string; email: string; place: string }>`
    unnest(${accountIds}::uuid[], ${emails}::text[]) with ordinality`.as<'given'>(sql`given (account_id, email, place)`)
  const holders = unscoped(check.db)
    .selectFrom(importedEmails)
    .innerJoin('users', (join) => join.onRef('users.id', '=', 'given.accountId').onRef('users.email', '<>', 'given.email'))
    .innerJoin('members as own', (join) => join.onRef('own.userId', '=', 'users.id').onRef('own.email', '=', 'users.email'))
    .innerJoin('members as other', (join) =>
      join
        .on(sameOrganization('other', 'own'))
        .onRef('other.id', '<>', 'own.id')
        .on((eb) => eb(eb.fn<string>('address_key', ['other.email']), '=', eb.fn<string>('address_key', ['given.email']))),
    )
  const rows = await holders.select((eb) => [eb.cast<number>('given.place', 'integer').as('place'), 'other.id']).execute()
  for (const { place, id } of rows)
    check.report(`${changes[place - 1]!.path}.email`, `is taken by the member ${id}, where this account is a member too`)
}
