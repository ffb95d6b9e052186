import { sql } from '../../db/builder.ts'
import { sameOrganization } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { unscoped } from '../../db/unscoped.ts'
import { timestamp } from '../../db/writes.ts'
import { repeatBatch } from '../concurrency/bisect.ts'
import type { Connection, ServiceContext } from '../context.ts'

const DAY_MS = 86_400_000
/** Days for which deliveries are kept, unless events are kept for less. */
export const DELIVERIES_KEPT_DAYS = 30
/** With all their attempts. */
const DELIVERIES_AT_ONCE = 1_000

/**
 * Deletes old deliveries, also pending ones, and deleted endpoints without deliveries.
 *
 * @param eventsKeptDays a delivery needs its event.
 */
export async function deleteExpiredDeliveries({ db, deps }: ServiceContext, eventsKeptDays: number): Promise<void> {
  const until = new Date(deps.clock().getTime() - Math.min(DELIVERIES_KEPT_DAYS, eventsKeptDays) * DAY_MS)
  await repeatBatch(DELIVERIES_AT_ONCE, (atMost) => affectedRows(deletionOfDeliveries(db, until, atMost)))
  const deleted = unscoped(db).deleteFrom('webhookEndpoints').where('webhookEndpoints.deletedAt', 'is not', null)
  await deleted
    .where(({ not, exists, selectFrom }) => {
      const deliveries = selectFrom('webhookDeliveries').where(sameOrganization('webhookDeliveries', 'webhookEndpoints'))
      return not(exists(deliveries.whereRef('webhookDeliveries.endpointId', '=', 'webhookEndpoints.id')))
    })
    .execute()
}

const deletionOfDeliveries = (db: Connection, until: Date, atMost: number) =>
  unscoped(db)
    .with(
      (cte) => cte('old').materialized(),
      (old) =>
        old
          .selectFrom('webhookEndpoints as endpoint')
          .crossJoinLateral((eb) => {
            const isKept = eb('endpoint.deletedAt', 'is', null)
            return eb
              .selectFrom('webhookDeliveries as delivery')
              .where(sameOrganization('delivery', 'endpoint'))
              .select(['delivery.organizationId', 'delivery.endpointId', 'delivery.eventId'])
              .whereRef('delivery.endpointId', '=', 'endpoint.id')
              .where('delivery.queuedAt', '<=', eb.case().when(isKept).then(timestamp(until)).else(sql<Date>`'infinity'`).end())
              .orderBy('delivery.queuedAt')
              .limit(atMost)
              .forUpdate()
              .skipLocked()
              .as('its')
          })
          .select(['its.organizationId', 'its.endpointId', 'its.eventId'])
          .limit(atMost),
    )
    .deleteFrom('webhookDeliveries')
    .using('old')
    .where(sameOrganization('webhookDeliveries', 'old'))
    .whereRef('webhookDeliveries.endpointId', '=', 'old.endpointId')
    .whereRef('webhookDeliveries.eventId', '=', 'old.eventId')
