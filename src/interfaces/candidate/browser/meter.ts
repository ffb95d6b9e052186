const SILENCE_MS = 2_500
/** Of the loudest sample, from 0 to 1. */
const SILENT_BELOW = 0.02
const EVERY_MS = 100
/** More samples than there are between two looks, so that no sound falls between them. */
const SAMPLES = 8_192

/**
 * Measures how loud a stream is.
 *
 * @param on.level ten times a second, from 0 to 1.
 * @param on.silent when nothing has been heard for 2.5 seconds, and when something is heard again.
 * @returns what ends it.
 */
export function measureLevel(
  stream: MediaStream,
  on: { level: (level: number) => void; silent: (isSilent: boolean) => void },
): () => void {
  const context = new AudioContext()
  const analyser = new AnalyserNode(context, { fftSize: SAMPLES })
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(SAMPLES)
  let heard = performance.now()
  let isSilent = false
  const timer = setInterval(() => {
    if (context.state === 'suspended') void context.resume() // browsers begin so, until the candidate has pressed something
    analyser.getFloatTimeDomainData(samples)
    const loudness = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    on.level(Math.min(1, loudness * 1.5))
    if (loudness >= SILENT_BELOW) heard = performance.now()
    const is = performance.now() - heard > SILENCE_MS
    if (is !== isSilent || loudness >= SILENT_BELOW) on.silent(is)
    isSilent = is
  }, EVERY_MS)
  return () => {
    clearInterval(timer)
    void context.close()
  }
}
