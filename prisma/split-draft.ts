import { NO_TRANSACTION } from '../src/db/migrations.ts'

const CREATE_INDEX = /^-- CreateIndex\n(?<create>CREATE (?:UNIQUE )?INDEX) (?<rest>"(?<name>\w+)" ON "(?<table>\w+)"[\s\S]*)$/

/**
 * Splits a drafted migration: an index on a table that is there already would keep everybody from writing to it while it is made, so it
 * is made concurrently, in a migration of its own, after the rest.
 *
 * @returns each part's SQL, with the name of the index it makes.
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
