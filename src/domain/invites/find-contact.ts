import type { MemberStatus, Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { LANGUAGE_SOURCES, type LanguageSources } from '../languages/choose-language.ts'
import { BRAND, type Brand } from '../ports/brand.ts'
import { displayNameOf } from '../text/display-name.ts'
import type { Zoned } from '../time/zones.ts'

/** Contact for a candidate's questions. */
export type Contact = { name: string; address: string }

export type Inviter = {
  organization: { name: string; senderName?: string | null; replyTo?: string | null }
  createdBy: { status: MemberStatus; user: { firstName: string; lastName: string; email: string } } | null
}

/** The organization's reply address, or the inviting member if still active; null: neither. */
export function findContactOf({ organization, createdBy }: Inviter): Contact | null {
  if (organization.replyTo) return { name: organization.senderName || organization.name, address: organization.replyTo }
  if (createdBy?.status !== 'active') return null
  return { name: displayNameOf(createdBy.user), address: createdBy.user.email }
}

/**
 * Organization of an invite, with brand and language settings; null if the invite is gone. @param inviteId of a link that was
 * signed here. @param where further conditions.
 */
export const findInviter = (
  { db }: ServiceContext,
  inviteId: string,
  where: Prisma.InviteWhereInput = {},
): Promise<(Inviter & LanguageSources & Zoned & { organization: Brand }) | null> =>
  db.invite.findUnique({
    where: { ...where, id: inviteId },
    select: {
      language: true,
      chosenLanguage: true,
      timeZone: true,
      organization: { select: { ...BRAND, senderName: true, replyTo: true, timeZone: true, ...LANGUAGE_SOURCES.organization } },
      assessment: { select: LANGUAGE_SOURCES.assessment },
      createdBy: { select: { status: true, user: { select: { firstName: true, lastName: true, email: true } } } },
    },
  })
