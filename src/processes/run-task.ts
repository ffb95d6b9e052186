/** Messages of the child process: ready for limits and task, part of the result, end. */
export type ChildMessage<Outcome, Part = never> = { ready: true } | { part: Part } | { outcome: Outcome }

/**
 * Main function of a program started by run-limited.ts: runs one task, reports the result, and exits.
 *
 * @param work may send parts of its result. Each resolves when the service has processed it, so that neither side holds all of them.
 * @param describe turns an error into a result.
 */
export function runTask<Work, Outcome, Part = never>(
  work: (task: Work, sendPart: (part: Part) => Promise<void>) => Promise<Outcome>,
  describe: (error: unknown) => Outcome,
): void {
  if (!process.send) throw new Error('This program is started by the service')
  const send = (message: ChildMessage<Outcome, Part>, onSent = () => {}) => process.send?.(message, onSent)
  const finish = (outcome: Outcome) => send({ outcome }, () => process.exit())
  const sendPart = async (part: Part) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    process.once('message', () => resolve())
    send({ part })
    await promise
  }
  process.once('disconnect', () => process.exit())
  process.once('uncaughtException', (error) => finish(describe(error)))
  process.once('message', (task: Work) => {
    work(task, sendPart).then(finish, (error) => finish(describe(error)))
  })
  send({ ready: true })
}
