import { scopeWhere } from '../../db/queries.ts'
import type { AtsConnection, Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, KeyMode, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { ATS_SYSTEMS, type Ats } from '../ports/ats-settings.ts'
import { isUuid } from '../text/uuid.ts'

// An organization's connections to applicant tracking systems. One that the operator has not switched on is not there.

const include = {
  keys: {
    omit: { hash: true, encryptedKey: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    include: { createdBy: { select: { user: { select: { firstName: true, lastName: true, email: true } } } } },
  },
} satisfies Prisma.AtsConnectionInclude
const omit = { encryptedApiKey: true } as const

/** Connection with its keys, without secrets. */
export type ConnectionDetail = Prisma.AtsConnectionGetPayload<{ include: typeof include; omit: typeof omit }> & { ats: Ats }
export type AtsKeySummary = ConnectionDetail['keys'][number]

/** The systems that the operator has switched on. */
export const enabledSystems = ({ deps }: Pick<ServiceContext, 'deps'>): Ats[] =>
  ATS_SYSTEMS.filter((ats) => deps.ats[ats] !== undefined)

export const isAts = (text: string): text is Ats => ATS_SYSTEMS.some((ats) => ats === text)

/** @throws DomainError ats_not_found. */
export function requireEnabled({ deps }: Context, ats: Ats): void {
  if (deps.ats[ats] === undefined) throw new DomainError('ats_not_found')
}

/** The organization's connections to one system. @throws DomainError not_permitted; ats_not_found. */
export async function listConnections(ctx: Context, ats: Ats): Promise<ConnectionDetail[]> {
  authorize(ctx, 'manage_ats')
  requireEnabled(ctx, ats)
  const where = { organizationId: ctx.organization.id, ats }
  const rows = await ctx.db.atsConnection.findMany({ where, include, omit, orderBy: { mode: 'asc' } })
  return rows.map((row) => ({ ...row, ats }))
}

/** @throws DomainError not_permitted; ats_not_found. */
export async function getConnection(ctx: Context, id: string): Promise<ConnectionDetail> {
  authorize(ctx, 'manage_ats')
  const where = { ...scopeWhere(ctx), id }
  const row = isUuid(id) ? await ctx.db.atsConnection.findFirst({ where, include, omit }) : null
  if (!row || !isAts(row.ats)) throw new DomainError('ats_not_found')
  requireEnabled(ctx, row.ats)
  return { ...row, ats: row.ats }
}

/** True if the organization entered the system's key. @param ctx of a recruiting system. */
export async function hasAtsApiKey(ctx: Context, connectionId: string): Promise<boolean> {
  const where = { organizationId: ctx.organization.id, id: connectionId, encryptedApiKey: { not: null } }
  return (await ctx.db.atsConnection.count({ where })) > 0
}

/** Finds or creates the connection to a system for invites of a mode. @param inside a transaction. */
export async function findConnection(inside: Context, ats: Ats, mode: KeyMode): Promise<AtsConnection> {
  const { db, deps } = inside
  const organizationId = inside.organization.id
  const now = deps.clock()
  const data = { id: deps.newId(), organizationId, ats, mode, createdAt: now, updatedAt: now }
  await db.atsConnection.createMany({ data: [data], skipDuplicates: true })
  return db.atsConnection.findUniqueOrThrow({ where: { organizationId_ats_mode: { organizationId, ats, mode } } })
}
