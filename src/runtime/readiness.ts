import { setTimeout as sleep } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import { sql } from '../db/builder.ts'
import { hasMigrations } from '../db/migrate.ts'
import { rawStatement } from '../db/statements.ts'
import type { ServiceContext } from '../domain/context.ts'

const CHECK_TIMEOUT_MS = 2_000

export type ReadinessCheck = [name: string, check: () => Promise<unknown>]

/**
 * Runs all checks. @returns the names of those that failed within {@link CHECK_TIMEOUT_MS}.
 *
 * @param migrations names of this release's migrations. @param furtherChecks further checks.
 */
export async function findProblems(
  { db }: ServiceContext,
  boss: PgBoss,
  migrations: string[],
  furtherChecks: ReadinessCheck[] = [],
): Promise<string[]> {
  const checks: ReadinessCheck[] = [
    ['database', () => rawStatement(db, sql`select 1`).executeTakeFirstOrThrow()],
    [
      'migrations',
      async () => {
        if (!(await hasMigrations(db, migrations))) throw new Error('some are missing')
      },
    ],
    [
      'queue',
      async () => {
        if (!(await boss.isInstalled())) throw new Error('not installed')
      },
    ],
    ...furtherChecks,
  ]
  const results = await Promise.allSettled(checks.map(([, check]) => Promise.race([check(), rejectAfterTimeout()])))
  const failed = checks.flatMap(([name], i) => (results[i]!.status === 'rejected' ? [name] : []))
  return failed.includes('database') ? failed.filter((name) => name !== 'writes') : failed
}

/** A check that takes this long counts as failed. */
async function rejectAfterTimeout(): Promise<never> {
  await sleep(CHECK_TIMEOUT_MS, undefined, { ref: false })
  throw new Error('no answer in time')
}
