import { setTimeout as sleep } from 'node:timers/promises'
import { Prisma } from '../generated/prisma/client.ts'
import { createDb, type Db, openPool } from './client.ts'

const LOOK_EVERY_MS = 1_000
/** A replica further behind is not read from. */
const MAX_LATENESS_MS = 5_000

type Log = Record<'info' | 'warn', (fields: object, message: string) => void>

/** A replica that is watched: how far behind the primary it is. */
export type WatchedReplica = {
  /** What may be read from now; undefined while it is away or too late. */
  current: () => { db: Db; head: bigint } | undefined
  /** Milliseconds by which it is behind, at most; Infinity where that is not known. */
  lateness: () => number
  close: () => Promise<void>
}

/** How far a database is with its log of changes, in bytes, and which cluster it belongs to. */
type Mark = { bytes: bigint; cluster: string | null }

/** SQL: null where the role is not allowed to ask. */
const cluster = Prisma.sql`
  CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE')
    THEN (SELECT system_identifier::text FROM pg_control_system()) END AS cluster`

/**
 * Follows a streaming replica of the primary. Once a second it notes how far the primary's log goes, and up to which of its notes the
 * replica has come.
 *
 * @param url one server's: behind a load balancer of several, each further behind or ahead, the feed would have holes.
 */
export function watchReplica(url: string, primary: Db, log: Log, { poolSize }: { poolSize: number }): WatchedReplica {
  const db = createDb(openPool(url, { max: poolSize }))
  const ending = new AbortController()
  /** Times of `performance.now()` and how far the primary was then, the newest last. */
  let notes: { at: number; bytes: bigint }[] = []
  let asOf = Number.NEGATIVE_INFINITY
  let head = 0n
  let wasUsable: boolean | undefined

  const lateness = () => performance.now() - asOf
  const isUsable = () => lateness() <= MAX_LATENESS_MS

  async function look(): Promise<void> {
    const at = performance.now()
    const [{ bytes, cluster }] = await readPrimary(primary)
    notes.push({ at, bytes })
    const [its] = await readReplica(db)
    if (!its?.isReplica) throw new Error('it is no replica: it takes changes itself')
    if (its.cluster !== cluster) throw new Error('it is the replica of another database')
    const reached = notes.findLastIndex((note) => note.bytes <= its.bytes)
    if (reached < 0) return
    notes = notes.slice(reached)
    asOf = notes[0]!.at
    head = its.head
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const reason = await look().then(
        () => `it is more than ${MAX_LATENESS_MS / 1_000} s behind`,
        (error: Error) => error.message,
      )
      tell(reason)
      await sleep(LOOK_EVERY_MS, undefined, { signal: ending.signal, ref: false }).catch(() => {})
    }
  }

  function tell(reason: string): void {
    if (ending.signal.aborted || isUsable() === wasUsable) return
    wasUsable = isUsable()
    if (wasUsable) log.info({}, 'lists are read from the replica')
    else log.warn({ reason }, 'the replica can not be read from: lists are read from the primary')
  }

  const running = run()
  return {
    current: () => (isUsable() ? { db, head } : undefined),
    lateness,
    async close() {
      ending.abort()
      await running
      await db.$disconnect()
    },
  }
}

const readPrimary = (db: Db) => db.$queryRaw<[Mark]>`SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint AS bytes, ${cluster}`

/** What is read after this is no older than what it tells. */
const readReplica = (db: Db) =>
  db.$queryRaw<(Mark & { isReplica: boolean; head: bigint })[]>`
    SELECT pg_is_in_recovery() AS "isReplica", coalesce(pg_last_wal_replay_lsn() - '0/0'::pg_lsn, 0)::bigint AS bytes, ${cluster},
      position AS head
    FROM event_numbering`
