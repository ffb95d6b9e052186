import type { Prisma } from '../generated/prisma/client.ts'
import type { Deps } from './context.ts'
import type { InvitationRef } from './invitation-token.ts'
import { asOfNow } from './invite-lifecycle.ts'

const include = {
  organization: { select: { name: true } },
  assessment: { select: { name: true, questionCount: true, totalPoints: true, timeLimit: true } },
} satisfies Prisma.InviteInclude

/** An invite as its candidate sees it. */
export type CandidateInvite = Prisma.InviteGetPayload<{ include: typeof include }>

/** The invite a signed link stands for; null when the link has been replaced by a newer one, or the invite is gone. */
export async function findInvitation(
  { db, clock }: Deps,
  { inviteId, linkVersion }: InvitationRef,
): Promise<CandidateInvite | null> {
  const invite = await db.invite.findUnique({ where: { id: inviteId, linkVersion }, include, relationLoadStrategy: 'join' })
  return invite && asOfNow(invite, clock())
}
