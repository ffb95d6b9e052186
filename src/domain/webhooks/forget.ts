import type { ServiceContext } from '../context.ts'
import { repeatInHalves } from '../in-halves.ts'

const DAY_MS = 86_400_000
/** Days for which deliveries are kept, unless events are kept for less. */
export const DELIVERIES_KEPT_DAYS = 30
/** Deliveries a statement, with all their attempts. */
const FORGOTTEN_AT_ONCE = 1_000

/**
 * Forgets deliveries, waiting ones too, and endpoints that were deleted.
 *
 * @param eventsKeptDays without its event there is nothing to deliver.
 */
export async function forgetOldDeliveries({ db, deps }: ServiceContext, eventsKeptDays: number): Promise<void> {
  const until = new Date(deps.clock().getTime() - Math.min(DELIVERIES_KEPT_DAYS, eventsKeptDays) * DAY_MS)
  await repeatInHalves(
    FORGOTTEN_AT_ONCE,
    (atMost) => db.$executeRaw`
      WITH old AS MATERIALIZED (
        SELECT its.* FROM webhook_endpoints endpoint
        CROSS JOIN LATERAL (
          SELECT organization_id, endpoint_id, event_id FROM webhook_deliveries
          WHERE organization_id = endpoint.organization_id AND endpoint_id = endpoint.id
            AND queued_at <= CASE WHEN endpoint.deleted_at IS NULL THEN ${until}::timestamptz ELSE 'infinity' END
          ORDER BY queued_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED
        ) its
        LIMIT ${atMost}
      )
      DELETE FROM webhook_deliveries delivery USING old
      WHERE delivery.organization_id = old.organization_id AND delivery.endpoint_id = old.endpoint_id AND delivery.event_id = old.event_id`,
  )
  await db.$executeRaw`
    DELETE FROM webhook_endpoints endpoint WHERE deleted_at IS NOT NULL AND NOT EXISTS (
      SELECT FROM webhook_deliveries WHERE organization_id = endpoint.organization_id AND endpoint_id = endpoint.id)`
}
