import { sql, statement } from './builder.ts'
import type { Connection } from './client.ts'
import { isUnknownValue } from './errors.ts'
import { run } from './statements.ts'

/** Whether PostgreSQL knows a time zone of this name. Outside of transactions: one would end with a name that it does not know. */
export async function isZoneKnown(db: Connection, zone: string): Promise<boolean> {
  try {
    await run(db, statement(sql`select now() at time zone ${zone}::text`))
    return true
  } catch (error) {
    if (!isUnknownValue(error)) throw error
    return false
  }
}
