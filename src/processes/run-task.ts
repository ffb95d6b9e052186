/** Messages of the child process: ready for limits and task, part of the result, end. */
export type Said<Outcome, Part = never> = { ready: true } | { part: Part } | { outcome: Outcome }

/**
 * Main function of a program started by run-limited.ts: runs one task, reports the result, and exits.
 *
 * @param work may send parts of its result. Each resolves when the service has processed it, so that neither side holds all of them.
 * @param describe turns an error into a result.
 */
export function doOneWork<Work, Outcome, Part = never>(
  work: (given: Work, sendPart: (part: Part) => Promise<void>) => Promise<Outcome>,
  describe: (error: unknown) => Outcome,
): void {
  if (!process.send) throw new Error('This program is started by the service')
  const say = (said: Said<Outcome, Part>, then = () => {}) => process.send?.(said, then)
  const end = (outcome: Outcome) => say({ outcome }, () => process.exit())
  const sendPart = async (part: Part) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    process.once('message', () => resolve())
    say({ part })
    await promise
  }
  process.once('disconnect', () => process.exit())
  process.once('uncaughtException', (error) => end(describe(error)))
  process.once('message', (given: Work) => {
    work(given, sendPart).then(end, (error) => end(describe(error)))
  })
  say({ ready: true })
}
