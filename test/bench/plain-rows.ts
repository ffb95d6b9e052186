import type { Prisma } from '../../src/generated/prisma/client.ts'

// What plain reads of an invite and of an assessment: once for both interfaces, as most would.

const inGivenOrder = { orderBy: { position: 'asc' } } as const

export const inviteInclude = {
  assessment: true,
  tags: { include: { tag: true }, ...inGivenOrder },
  assignedGrader: { include: { user: true } },
} satisfies Prisma.InviteInclude

/** For lists. */
export const summaryInclude = { assessment: true } satisfies Prisma.InviteInclude

export const assessmentInclude = {
  languages: { include: { language: true }, ...inGivenOrder },
  categories: inGivenOrder,
  tags: inGivenOrder,
  clients: inGivenOrder,
  _count: { select: { invites: true } },
} satisfies Prisma.AssessmentInclude

export type Invite = Prisma.InviteGetPayload<{ include: typeof inviteInclude }>
export type InviteSummary = Prisma.InviteGetPayload<{ include: typeof summaryInclude }>
export type Assessment = Prisma.AssessmentGetPayload<{ include: typeof assessmentInclude }>
