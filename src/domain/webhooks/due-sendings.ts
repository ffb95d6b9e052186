import { sql } from '../../db/builder.ts'

/** Messages to one receiver (a webhook endpoint, or a connection to an ATS) that are due. */
export type DueSendings = {
  organizationId: string
  receiverId: string
  /** An organization's new events come before its replays. */
  isReplay: boolean
  /** The receiver's last answer was a failure. */
  isFailing: boolean
  /** Counted no further than there are free places. */
  count: number
}

/** Receivers as rows, with the number of due sendings granted to each. */
export function grantedRows(granted: readonly DueSendings[]) {
  const ids = granted.map(({ receiverId }) => receiverId)
  const replays = granted.map(({ isReplay }) => isReplay)
  const counts = granted.map(({ count }) => count)
  const rows = sql<{ id: string; isReplay: boolean; count: number }>`unnest(${ids}::uuid[], ${replays}::bool[], ${counts}::int[])`
  return rows.as<'granted'>(sql`granted (id, is_replay, count)`)
}
