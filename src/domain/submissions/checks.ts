import type { Check } from './needs.ts'
import { refuseSession } from './refusals.ts'
import type { PreparedSession } from './session.ts'

/** Keeps which checks the candidate's browser has passed; those of before stay passed. @throws DomainError session_refused (closed) after the start. */
export async function passChecks({ ctx, submission }: PreparedSession, passed: readonly Check[]): Promise<void> {
  const { db, deps, organization } = ctx
  const kept = await db.$executeRaw`
    UPDATE submissions SET passed_checks = ARRAY(SELECT DISTINCT unnest(passed_checks || ${[...passed]}::text[]) ORDER BY 1),
      updated_at = ${deps.clock()}
    WHERE organization_id = ${organization.id}::uuid AND id = ${submission.id}::uuid AND state = 'preparing'`
  if (kept === 0) refuseSession('closed')
}
