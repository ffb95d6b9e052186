import { listenForSilence } from './silence.ts'

const EVERY_MS = 100
/** More samples than are recorded between two measurements, so that no sound is missed. */
const SAMPLES = 8_192

/**
 * Measures the volume of a stream. Reports nothing in Firefox without an audio output.
 *
 * @param events.level ten times a second, from 0 to 1. @param events.silent true after 2.5 seconds of silence, false at any sound.
 * @returns a function that stops it.
 */
export function measureLevel(
  stream: MediaStream,
  events: { level: (level: number) => void; silent: (isSilent: boolean) => void },
): () => void {
  const context = new AudioContext()
  const analyser = new AnalyserNode(context, { fftSize: SAMPLES })
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(SAMPLES)
  const notice = listenForSilence(performance.now())
  const timer = setInterval(() => {
    const isRunning = context.state === 'running'
    if (context.state === 'suspended') void context.resume() // browsers suspend it until the first click
    analyser.getFloatTimeDomainData(samples)
    const loudness = loudest(samples)
    if (isRunning) events.level(Math.min(1, loudness * 1.5))
    const noticed = notice(performance.now(), isRunning, loudness)
    if (noticed) events.silent(noticed === 'silent')
  }, EVERY_MS)
  return () => {
    clearInterval(timer)
    void context.close()
  }
}

/** Loudness of a recording, from 0 to 1; null if the browser can't decode it. */
export async function measureRecording(recorded: Blob): Promise<number | null> {
  try {
    const context = new OfflineAudioContext(1, 1, 48_000)
    const sound = await context.decodeAudioData(await recorded.arrayBuffer())
    return Math.max(...Array.from({ length: sound.numberOfChannels }, (_, i) => loudest(sound.getChannelData(i))))
  } catch {
    return null // some browsers can't decode a format that they record
  }
}

const loudest = (samples: Float32Array): number => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
