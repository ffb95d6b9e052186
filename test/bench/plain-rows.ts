import type { Prisma } from '../../src/generated/prisma/client.ts'

// What plain reads of an invite and of an assessment: once for both interfaces, as most would.

const inGivenOrder = { orderBy: { position: 'asc' } } as const

export const inviteInclude = {
  assessment: true,
  tags: { include: { tag: true }, ...inGivenOrder },
  assignedGrader: { include: { user: true } },
} satisfies Prisma.InviteInclude

/** For lists. */
export const listedInclude = { assessment: true, tags: inGivenOrder } satisfies Prisma.InviteInclude

export const assessmentInclude = {
  languages: { include: { language: true }, ...inGivenOrder },
  categories: inGivenOrder,
  tags: inGivenOrder,
  clients: inGivenOrder,
  _count: { select: { invites: true } },
} satisfies Prisma.AssessmentInclude

export const memberInclude = {
  user: true,
  tags: inGivenOrder,
  gradingLanguages: inGivenOrder,
  _count: { select: { clientOf: true } },
} satisfies Prisma.MemberInclude

export type Invite = Prisma.InviteGetPayload<{ include: typeof inviteInclude }>
export type ListedInvite = Prisma.InviteGetPayload<{ include: typeof listedInclude }>
export type Member = Prisma.MemberGetPayload<{ include: typeof memberInclude }>
export type Assessment = Prisma.AssessmentGetPayload<{ include: typeof assessmentInclude }>
