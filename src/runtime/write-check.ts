import type { FastifyBaseLogger } from 'fastify'
import { sql } from '../db/builder.ts'
import { executeAll, rawStatement } from '../db/statements.ts'
import type { Connection } from '../domain/context.ts'
import { createWatchedCheck } from './watched-check.ts'

const TRUSTED_FOR_MS = 5_000

const useLittleMemory = sql`SELECT set_config('work_mem', '64kB', true)`
/** Sorts 1.6 MB on disk. A small write could reuse existing pages, and a large one would leave garbage. */
const sortOnDisk = sql<{ isReadOnly: boolean }>`
    SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", count(DISTINCT repeat(n::text, 100))
    FROM generate_series(1, 4000) AS n`

/** Checks that the database accepts writes: it is not a standby, and its disk is not full. */
export function createWriteCheck(db: Connection, log: FastifyBaseLogger): () => Promise<void> {
  const check = async () => {
    const [row] = await executeAll(db, [rawStatement(db, useLittleMemory), rawStatement(db, sortOnDisk)])
    if (row?.isReadOnly) throw new Error('the database is read-only')
  }
  return createWatchedCheck(check, {
    trustedForMs: TRUSTED_FOR_MS,
    onFailure: (err) => log.error({ err }, 'the database accepts no writes: check whether its disk is full, or it is a standby'),
    onRecovery: () => log.info('the database accepts writes again'),
  })
}
