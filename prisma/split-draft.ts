import { NO_TRANSACTION } from '../src/db/migrations.ts'

const CREATE_INDEX = /^-- CreateIndex\n(?<create>CREATE (?:UNIQUE )?INDEX) (?<rest>"(?<name>\w+)" ON "(?<table>\w+)"[\s\S]*)$/

/**
 * Splits a drafted migration. Each index on an existing table gets its own migration after the rest, which creates it concurrently, so that it
 * doesn't block writes.
 *
 * @returns the SQL of each part, with the name of its index.
 */
export function splitDraft(sql: string): { sql: string; index?: string }[] {
  const statements = sql.trim().split(/\n\n(?=-- )/)
  const made = new Set([...sql.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(([, table]) => table))
  const indexes = statements.flatMap((statement) => {
    const { create, rest, name, table } = CREATE_INDEX.exec(statement)?.groups ?? {}
    if (name === undefined || made.has(table)) return []
    return [{ statement, index: name, sql: `${NO_TRANSACTION}\n${create} CONCURRENTLY IF NOT EXISTS ${rest}` }]
  })
  const apart = new Set(indexes.map(({ statement }) => statement))
  const rest = statements.filter((statement) => !apart.has(statement))
  return [...(rest.length > 0 ? [{ sql: rest.join('\n\n') }] : []), ...indexes.map(({ index, sql }) => ({ index, sql }))]
}

/** Timestamps for new migrations, one second apart. They are later than all existing ones, even if a clock was ahead. */
export function nextTimestamps(names: string[], now: Date, count: number): string[] {
  const times = names
    .map((name) => name.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_.*/, '$1-$2-$3T$4:$5:$6Z'))
    .map((time) => Date.parse(time) + SECOND_MS)
    .filter((time) => !Number.isNaN(time))
  const first = Math.max(now.getTime(), ...times)
  return Array.from({ length: count }, (_, i) => new Date(first + i * SECOND_MS).toISOString().replace(/\D/g, '').slice(0, 14))
}
const SECOND_MS = 1_000
