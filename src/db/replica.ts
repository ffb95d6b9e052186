import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from './builder.ts'
import { createDb, type Db, openPool } from './client.ts'
import { identity } from './identity.ts'
import { rawStatement } from './statements.ts'

const LOOK_EVERY_MS = 1_000
/** A replica further behind is not read from. */
const MAX_LATENESS_MS = 5_000

type Log = Record<'info' | 'warn', (fields: object, message: string) => void>

/** Primary, log, and pool size of a replica. */
type Following = [primary: Db, log: Log, { poolSize: number }]

/** A replica that is watched: how far behind the primary it is. */
export type WatchedReplica = {
  /** The replica to read from; undefined while it is away or lags. */
  current: () => { db: Db; head: bigint } | undefined
  /** Milliseconds that it lags behind at most; Infinity if unknown. */
  lateness: () => number
  close: () => Promise<void>
}

/** Uses the first readable of several replicas: a failover changes which one is the primary. */
export function watchReplicas(urls: string[], ...following: Following): WatchedReplica {
  const replicas = urls.map((url) => watchReplica(url, ...following))
  return {
    current: () => replicas.map(({ current }) => current()).find((replica) => replica !== undefined),
    lateness: () => Math.min(...replicas.map(({ lateness }) => lateness())),
    close: async () => void (await Promise.all(replicas.map(({ close }) => close()))),
  }
}

/**
 * Follows a streaming replica of the primary. Once a second it notes the primary's log position, and which of its notes the replica has
 * reached.
 *
 * After a failover the replica may have data that the new primary lacks. It is read again only after it has received everything that the
 * new primary had written.
 *
 * @param url address of a single server. Behind a load balancer, replicas with different delays would leave holes in the feed.
 */
function watchReplica(url: string, ...[primary, log, { poolSize }]: Following): WatchedReplica {
  const db = createDb(openPool(url, { max: poolSize }))
  const replica = URL.parse(url)?.host
  const ending = new AbortController()
  /** Times of `performance.now()` and how far the primary was then, the newest last. */
  let notes: { at: number; bytes: bigint }[] = []
  let asOf = Number.NEGATIVE_INFINITY
  let head = 0n
  let wasUsable: boolean | undefined

  const lateness = () => performance.now() - asOf
  const isUsable = () => lateness() <= MAX_LATENESS_MS

  async function measure(): Promise<void> {
    const time = performance.now()
    const { bytes, database } = await rawStatement(primary, onPrimary).executeTakeFirstOrThrow()
    notes.push({ at: time, bytes: BigInt(bytes) })
    const replicaState = await rawStatement(db, onReplica).executeTakeFirstOrThrow()
    if (!replicaState.isReplica) throw new Error('it is no replica: it takes changes itself')
    // After a failover the replica may have data that the new primary lacks. Its identity comes from the primary that it follows.
    if (replicaState.database !== database)
      throw new Error('it is the replica of another database, or of the primary before a failover')
    const reached = notes.findLastIndex((note) => note.bytes <= BigInt(replicaState.bytes))
    if (reached < 0) return
    notes = notes.slice(reached)
    asOf = notes[0]!.at
    head = BigInt(replicaState.head)
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      const reason = await measure().then(
        () => `it is more than ${MAX_LATENESS_MS / 1_000} s behind`,
        (error: Error) => error.message,
      )
      logChange(reason)
      await sleep(LOOK_EVERY_MS, undefined, { signal: ending.signal, ref: false }).catch(() => {})
    }
  }

  function logChange(reason: string): void {
    if (ending.signal.aborted || isUsable() === wasUsable) return
    wasUsable = isUsable()
    if (wasUsable) log.info({ replica }, 'lists are read from the replica again')
    else log.warn({ replica, reason }, 'lists cannot be read from the replica')
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

const lsnOf = (position: string) => sql<string>`coalesce(${sql.raw(position)} - '0/0'::pg_lsn, 0)::bigint`

const onPrimary = sql<{
  bytes: string
  database: string
}>`select ${lsnOf('pg_current_wal_lsn()')} as bytes, ${identity} as database`

/** Reads after this are at least as recent as the position it returns. */
const onReplica = sql<{ isReplica: boolean; bytes: string; database: string | null; head: string }>`
    select pg_is_in_recovery() as "isReplica", ${lsnOf('pg_last_wal_replay_lsn()')} as bytes, database, position as head
    from event_sequence`
