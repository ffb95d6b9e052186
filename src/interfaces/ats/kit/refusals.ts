import type { OrderStanding } from '../../../domain/ats/standing.ts'
import type { Context } from '../../../domain/context.ts'

/** Of an order for which the result is there: when it was released, and where it is. */
export function wordReleased({ deps, organization }: Context, { inviteId: id, result }: OrderStanding): string {
  const day = result ? ` on ${result.at.toISOString().slice(0, 10)}` : ''
  const address = deps.links.portalUrl({ organizationId: organization.id, id })
  return `The candidate has taken this assessment, and the result was released${day}: ${address}`
}
