import type { Context } from '../context.ts'

/** Ends the recordings that are still under way: those of which something has arrived are complete, the others abandoned. */
export async function completeOpenRecordings({ db, deps, organization }: Context, submissionId: string): Promise<void> {
  await db.$executeRaw`
    UPDATE takes t SET
      state = CASE WHEN EXISTS (
        SELECT FROM media_parts p WHERE p.organization_id = t.organization_id AND p.media_id = t.media_id
      ) THEN 'complete'::take_state ELSE 'abandoned'::take_state END,
      completed_at = ${deps.clock()}
    WHERE t.organization_id = ${organization.id}::uuid AND t.submission_id = ${submissionId}::uuid AND t.state = 'recording'`
}
