// Shared by lists of candidates and bulk changes: a job works through many rows in parts.

/** Rows of one job: a few seconds of work. */
export const ROWS_PER_JOB = 200
/** Concurrent rows. Leaves database connections for requests. */
const AT_ONCE = 3

/**
 * Processes some of the remaining rows.
 *
 * @param find finds the first remaining rows, up to a limit. @returns true if there may be more.
 */
export async function processRows<Row>(
  find: (most: number) => Promise<Row[]>,
  work: (row: Row) => Promise<void>,
): Promise<boolean> {
  const rows = await find(ROWS_PER_JOB)
  for (let i = 0; i < rows.length; i += AT_ONCE) await Promise.all(rows.slice(i, i + AT_ONCE).map(work))
  return rows.length === ROWS_PER_JOB
}
