/** What a schema is compiled to. */
type Compiled<Args extends unknown[], Result> = (...given: Args) => Result

/**
 * Compiles schemas when they are first needed, and each once, wherever it is used: there are hundreds, a start that waited for all of them
 * would take a fifth of a second longer, and GET and HEAD have the same.
 */
export function compileOnce<Schema extends object, Args extends unknown[], Result>(
  compile: (schema: Schema) => Compiled<Args, Result>,
): (schema: Schema) => Compiled<Args, Result> {
  const known = new WeakMap<Schema, Compiled<Args, Result>>()
  const find = (schema: Schema) => {
    const compiled = known.get(schema) ?? compile(schema)
    known.set(schema, compiled)
    return compiled
  }
  return (schema) => {
    let compiled: Compiled<Args, Result> | undefined
    return (...given) => {
      compiled ??= find(schema)
      return compiled(...given)
    }
  }
}
