import type { ImportDocument, MemberEntry } from './format.ts'
import { type Check, type Found, rowsIn } from './match.ts'

/** A member of the document, with the account it is, or will be, the membership of. */
type Membership = Found<MemberEntry> & { memberId: string; accountId: string; organizationId: string }

const FACTS = ['email', 'firstName', 'lastName', 'avatarUrl'] as const

/**
 * Finds each member's account: the one named by `userId`, else the one the member has, else a new one. Accounts are shared by all
 * organizations, so that a change of address reaches the person's other memberships: reports where it can't.
 *
 * @returns the accounts' ids by the members' rows.
 */
export async function matchAccounts(check: Check, { organizations }: ImportDocument): Promise<Map<object, string>> {
  const members = rowsIn(organizations, 'organizations').flatMap((organization) =>
    rowsIn(organization.row.members, `${organization.path}.members`).map((member) => ({
      ...member,
      memberId: check.ids.get(member.row)!,
      organizationId: check.ids.get(organization.row)!,
    })),
  )
  const ids = members.map(({ memberId }) => memberId)
  const existing = await check.db.$queryRaw<{ id: string; userId: string }[]>`
    SELECT id, user_id AS "userId" FROM members WHERE id = ANY(${ids}::uuid[])`
  const present = new Map(existing.map(({ id, userId }) => [id, userId]))
  const memberships = members.map((member) => ({
    ...member,
    accountId: member.row.userId ?? present.get(member.memberId) ?? check.newId(),
  }))
  reportContradictions(check, memberships)
  await reportDoubleMemberships(check, memberships)
  await reportTakenAddresses(check, memberships)
  return new Map(memberships.map(({ row, accountId }) => [row, accountId]))
}

function reportContradictions(check: Check, memberships: Membership[]): void {
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

/** One account twice in one organization would be two members with one address. */
async function reportDoubleMemberships(check: Check, memberships: Membership[]): Promise<void> {
  const rows = await check.db.$queryRaw<{ place: number; id: string }[]>`
    SELECT given.place::int, members.id
    FROM unnest(${memberships.map((m) => m.accountId)}::uuid[], ${memberships.map((m) => m.memberId)}::uuid[],
                ${memberships.map((m) => m.organizationId)}::uuid[]) WITH ORDINALITY AS given(account_id, member_id, organization_id, place)
    JOIN members ON user_id = account_id AND members.organization_id = given.organization_id AND id <> member_id`
  for (const { place, id } of rows) check.report(`${memberships[place - 1]!.path}.userId`, `is the account of the member ${id}`)
}

async function reportTakenAddresses(check: Check, memberships: Membership[]): Promise<void> {
  const changes = memberships.filter(({ row }) => row.email !== undefined)
  const rows = await check.db.$queryRaw<{ place: number; id: string }[]>`
    SELECT given.place::int, other.id
    FROM unnest(${changes.map((m) => m.accountId)}::uuid[], ${changes.map((m) => m.row.email!)}::text[])
      WITH ORDINALITY AS given(account_id, email, place)
    JOIN users ON users.id = account_id AND users.email <> given.email
    JOIN members own ON own.user_id = users.id AND own.email = users.email
    JOIN members other ON other.organization_id = own.organization_id AND other.id <> own.id AND lower(other.email) = lower(given.email)`
  for (const { place, id } of rows)
    check.report(`${changes[place - 1]!.path}.email`, `is taken by the member ${id}, where this account is a member too`)
}
