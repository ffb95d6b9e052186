import { sql } from '../../../db/builder.ts'
import { affectedRows } from '../../../db/statements.ts'
import type { PreStartCheck } from '../needs.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** Adds checks that the candidate's browser has passed. @throws DomainError session_refused (closed) after the start. */
export async function recordPassedChecks({ ctx, submission }: PreparedSession, passed: readonly PreStartCheck[]): Promise<void> {
  const change = ctx.db
    .updateTable('submissions')
    .where('submissions.id', '=', submission.id)
    .where('submissions.state', '=', 'preparing')
    .set(({ ref }) => ({
      passedChecks: sql<
        string[]
      >`array(select distinct unnest(${ref('submissions.passedChecks')} || ${[...passed]}::text[]) order by 1)`,
      updatedAt: ctx.deps.clock(),
    }))
  if ((await affectedRows(change)) === 0) refuseSession('closed')
}
