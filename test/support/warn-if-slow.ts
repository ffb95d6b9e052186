const SOON_MS = 10_000
const tell = setTimeout // the real function, even if a test replaces the clock later

/**
 * Prints a message about work that may hang to standard error after 10 s, unless the timer is cleared first. It fails no test, because a busy
 * machine may be slow. It prints nothing in unattended runs (TEST_RETRIES, see .ci/run).
 */
export const warnIfSlow = (describe: () => string): NodeJS.Timeout | undefined =>
  process.env.TEST_RETRIES ? undefined : tell(() => process.stderr.write(`${describe()}\n`), SOON_MS)
