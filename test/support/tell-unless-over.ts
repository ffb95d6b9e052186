const SOON_MS = 10_000
const tell = setTimeout // also of a test that has replaced the clock since

/**
 * For what may hang: says it on standard error in 10 s, unless `clearTimeout` comes first. It decides nothing: a busy machine takes as long as
 * it does. Nothing is said where nobody looks on (TEST_RETRIES, see .ci/run).
 */
export const tellUnlessOver = (describe: () => string): NodeJS.Timeout | undefined =>
  process.env.TEST_RETRIES ? undefined : tell(() => process.stderr.write(`${describe()}\n`), SOON_MS)
