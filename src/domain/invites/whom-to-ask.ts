import type { MemberStatus, Prisma } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { SPOKEN_TO, type SpokenTo } from '../languages/languages.ts'
import { BRAND, type Brand } from '../ports/brand.ts'
import { nameOf } from '../text/name-of.ts'
import type { Zoned } from '../time/zones.ts'

/** Who answers a candidate's questions. */
export type Contact = { name: string; address: string }

/** Whose invite it is, as far as it says who can be asked. */
export type Inviter = {
  organization: { name: string; senderName?: string | null; replyTo?: string | null }
  createdBy: { status: MemberStatus; user: { firstName: string; lastName: string; email: string } } | null
}

/** Where the organization wants replies, or whoever has invited the candidate and still works there; null where there is neither. */
export function whomToAsk({ organization, createdBy }: Inviter): Contact | null {
  if (organization.replyTo) return { name: organization.senderName || organization.name, address: organization.replyTo }
  if (createdBy?.status !== 'active') return null
  return { name: nameOf(createdBy.user), address: createdBy.user.email }
}

/** Whose invite it is that a link once led to, how its pages look, and what decides its language; null where it is gone. @param inviteId of a link that was signed here. @param where what has to hold of it besides. */
export const findInviter = (
  { db }: ServiceContext,
  inviteId: string,
  where: Prisma.InviteWhereInput = {},
): Promise<(Inviter & SpokenTo & Zoned & { organization: Brand }) | null> =>
  db.invite.findUnique({
    where: { ...where, id: inviteId },
    select: {
      language: true,
      chosenLanguage: true,
      timeZone: true,
      organization: { select: { ...BRAND, senderName: true, replyTo: true, timeZone: true, ...SPOKEN_TO.organization } },
      assessment: { select: SPOKEN_TO.assessment },
      createdBy: { select: { status: true, user: { select: { firstName: true, lastName: true, email: true } } } },
    },
  })
