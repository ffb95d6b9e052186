import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const endings = new AsyncDisposableStack()

/** Registers a cleanup for the end of the run, also after a failure or a signal. Cleanups run in reverse order. */
export function onRunEnd(end: () => Promise<unknown>): void {
  if (endings.disposed) end().catch(console.error)
  else endings.defer(async () => void (await end()))
}

/** Runs all cleanups once. A failed cleanup does not prevent the others. */
export const runCleanups = (): Promise<void> => endings.disposeAsync().catch(console.error)

/** True while the run is ending. Failures are then expected. */
export const isEnding = (): boolean => endings.disposed

/** Runs the cleanups on SIGINT and SIGTERM too. */
export function endOnSignals(): void {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.once(signal, async () => {
      console.error(`\n${signal}: ending what was started`)
      await runCleanups()
      process.exit(code)
    })
}

/** Creates a DATA_DIR, and removes it at the end of the run. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-bench-'))
  onRunEnd(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755) // When root runs the benchmark, another user runs the database server.
  return folder
}
