type Compiled<Args extends unknown[], Result> = (...args: Args) => Result

/**
 * Compiles each schema on its first use, and only once. Compiling the hundreds of schemas at the start would take 0.2 seconds, and GET and
 * HEAD routes share theirs.
 */
export function compileOnce<Schema extends object, Args extends unknown[], Result>(
  compile: (schema: Schema) => Compiled<Args, Result>,
): (schema: Schema) => Compiled<Args, Result> {
  const compiledSchemas = new WeakMap<Schema, Compiled<Args, Result>>()
  const find = (schema: Schema) => {
    const compiled = compiledSchemas.get(schema) ?? compile(schema)
    compiledSchemas.set(schema, compiled)
    return compiled
  }
  return (schema) => {
    let compiled: Compiled<Args, Result> | undefined
    return (...args) => {
      compiled ??= find(schema)
      return compiled(...args)
    }
  }
}
