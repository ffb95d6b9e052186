import { violatedConstraint } from './errors.ts'

/**
 * Does a statement whose ON CONFLICT names a key beside which an earlier one of the same columns stands for one more release. Where several
 * insert the same row at once, PostgreSQL refuses all but one by the earlier key: done once more, the statement finds the row. Not for the
 * inside of a transaction, which is over then.
 */
export async function besideEarlierKey<T>(earlier: string, statement: () => Promise<T>): Promise<T> {
  try {
    return await statement()
  } catch (error) {
    if (violatedConstraint(error) !== earlier) throw error
    return statement()
  }
}
