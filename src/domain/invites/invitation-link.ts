import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { getInvite, type InviteStatus } from './invites.ts'

/** The link with the invite's status, on which the page behind it depends. */
export type InvitationLink = { link: string; status: InviteStatus; expiresAt: Date }

/** Link in the invitation email, in any status. Beyond both documents. @throws DomainError invite_not_found, not_permitted. */
export async function getInvitationLink(ctx: Context, inviteId: string): Promise<InvitationLink> {
  authorize(ctx, 'read') // a client sees the invite, and is not to take the assessment
  const { id, linkVersion, status, expiresAt } = await getInvite(ctx, inviteId)
  return { link: ctx.deps.links.invitationUrl({ inviteId: id, linkVersion }), status, expiresAt }
}
