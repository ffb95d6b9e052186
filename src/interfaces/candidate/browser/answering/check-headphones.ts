import { sleep } from '../../../../http/browser/dom.ts'
import { chosenOf, playOnChosen } from '../devices/chosen-devices.ts'

/** `heard`: the microphone picked the tone up. */
export type HeadphoneCheck = 'unheard' | 'heard' | 'unknown'

const TONE_HZ = 1_500
const TONE_MS = 1_500
const LISTEN_MS = 700
/** Delay until the microphone picks up the tone. */
const SETTLE_MS = 600
const EVERY_MS = 50
/** Samples of a spectrum: 12 Hz between two of its values. */
const SAMPLES = 4_096
/** In decibels. The microphone hears the tone if its prominence rises by this much, and its level exceeds the second value. */
const HEARD_RISE_DB = 15
const HEARD_ABOVE_DB = -80
/** Level of full silence in decibels. */
const FLOOR_DB = -120

/**
 * Plays a tone, and listens whether the microphone hears it, as it does with loudspeakers. The browser's echo cancellation is off meanwhile: it
 * would hide the tone.
 *
 * @throws DOMException of the device.
 */
export async function checkHeadphones(): Promise<HeadphoneCheck> {
  const raw = { echoCancellation: false, noiseSuppression: false, autoGainControl: false }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { ...chosenOf('audioinput'), ...raw } })
  const context = new AudioContext()
  const tone = new Audio(URL.createObjectURL(createTone()))
  try {
    await Promise.race([context.resume(), sleep(SETTLE_MS)])
    if (context.state !== 'running') return 'unknown' // Firefox without an audio output
    const analyser = new AnalyserNode(context, { fftSize: SAMPLES, smoothingTimeConstant: 0 })
    context.createMediaStreamSource(stream).connect(analyser)
    const before = await listen(analyser, context.sampleRate)
    await playOnChosen(tone)
    if (!(await play(tone))) return 'unknown'
    await sleep(SETTLE_MS)
    const during = await listen(analyser, context.sampleRate)
    if (before.isDead && during.isDead) return 'unknown'
    return during.level > HEARD_ABOVE_DB && during.prominence - before.prominence > HEARD_RISE_DB ? 'heard' : 'unheard'
  } finally {
    for (const track of stream.getTracks()) track.stop()
    URL.revokeObjectURL(tone.src)
    void context.close()
  }
}

const play = (tone: HTMLAudioElement): Promise<boolean> =>
  tone.play().then(
    () => true,
    () => false,
  )

/**
 * @property prominence decibels of the tone above neighboring frequencies. @property isDead true for no sound at all, such as from a muted
 * microphone.
 */
type Heard = { level: number; prominence: number; isDead: boolean }

/** Medians over some time, so that a click or a word changes nothing. */
async function listen(analyser: AnalyserNode, sampleRate: number): Promise<Heard> {
  const spectrum = new Float32Array(analyser.frequencyBinCount)
  const place = Math.round((TONE_HZ * SAMPLES) / sampleRate)
  const levels: number[] = []
  const prominences: number[] = []
  for (let waited = 0; waited < LISTEN_MS; waited += EVERY_MS) {
    await sleep(EVERY_MS)
    analyser.getFloatFrequencyData(spectrum)
    const levelsBetween = (from: number, to: number) => [...spectrum.slice(from, to)].map((level) => Math.max(level, FLOOR_DB))
    const level = Math.max(...levelsBetween(place - 1, place + 2))
    levels.push(level)
    prominences.push(level - median([...levelsBetween(place - 30, place - 9), ...levelsBetween(place + 10, place + 31)]))
  }
  return { level: median(levels), prominence: median(prominences), isDead: levels.every((level) => level === FLOOR_DB) }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const RATE = 16_000
/** Full scale is 1. */
const LOUDNESS = 0.2
const FADE_SAMPLES = 800

/** The tone as a WAV file, because Web Audio can't play on the chosen output in every browser. An audio element can. */
function createTone(): Blob {
  const count = (RATE * TONE_MS) / 1_000
  const view = new DataView(new ArrayBuffer(44 + count * 2))
  const write = (offset: number, text: string) => {
    for (const [i, letter] of [...text].entries()) view.setUint8(offset + i, letter.charCodeAt(0))
  }
  write(0, 'RIFF')
  view.setUint32(4, 36 + count * 2, true)
  write(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true) // PCM
  view.setUint16(22, 1, true) // mono
  view.setUint32(24, RATE, true)
  view.setUint32(28, RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  write(36, 'data')
  view.setUint32(40, count * 2, true)
  for (let i = 0; i < count; i++) {
    const fade = Math.min(1, i / FADE_SAMPLES, (count - i) / FADE_SAMPLES)
    view.setInt16(44 + i * 2, Math.sin((2 * Math.PI * TONE_HZ * i) / RATE) * LOUDNESS * fade * 0x7fff, true)
  }
  return new Blob([view], { type: 'audio/wav' })
}
