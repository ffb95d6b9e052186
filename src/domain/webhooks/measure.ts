import type { ServiceContext } from '../context.ts'

type Measured = {
  /** Since when the delivery that has waited longest could have been attempted; null when none waits. */
  oldestDue: Date | null
  /** Endpoints that fail, and those that were disabled for it. */
  failing: number
  disabled: number
}

/** How the webhooks of all organizations are doing. */
export async function measureWebhooks({ db }: Pick<ServiceContext, 'db'>, now: Date): Promise<Measured> {
  const [measured] = await db.$queryRaw<[Measured]>`
    SELECT min(first.next_attempt_at) AS "oldestDue",
      count(*) FILTER (WHERE state = 'active' AND failing_since IS NOT NULL)::int AS failing,
      count(*) FILTER (WHERE state = 'disabled' AND disabled_reason <> 'manual')::int AS disabled
    FROM webhook_endpoints endpoint
    LEFT JOIN LATERAL (
      SELECT next_attempt_at FROM webhook_deliveries
      WHERE endpoint_id = endpoint.id AND webhook_deliveries.state = 'waiting' AND endpoint.state = 'active' AND next_attempt_at <= ${now}
      ORDER BY next_attempt_at LIMIT 1
    ) first ON true
    WHERE deleted_at IS NULL`
  return measured
}
