/** Messages from the program: it can be given its limits and its work, a part of the result, the end. */
export type Said<Outcome, Part = never> = { ready: true } | { part: Part } | { outcome: Outcome }

/**
 * The whole of a program that run-limited.ts starts: does the one work that it is given, says what came of it, and ends.
 *
 * @param work may send parts of its result: each resolves once the service has taken it, so that neither side holds all of them.
 * @param describe what went wrong, as an outcome.
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
