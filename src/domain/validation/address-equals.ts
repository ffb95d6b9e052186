import { sql } from '../../db/builder.ts'
import type { Condition, Expression } from '../../db/queries.ts'

/** The column has that address, in either case. @param address as toStoredAddress has it. */
export const addressEquals = (column: Expression<string>, address: string): Condition =>
  sql`address_key(${column}) = address_key(${address})`
