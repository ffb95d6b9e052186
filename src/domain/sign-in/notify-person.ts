import { enterOrganization, type ServiceContext } from '../context.ts'
import { queueMemberEmail, type SecurityMailKind } from '../mails/member-emails.ts'

type Membership = { id: string; organization: { id: string } }

/** Emails a person about a change of their account, in its transaction: once, as a member of the organization they joined first. */
export async function notifyPerson(
  inside: ServiceContext,
  [first]: readonly Membership[],
  kind: SecurityMailKind,
  facts: { called?: string } = {},
): Promise<void> {
  if (first) await queueMemberEmail(enterOrganization(inside, first.organization), { kind, memberId: first.id, facts })
}
