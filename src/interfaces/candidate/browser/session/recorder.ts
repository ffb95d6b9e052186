import { MAX_PART_BYTES } from '../../../../domain/limits.ts'
import type { Outbox } from './outbox.ts'
import type { Recording } from './recording.ts'

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
 * @param on.lost a device is gone, that of the track. @returns the stream to go on with, or null: then the recording ends.
 * @param on.ended it has ended by itself. @param on.written it has begun to give something.
 * @throws DOMException where the browser can't record the stream.
 */
export function startRecorder(
  kind: RecordedKind,
  stream: MediaStream,
  outbox: Outbox,
  recording: Recording,
  on: { lost: (track: MediaStreamTrack) => Promise<MediaStream | null>; ended: () => void; written?: () => void },
) {
  let segment = -1
  let writing: Promise<void> = Promise.resolve()
  let recorder: MediaRecorder
  let ended: Promise<void>
  let watching = new AbortController()
  let isReplacing = false
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
    // It also stops by itself, when its last track ends.
    ended = new Promise((resolve) => {
      recorder.onstop = () => {
        if (began !== null) before = own.before + performance.now() - own.began
        resolve()
      }
    })
    recorder.onerror = () => void giveUp()
    recorder.start(SLICE_MS)
    watch(of.getTracks())
  }

  async function write(data: Blob, of: number, end: number): Promise<void> {
    if (data.size > 0) on.written?.()
    for (let from = 0; from < data.size; from += MAX_PART_BYTES)
      await outbox.add(recording, of, await data.slice(from, from + MAX_PART_BYTES).arrayBuffer(), end)
  }

  async function endSegment(): Promise<void> {
    if (recorder.state !== 'inactive') recorder.stop()
    await ended
    await writing
  }

  /** Others may record the same tracks, and watch them too. */
  function watch(tracks: MediaStreamTrack[]): void {
    watching.abort()
    watching = new AbortController()
    const { signal } = watching
    for (const track of tracks) {
      track.addEventListener('ended', () => void goOnWithout(track), { signal })
      if (kind === 'screen') continue // a window that does not change sends nothing, and is not gone
      track.addEventListener('mute', () => void endSegment(), { signal })
      track.addEventListener('unmute', () => void resume(tracks), { signal })
    }
  }

  async function resume(tracks: MediaStreamTrack[]): Promise<void> {
    await endSegment()
    if (!isStopped && !isReplacing && tracks.every(({ muted, readyState }) => !muted && readyState === 'live'))
      startSegment(new MediaStream(tracks))
  }

  /** With a camera its microphone ends: both are replaced at once. */
  async function goOnWithout(track: MediaStreamTrack): Promise<void> {
    if (isReplacing) return
    isReplacing = true
    await endSegment()
    const next = isStopped ? null : await on.lost(track)
    isReplacing = false
    if (isStopped) return
    if (next) startSegment(next)
    else await giveUp()
  }

  async function giveUp(): Promise<void> {
    if (isStopped) return
    await stop()
    on.ended()
  }

  /** @returns when the last part is in the outbox. */
  async function stop(): Promise<void> {
    if (isStopped) return
    isStopped = true
    watch([])
    await endSegment()
    void outbox.finish(recording)
  }

  try {
    startSegment(stream)
  } catch (error) {
    outbox.fail(recording, 'empty')
    throw error
  }
  return { stop, elapsed, isRunning, recording }
}
