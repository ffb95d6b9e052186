import { sql } from '../../../db/builder.ts'
import type { Condition, Expressions } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** Earlier tabs that are remembered. */
const KNOWN_TABS = 8

/**
 * Makes this tab the only one that may write. A repeated request doesn't take over again from a later tab.
 *
 * @throws DomainError session_refused (taken_over).
 */
export async function takeOverTab({ ctx, submission }: PreparedSession, tab: string): Promise<void> {
  const isNew = ({ ref }: Expressions<'submissions'>): Condition =>
    sql`not ${tab}::uuid = any(${ref('submissions.previousTabIds')})`
  const change = ctx.db
    .updateTable('submissions')
    .where('submissions.id', '=', submission.id)
    .where(isNew)
    .set(({ ref }) => {
      const [now, earlier] = [ref('submissions.tab'), ref('submissions.previousTabIds')]
      const withNow = sql`(array_append(${earlier}, ${now}))[greatest(1, cardinality(${earlier}) + 2 - ${KNOWN_TABS}::int):]`
      return {
        tab,
        updatedAt: ctx.deps.clock(),
        previousTabIds: sql<string[]>`case when ${now} is null or ${now} = ${tab}::uuid then ${earlier} else ${withNow} end`,
      }
    })
  if ((await affectedRows(change)) === 0) refuseSession('taken_over')
}
