/** What a program that is started for one work says: that it can be given its limits, and its work then; and how that ended. */
export type Said<Outcome> = { ready: true } | { outcome: Outcome }

/**
 * The whole of such a program, see run-limited.ts: does the one work that it is given, says what came of it, and ends.
 *
 * @param describe what went wrong, as an outcome.
 */
export function doOneWork<Work, Outcome>(work: (given: Work) => Promise<Outcome>, describe: (error: unknown) => Outcome): void {
  if (!process.send) throw new Error('This program is started by the service')
  const say = (said: Said<Outcome>, then = () => {}) => process.send?.(said, then)
  const end = (outcome: Outcome) => say({ outcome }, () => process.exit())
  process.once('disconnect', () => process.exit())
  process.once('uncaughtException', (error) => end(describe(error)))
  process.once('message', (given: Work) => {
    work(given).then(end, (error) => end(describe(error)))
  })
  say({ ready: true })
}
