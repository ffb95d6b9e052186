import type { Connection } from '../../db/client.ts'

/** Read replica of the database. It lags the primary by moments. */
export type Replica = {
  db: Connection
  /** Feed position up to which the replica has all events and the changes they describe. */
  head: bigint
}
