import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

const endings = new AsyncDisposableStack()

/** Notes how to end what was just begun. It happens at the end of the run, whichever that is, last begun first. */
export function atTheEnd(end: () => Promise<unknown>): void {
  if (endings.disposed) end().catch(console.error)
  else endings.defer(async () => void (await end()))
}

/** Ends all that was begun, once. What fails to end keeps nothing else from ending. */
export const endAll = (): Promise<void> => endings.disposeAsync().catch(console.error)

/** True while the run is ending. Failures are then expected. */
export const isEnding = (): boolean => endings.disposed

/** A signal ends the run like its last line does. */
export function endOnSignals(): void {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.once(signal, async () => {
      console.error(`\n${signal}: ending what was started`)
      await endAll()
      process.exit(code)
    })
}

/** A DATA_DIR, until the end. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-bench-'))
  atTheEnd(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755) // under root the database server is another user's
  return folder
}
