const EVERY_MS = 50
/** Playing is measured for so long. A cold audio output may take a second to begin. */
const MEASURED_MS = 3_000

/**
 * Measures when the playback position of an audio or video element was 0, or would have been. The `playing` event comes up to half a second
 * too early, so the position is read during playback: the median is right even if the page is busy now and then.
 *
 * @param from seconds at which it begins to play. @param done called when enough is measured.
 */
export function measurePlaying(media: { currentTime: number; paused: boolean }, from: number, done: () => void) {
  const zeros: number[] = []
  const timer = setInterval(() => {
    if (!media.paused && media.currentTime > from) zeros.push(performance.now() - media.currentTime * 1_000)
    if (zeros.length < MEASURED_MS / EVERY_MS) return
    clearInterval(timer)
    done()
  }, EVERY_MS)
  return {
    stop: () => clearInterval(timer),
    /** Milliseconds of `performance.now()`; null if nothing has played. */
    median: (): number | null => zeros.toSorted((a, b) => a - b)[Math.floor(zeros.length / 2)] ?? null,
  }
}
