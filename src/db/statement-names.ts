/** Each connection keeps a plan for each named statement, so their number is limited. */
const MAX_NAMED_STATEMENTS = 500
/** Longer lists of values come from imports, in any length. The conditions of the grading queue have up to 200 parameters. */
export const MAX_NAMED_PARAMETERS = 150

export type NameStatement = (query: { sql: string; args: readonly unknown[] }) => string

/** A named statement is parsed once for each connection, and planned once where its values make no difference: half the cost of a look-up. */
export function nameStatements(): NameStatement {
  const names = new Map<string, string>()
  return ({ sql, args }) => {
    const knownName = names.get(sql)
    if (knownName !== undefined) return knownName
    if (names.size >= MAX_NAMED_STATEMENTS || args.length > MAX_NAMED_PARAMETERS) return ''
    const name = `s${names.size}`
    names.set(sql, name)
    return name
  }
}
