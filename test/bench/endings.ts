type Ending = { what: string; end: () => Promise<unknown> }

const endings: Ending[] = []
let ended: Promise<void> | undefined

/** Notes how to end what was just begun. It happens at the end of the run, whichever that is, last begun first. */
export function atTheEnd(what: string, end: () => Promise<unknown>): void {
  endings.push({ what, end })
  if (ended) ended = ended.then(endNoted)
}

/** Ends all that was begun, once. What fails to end is told, and keeps nothing else from ending. */
export function endAll(): Promise<void> {
  ended ??= endNoted()
  return ended
}

/** Whether the run is being ended: what fails then fails for that. */
export const isEnding = (): boolean => ended !== undefined

/** A signal ends the run like its last line does. */
export function endOnSignals(): void {
  const codes = { SIGINT: 130, SIGTERM: 143 }
  for (const [signal, code] of Object.entries(codes))
    process.once(signal, async () => {
      console.error(`\n${signal}: ending what was started`)
      await endAll()
      process.exit(code)
    })
}

async function endNoted(): Promise<void> {
  for (let ending = endings.pop(); ending; ending = endings.pop()) {
    const { what, end } = ending
    await end().catch((error) => console.error(`${what} could not be ended:`, error))
  }
}
