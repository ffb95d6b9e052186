import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { type InvitationRef, signInvitation } from '../secrets/invitation-tokens.ts'
import { getInvite, type InviteStatus } from './invites.ts'

/** The public address of the service (without a trailing slash), and the keys that sign links, newest first. */
export type LinkSettings = { publicUrl: string; secretKeys: readonly string[] }

/** Path of the candidates' pages. Mails that were sent carry it. */
export const INVITATION_PATH = '/i'

/** The address of the candidate's page. */
export const invitationUrl = ({ publicUrl, secretKeys }: LinkSettings, invite: InvitationRef): string =>
  `${publicUrl}${INVITATION_PATH}/${signInvitation(secretKeys, invite)}`

/** The link with the invite's status, on which the page behind it depends. */
export type InvitationLink = { link: string; status: InviteStatus; expiresAt: Date }

/** The link that the invite's mail contains, whatever its status. Beyond both documents. @throws DomainError invite_not_found, not_permitted. */
export async function getInvitationLink(ctx: Context, inviteId: string): Promise<InvitationLink> {
  authorize(ctx, 'read') // a client sees the invite, and is not to take the assessment
  const { id, linkVersion, status, expiresAt } = await getInvite(ctx, inviteId)
  return { link: ctx.deps.invitationUrl({ inviteId: id, linkVersion }), status, expiresAt }
}
