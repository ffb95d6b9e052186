import { enterOrganization, type ServiceContext } from '../context.ts'
import { eraseOrganization } from './erase-organization.ts'
import { type OrganizationLine, readOrganizationLines } from './organization-receipts.ts'
import type { LogReader } from './receipts.ts'

// A backup from before brings back an organization that was erased.

/** Organizations that the log lists as erased and that exist again, because a backup was restored. A new organization has a new id. */
export async function findRestoredOrganizations(service: LogReader): Promise<OrganizationLine[]> {
  const lines = await readOrganizationLines(service)
  const where = { id: { in: lines.map(({ organizationId }) => organizationId) } }
  const existing = await service.db.organization.findMany({ where, select: { id: true, createdAt: true } })
  const createdAt = new Map(existing.map((organization) => [organization.id, organization.createdAt]))
  const returned = lines.filter(({ organizationId, requestedAt }) => {
    const restoredAt = createdAt.get(organizationId)
    return restoredAt !== undefined && restoredAt <= new Date(requestedAt)
  })
  // An organization that was restored and erased several times has several lines.
  return [...new Map(returned.map((line) => [line.organizationId, line])).values()]
}

/** Repeats the erasures of restored organizations, to their end. */
export async function eraseRestoredOrganizations(operator: ServiceContext): Promise<OrganizationLine[]> {
  const returned = await findRestoredOrganizations(operator)
  for (const { id, organizationId, actor, requestedAt } of returned) {
    const organization = await operator.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const now = operator.deps.clock()
    const suspension = {
      id,
      actorKind: actor.kind,
      actorId: actor.id,
      requestedAt: new Date(requestedAt),
      erasesAt: now,
      startedAt: now,
    }
    const where = { organizationId }
    await operator.db.organizationSuspension.upsert({ where, create: { organizationId, ...suspension }, update: suspension })
    await eraseOrganization(enterOrganization(operator, organization), id)
  }
  return returned
}
