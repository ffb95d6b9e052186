import { applyLaterEnds } from '../answering/later-ends.ts'
import type { Player } from '../session/player.ts'

const EVERY_MS = 60_000
const LOOK_FOR_SLEEP_MS = 1_000
/** The difference between the device's two clocks changes by more than this only after sleep, or if a clock was set. */
const SLEPT_MS = 2_000

/** Reads the service's time and state regularly, because `performance.now()` may stop while the device sleeps. */
export function syncWithService(player: Player): void {
  const { session } = player
  const synchronize = async () => {
    if (document.hidden || session.isTakenOver() || !document.querySelector('[data-taking]')) return
    const read = await session.read().catch(() => null)
    // The submission was submitted in another tab or by the clock, or withdrawn, or the link was replaced. The reloaded page says so.
    if (read?.state !== player.state.state) await player.refresh()
    else applyLaterEnds(player, read)
  }
  setInterval(synchronize, EVERY_MS)
  document.addEventListener('visibilitychange', synchronize)
  let clockDifference = Date.now() - performance.now()
  setInterval(() => {
    const before = clockDifference
    clockDifference = Date.now() - performance.now()
    if (Math.abs(clockDifference - before) > SLEPT_MS) void synchronize()
  }, LOOK_FOR_SLEEP_MS)
}
