import { MAX_PART_BYTES, SLICE_SECONDS } from '../../../../domain/limits.ts'
import type { Outbox } from './outbox.ts'
import type { Recording } from './recording.ts'

/** Milliseconds: what is lost of a killed tab is not much more. Safari leaves slices under a second empty. */
const SLICE_MS = SLICE_SECONDS * 1_000

/** Some ten minutes of video: more would take a phone's memory. */
const MOST_KEPT_BYTES = 50_000_000

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

/** A recording format that the browser supports; undefined if none. */
export function typeFor(kind: RecordedKind): string | undefined {
  if (typeof MediaRecorder === 'undefined') return undefined
  return TYPES[kind === 'audio' ? 'audio' : 'video'].find((type) => MediaRecorder.isTypeSupported(type))
}

/**
 * True if this browser records in the format of a recording that another browser may have begun: a recording has one format.
 *
 * @param contentType of the recording; empty if nothing has arrived.
 */
export const canContinue = (kind: RecordedKind, contentType: string): boolean =>
  contentType === '' || typeFor(kind)?.split(';')[0]?.split('/')[1] === contentType.split('/')[1]

export type Recorder = ReturnType<typeof startRecorder>

/**
 * Records a stream in slices, each of which goes into the outbox at once. When a device falls silent or is taken away, the segment ends;
 * with the device another begins.
 *
 * @param on.lost a device is gone, that of the track. @returns the stream to go on with, or null: then the recording ends.
 * @param from the segment to begin with, and milliseconds of those before it.
 * @param on.ended it has ended by itself: where it `isContinued`, it can be continued. @param on.written it has begun to give something.
 * @throws DOMException where the browser can't record the stream.
 */
export function startRecorder(
  kind: RecordedKind,
  stream: MediaStream,
  outbox: Outbox,
  recording: Recording,
  on: {
    lost: (track: MediaStreamTrack) => Promise<MediaStream | null>
    ended: () => void
    written?: () => void
    isContinued?: boolean
  },
  from = { segment: 0, before: 0 },
) {
  /** Slices of each segment for playback; empty if the recording is too large to keep. */
  let kept: Blob[][] = []
  let keptBytes = 0
  let isStopped = false
  let present: ReturnType<typeof begin>
  try {
    present = begin(stream, from.segment, from.before)
  } catch (error) {
    if (from.segment > 0) outbox.interrupt(recording)
    else outbox.fail(recording, 'empty')
    throw error
  }

  /** @param before milliseconds of the segments before it. */
  function begin(of: MediaStream, number: number, before: number) {
    const write = (data: Blob, end: number) => writeSlice(number, data, end)
    const segment = recordSegment(kind, of, before, { data: write, broken: () => void giveUp() })
    const tracks = of.getTracks()
    // A window that does not change sends nothing, and is not gone.
    const silence = kind !== 'screen' && { mute: () => void present.end(), unmute: () => void resume(tracks) }
    return { ...segment, number, unwatch: watchTracks(tracks, { ended: (track) => void goOnWithout(track), ...silence }) }
  }

  function goOnWith(next: MediaStream): void {
    const { number, elapsed, unwatch } = present
    present = begin(next, number + 1, elapsed())
    unwatch()
  }

  async function writeSlice(segment: number, data: Blob, end: number): Promise<void> {
    if (data.size > 0) on.written?.()
    keep(segment, data)
    for (let from = 0; from < data.size; from += MAX_PART_BYTES)
      await outbox.add(recording, segment, await data.slice(from, from + MAX_PART_BYTES).arrayBuffer(), end)
  }

  function keep(segment: number, data: Blob): void {
    keptBytes += data.size
    if (keptBytes > MOST_KEPT_BYTES) kept = []
    else kept[segment] = [...(kept[segment] ?? []), data]
  }

  async function resume(tracks: MediaStreamTrack[]): Promise<void> {
    await present.end()
    if (!isStopped && tracks.every(({ muted, readyState }) => !muted && readyState === 'live')) goOnWith(new MediaStream(tracks))
  }

  /** With a camera its microphone ends: both are replaced at once, and what else becomes of them meanwhile is of no account. */
  async function goOnWithout(track: MediaStreamTrack): Promise<void> {
    present.unwatch()
    await present.end()
    const next = isStopped ? null : await on.lost(track)
    if (isStopped) return
    if (next) goOnWith(next)
    else await giveUp()
  }

  async function giveUp(): Promise<void> {
    if (isStopped) return
    await halt()
    if (on.isContinued) outbox.interrupt(recording)
    else void outbox.finish(recording)
    on.ended()
  }

  /** @returns when the last part is in the outbox. */
  async function stop(): Promise<void> {
    if (isStopped) return
    await halt()
    void outbox.finish(recording)
  }

  async function halt(): Promise<void> {
    isStopped = true
    present.unwatch()
    await present.end()
  }

  /** A file for each recorded segment, from its first on. */
  const recorded = () => kept.flatMap((slices) => (slices[0] ? [new Blob(slices, { type: slices[0].type })] : []))

  const isWhole = from.segment === 0
  return { stop, recorded, isWhole, elapsed: () => present.elapsed(), isRunning: () => present.isRunning(), recording }
}

/**
 * Records a stream until it is stopped, or its last track ends.
 *
 * @param before milliseconds of earlier segments. @param on.data a slice. @param on.data.end milliseconds up to its end.
 */
function recordSegment(
  kind: RecordedKind,
  stream: MediaStream,
  before: number,
  on: { data: (data: Blob, end: number) => Promise<void>; broken: () => void },
) {
  const mimeType = typeFor(kind)
  const recorder = new MediaRecorder(stream, { ...BITS[kind], ...(mimeType && { mimeType }) })
  const asked = performance.now()
  /** The encoder takes a moment to begin: what is said and shown before is not recorded. */
  let began: number | null = null
  let ended = before
  let writing = Promise.resolve()
  const upToNow = () => before + performance.now() - (began ?? asked)
  const isRunning = () => recorder.state === 'recording' && began !== null

  recorder.onstart = () => {
    began = performance.now()
  }
  recorder.ondataavailable = ({ data }) => {
    const end = upToNow()
    writing = writing.then(() => on.data(data, end))
  }
  const stopped = new Promise<void>((resolve) => {
    recorder.onstop = () => {
      if (began !== null) ended = upToNow()
      resolve()
    }
  })
  recorder.onerror = on.broken
  recorder.start(SLICE_MS)

  return {
    isRunning,
    /** Milliseconds, with what was recorded before it. */
    elapsed: () => (isRunning() ? upToNow() : ended),
    /** @returns when all of it is written. */
    async end(): Promise<void> {
      if (recorder.state !== 'inactive') recorder.stop()
      await stopped
      await writing
    },
  }
}

/** Others may record the same tracks, and watch them too. @param on what is done at an event of theirs. @returns what ends it. */
function watchTracks(tracks: MediaStreamTrack[], on: Record<string, (track: MediaStreamTrack) => void>): () => void {
  const watching = new AbortController()
  for (const track of tracks)
    for (const [event, act] of Object.entries(on)) track.addEventListener(event, () => act(track), { signal: watching.signal })
  return () => watching.abort()
}
