import { refuseSession } from './refusals.ts'
import type { PreparedSession } from './session.ts'

/** How many of the tabs before are known. */
const KNOWN_TABS = 8

/**
 * From now on this tab of the candidate's may write, and no other. Asked again, as when the answer was lost, it does not take back what
 * another has taken over since.
 *
 * @throws DomainError session_refused (taken_over).
 */
export async function takeOver({ ctx, submission }: PreparedSession, tab: string): Promise<void> {
  const { db, deps, organization } = ctx
  const taken = await db.$executeRaw`
    UPDATE submissions SET tab = ${tab}::uuid, updated_at = ${deps.clock()},
      earlier_tabs = CASE WHEN tab IS NULL OR tab = ${tab}::uuid THEN earlier_tabs
        ELSE (array_append(earlier_tabs, tab))[GREATEST(1, cardinality(earlier_tabs) + 2 - ${KNOWN_TABS}):] END
    WHERE organization_id = ${organization.id}::uuid AND id = ${submission.id}::uuid AND NOT ${tab}::uuid = ANY(earlier_tabs)`
  if (taken === 0) refuseSession('taken_over')
}
