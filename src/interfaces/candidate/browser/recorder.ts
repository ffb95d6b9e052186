import { MAX_PART_BYTES } from '../../../domain/limits.ts'
import type { Outbox, Recording } from './outbox.ts'

/** Milliseconds: what is lost of a killed tab is not much more. Safari leaves slices under a second empty. */
const SLICE_MS = 2_000

/** The first that the browser offers: WebM everywhere but at Apple's. */
const TYPES = {
  audio: ['audio/webm;codecs=opus', 'audio/mp4'],
  video: ['video/webm;codecs=vp8,opus', 'video/webm', 'video/mp4'],
}

const BITS = {
  audio: { audioBitsPerSecond: 32_000 },
  video: { audioBitsPerSecond: 32_000, videoBitsPerSecond: 600_000 },
  screen: { videoBitsPerSecond: 300_000 },
  webcam: { videoBitsPerSecond: 300_000 },
}
export type RecordedKind = keyof typeof BITS

/** What the browser offers to record; undefined where it can't. */
export function typeFor(kind: RecordedKind): string | undefined {
  if (typeof MediaRecorder === 'undefined') return undefined
  return TYPES[kind === 'audio' ? 'audio' : 'video'].find((type) => MediaRecorder.isTypeSupported(type))
}

export type Recorder = ReturnType<typeof startRecorder>

/**
 * Records a stream in slices, each of which goes into the outbox at once. When a device falls silent or is taken away, the segment ends;
 * with the device another begins.
 *
 * @param on.lost a device is gone. @returns the stream to go on with, or null: then the recording ends.
 * @param on.ended it has ended by itself.
 * @throws DOMException where the browser can't record the stream.
 */
export function startRecorder(
  kind: RecordedKind,
  stream: MediaStream,
  outbox: Outbox,
  recording: Recording,
  on: { lost: () => Promise<MediaStream | null>; ended: () => void },
) {
  let segment = -1
  let writing: Promise<void> = Promise.resolve()
  let recorder: MediaRecorder
  let tracks: MediaStreamTrack[] = []
  let isStopped = false
  /** Milliseconds of the segments that have ended, and when the present one began: null while the device opens. */
  let before = 0
  let began: number | null = null

  const isRunning = () => recorder.state === 'recording' && began !== null
  const elapsed = () => before + (isRunning() ? performance.now() - began! : 0)

  function startSegment(of: MediaStream): void {
    const mimeType = typeFor(kind)
    recorder = new MediaRecorder(of, { ...BITS[kind], ...(mimeType && { mimeType }) })
    segment++
    const own = { segment, began: performance.now(), before }
    began = null
    // The encoder takes a moment to begin: what is said and shown before is not recorded.
    recorder.onstart = () => {
      began = own.began = performance.now()
    }
    recorder.ondataavailable = ({ data }) => {
      const end = own.before + performance.now() - own.began
      writing = writing.then(() => write(data, own.segment, end))
    }
    recorder.onerror = () => endSegment()
    recorder.start(SLICE_MS)
    watch(of.getTracks())
  }

  async function write(data: Blob, of: number, end: number): Promise<void> {
    for (let from = 0; from < data.size; from += MAX_PART_BYTES)
      await outbox.add(recording, of, await data.slice(from, from + MAX_PART_BYTES).arrayBuffer(), end)
  }

  async function endSegment(): Promise<void> {
    if (recorder.state === 'inactive') return
    before = elapsed()
    const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }))
    recorder.stop()
    await stopped
    await writing
  }

  function watch(of: MediaStreamTrack[]): void {
    for (const track of tracks) track.onended = track.onmute = track.onunmute = null
    tracks = of
    for (const track of tracks) {
      track.onended = () => void goOnWithout()
      if (kind === 'screen') continue // a window that does not change sends nothing, and is not gone
      track.onmute = () => void endSegment()
      track.onunmute = () => void resume()
    }
  }

  async function resume(): Promise<void> {
    await endSegment()
    if (!isStopped && tracks.every(({ muted, readyState }) => !muted && readyState === 'live'))
      startSegment(new MediaStream(tracks))
  }

  async function goOnWithout(): Promise<void> {
    await endSegment()
    if (isStopped) return
    const next = await on.lost()
    if (isStopped) return
    if (next) startSegment(next)
    else {
      await stop()
      on.ended()
    }
  }

  /** @returns when the last part is in the outbox. */
  async function stop(): Promise<void> {
    if (isStopped) return
    isStopped = true
    watch([])
    await endSegment()
    void outbox.finish(recording)
  }

  startSegment(stream)
  return { stop, elapsed, isRunning, recording }
}
