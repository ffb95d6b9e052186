import { enterOrganization, type ServiceContext } from '../context.ts'
import { queueMemberEmail, type SecurityMailKind } from '../mails/member-emails.ts'

type Membership = { id: string; organization: { id: string } }

/** Writes to a person, in the transaction of what was done to their account, as the member that they have been for longest: once, in however many organizations they are. */
export async function notifyPerson(
  inside: ServiceContext,
  [first]: readonly Membership[],
  kind: SecurityMailKind,
  facts: { called?: string } = {},
): Promise<void> {
  if (first) await queueMemberEmail(enterOrganization(inside, first.organization), { kind, memberId: first.id, facts })
}
