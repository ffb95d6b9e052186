import { sql } from '../../db/builder.ts'
import { isNotSuspended } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'

type Measured = {
  /** Since when the delivery that has waited longest could have been attempted; null when none waits. */
  oldestDue: Date | null
  /** Endpoints with failures, and endpoints disabled because of them. */
  failing: number
  disabled: number
}

type Failing = { name: string; since: Date }

/** Backlog and failures of the webhooks of all organizations. */
export const measureWebhooks = ({ db }: Pick<ServiceContext, 'db'>, now: Date): Promise<Measured> =>
  unscoped(db)
    .selectFrom('webhookEndpoints as endpoint')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('webhookDeliveries as delivery')
          .select('delivery.nextAttemptAt')
          .whereRef('delivery.endpointId', '=', 'endpoint.id')
          .where('delivery.state', '=', sql.lit('waiting'))
          .where('endpoint.state', '=', 'active')
          .where(isNotSuspended('endpoint'))
          .where('delivery.nextAttemptAt', '<=', now)
          .orderBy('delivery.nextAttemptAt')
          .limit(eb.lit(1))
          .as('first'),
      (join) => join.onTrue(),
    )
    .where('endpoint.deletedAt', 'is', null)
    .select((eb) => {
      const failing = eb.fn
        .countAll()
        .filterWhere('endpoint.state', '=', 'active')
        .filterWhere('endpoint.failingSince', 'is not', null)
      const disabled = eb.fn
        .countAll()
        .filterWhere('endpoint.state', '=', 'disabled')
        .filterWhere('endpoint.disabledReason', '<>', 'manual')
      return [
        eb.fn.min('first.nextAttemptAt').as('oldestDue'),
        eb.cast<number>(failing, 'integer').as('failing'),
        eb.cast<number>(disabled, 'integer').as('disabled'),
      ]
    })
    .executeTakeFirstOrThrow()

/** Organizations that have endpoints which fail, with the time of the first failure; the longest-failing first. */
export const listFailingOrganizations = ({ db }: Pick<ServiceContext, 'db'>, limit: number): Promise<Failing[]> =>
  unscoped(db)
    .selectFrom('webhookEndpoints as endpoint')
    .innerJoin('organizations as organization', 'organization.id', 'endpoint.organizationId')
    .where('endpoint.deletedAt', 'is', null)
    .where('endpoint.state', '=', 'active')
    .where('endpoint.failingSince', 'is not', null)
    .groupBy('organization.id')
    .select(['organization.name', (eb) => eb.fn.min('endpoint.failingSince').$notNull().as('since')])
    .orderBy('since')
    .limit(limit)
    .execute()
