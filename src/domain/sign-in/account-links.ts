import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import type { AccountLinkKind, AccountLinkRef } from '../secrets/account-tokens.ts'
import { DAY_MS } from '../time/days.ts'

/** Validity of a link in milliseconds. */
const LIFETIMES: Record<AccountLinkKind, number> = { join: 7 * DAY_MS, reset: 3_600_000 }

const include = {
  credential: true,
  member: { include: { user: true, organization: { select: { id: true, name: true, tier: true, ownerNamedAt: true } } } },
} satisfies Prisma.AccountLinkInclude

/** A link with the member it was made for and, of a reset, whose password it sets. */
export type AccountLink = Prisma.AccountLinkGetPayload<{ include: typeof include }>

/** A membership that somebody takes up once their sign-in is complete, and the names that they have entered. */
export type PendingJoin = { linkId: string; organizationId: string; memberId: string; firstName: string; lastName: string }

/** Creates a link to join or, with a credential, to reset the password. Earlier join links end. */
export async function createAccountLink(
  { db, deps, organization }: Context,
  { kind, memberId, credentialId = null }: { kind: AccountLinkKind; memberId: string; credentialId?: string | null },
): Promise<{ id: string; kind: AccountLinkKind; expiresAt: Date }> {
  const now = deps.clock()
  const data = { id: deps.newId(), organizationId: organization.id, memberId, kind, credentialId }
  if (kind === 'join')
    await db.accountLink.updateMany({
      where: { organizationId: organization.id, memberId, kind, usedAt: null, expiresAt: { gt: now } },
      data: { expiresAt: now },
    })
  return db.accountLink.create({
    data: { ...data, createdAt: now, expiresAt: new Date(now.getTime() + LIFETIMES[kind]) },
    select: { id: true, kind: true, expiresAt: true },
  })
}

/** The link, while it can be used. To look at it changes nothing, because mail scanners follow links. */
export async function findOpenLink({ db, deps }: ServiceContext, { id, kind }: AccountLinkRef): Promise<AccountLink | null> {
  return db.accountLink.findUnique({
    where: { id, kind, usedAt: null, expiresAt: { gt: deps.clock() }, member: { status: 'active' } },
    include,
    relationLoadStrategy: 'join',
  })
}

/** True while the link is unused and has not expired. */
export const isLinkUsable = async ({ db, deps }: ServiceContext, { id, kind }: AccountLinkRef): Promise<boolean> => {
  const where = { id, kind, usedAt: null, expiresAt: { gt: deps.clock() }, member: { status: 'active' } } as const
  return (await db.accountLink.count({ where })) > 0
}

/** Marks the link as used. @returns true for one of several simultaneous attempts. */
export async function claimLink({ db, deps }: ServiceContext, { id, kind }: AccountLinkRef): Promise<boolean> {
  const now = deps.clock()
  const { count } = await db.accountLink.updateMany({
    where: { id, kind, usedAt: null, expiresAt: { gt: now } },
    data: { usedAt: now },
  })
  return count === 1
}

/** Setting a password invalidates earlier reset links. */
export async function expireResetLinks({ db, deps }: ServiceContext, credentialId: string): Promise<void> {
  await unscopedPrisma(db).accountLink.updateMany({ where: { credentialId, usedAt: null }, data: { usedAt: deps.clock() } })
}
