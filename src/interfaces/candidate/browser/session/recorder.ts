import { MAX_PART_BYTES, SLICE_SECONDS } from '../../../../domain/limits.ts'
import type { Outbox } from './outbox.ts'
import type { Recording } from './recording.ts'

/** A closed tab loses little more than one slice. In Safari, slices under a second are empty. */
const SLICE_MS = SLICE_SECONDS * 1_000

/** About ten minutes of video. More could exhaust a phone's memory. */
const MOST_KEPT_BYTES = 50_000_000

/** Preferred formats first. All browsers but Apple's record WebM. */
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
 * True if this browser records in the recording's format. Another browser may have begun it, and all segments must have the same format.
 *
 * @param contentType format of the recording; empty if the service has no part of it.
 */
export const canContinue = (kind: RecordedKind, contentType: string): boolean =>
  contentType === '' || typeFor(kind)?.split(';')[0]?.split('/')[1] === contentType.split('/')[1]

/** Times in `performance.now()`. `stopped` may be called again. */
export type SegmentEvents = {
  started: (recording: Recording, segment: number, at: number) => void
  stopped: (at: number) => void
}

type RecorderEvents = {
  lost: (track: MediaStreamTrack) => Promise<MediaStream | null>
  ended: () => void
  written?: () => void
  isContinued?: boolean
  segment?: SegmentEvents | undefined
}

export type Recorder = ReturnType<typeof startRecorder>

/**
 * Records a stream in slices, which go to the outbox at once. When a device falls silent or disconnects, the segment ends, and another
 * begins with the replaced device.
 *
 * @param events.lost called with the track of a lost device. Returns the stream to continue with, or null to end the recording.
 * @param from number of the first segment, and milliseconds of earlier segments.
 * @param events.ended called when the recording ended unexpectedly; with `isContinued` it can be continued. @param events.written called when
 * data arrives.
 * @param events.segment called when a segment starts and stops. With it, a device that falls silent ends the recording.
 * @throws DOMException if the browser can't record the stream.
 */
export function startRecorder(
  kind: RecordedKind,
  stream: MediaStream,
  outbox: Outbox,
  recording: Recording,
  events: RecorderEvents,
  from = { segment: 0, before: 0 },
) {
  /** Slices of each segment for playback; empty if the recording is too large to keep. */
  let keptSlices: Blob[][] = []
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

  /** @param before milliseconds of earlier segments. */
  function begin(segmentStream: MediaStream, number: number, before: number) {
    const write = (data: Blob, end: number) => writeSlice(number, data, end)
    const started = (at: number) => events.segment?.started(recording, number, at)
    const stopping = (at: number) => events.segment?.stopped(at)
    const segment = recordSegment(kind, segmentStream, before, { data: write, broken: () => void giveUp(), started, stopping })
    const tracks = segmentStream.getTracks()
    // A shared window that does not change sends no frames, so silence of a screen is ignored.
    const mute = () => void (events.segment ? giveUp() : present.end())
    const silence = kind !== 'screen' && { mute, unmute: () => void resume(tracks) }
    return { ...segment, number, unwatch: watchTracks(tracks, { ended: (track) => void replaceDevice(track), ...silence }) }
  }

  function continueWith(next: MediaStream): void {
    const { number, elapsed, unwatch } = present
    present = begin(next, number + 1, elapsed())
    unwatch()
  }

  async function writeSlice(segment: number, data: Blob, end: number): Promise<void> {
    if (data.size > 0) events.written?.()
    keep(segment, data)
    for (let from = 0; from < data.size; from += MAX_PART_BYTES)
      await outbox.add(recording, segment, await data.slice(from, from + MAX_PART_BYTES).arrayBuffer(), end)
  }

  function keep(segment: number, data: Blob): void {
    keptBytes += data.size
    if (keptBytes > MOST_KEPT_BYTES) keptSlices = []
    else keptSlices[segment] = [...(keptSlices[segment] ?? []), data]
  }

  async function resume(tracks: MediaStreamTrack[]): Promise<void> {
    await present.end()
    if (!isStopped && tracks.every(({ muted, readyState }) => !muted && readyState === 'live'))
      continueWith(new MediaStream(tracks))
  }

  /** A disconnected camera disconnects its microphone, too. Both are replaced together, and their further events are ignored. */
  async function replaceDevice(track: MediaStreamTrack): Promise<void> {
    present.unwatch()
    await present.end()
    const next = isStopped ? null : await events.lost(track)
    if (isStopped) return
    if (next) continueWith(next)
    else await giveUp()
  }

  async function giveUp(): Promise<void> {
    if (isStopped) return
    await halt()
    if (events.isContinued) outbox.interrupt(recording)
    else void outbox.finish(recording)
    events.ended()
  }

  /** Resolves when the last part is in the outbox. */
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

  /** A file per recorded segment. */
  const recorded = () => keptSlices.flatMap((slices) => (slices[0] ? [new Blob(slices, { type: slices[0].type })] : []))

  const isWhole = from.segment === 0
  const state = { elapsed: () => present.elapsed(), isRunning: () => present.isRunning() }
  return { stop, interrupt: giveUp, recorded, isWhole, ...state, recording }
}

/**
 * Records a stream until it is stopped, or its last track ends.
 *
 * @param before milliseconds of earlier segments. @param events.data a slice. @param events.data.end milliseconds up to its end.
 */
function recordSegment(
  kind: RecordedKind,
  stream: MediaStream,
  before: number,
  events: {
    data: (data: Blob, end: number) => Promise<void>
    broken: () => void
    started: (at: number) => void
    stopping: (at: number) => void
  },
) {
  const mimeType = typeFor(kind)
  const recorder = new MediaRecorder(stream, { ...BITS[kind], ...(mimeType && { mimeType }) })
  const requestedAt = performance.now()
  /** Start of the recording, which the encoder delays. */
  let began: number | null = null
  let ended = before
  let writing = Promise.resolve()
  const upToNow = () => before + performance.now() - (began ?? requestedAt)
  const isRunning = () => recorder.state === 'recording' && began !== null

  recorder.onstart = () => {
    began = performance.now()
    events.started(began)
  }
  recorder.ondataavailable = ({ data }) => {
    const end = upToNow()
    writing = writing.then(() => events.data(data, end))
  }
  const stopped = new Promise<void>((resolve) => {
    recorder.onstop = () => {
      if (began !== null) ended = upToNow()
      resolve()
    }
  })
  recorder.onerror = events.broken
  recorder.start(SLICE_MS)

  return {
    isRunning,
    /** Milliseconds, including earlier segments. */
    elapsed: () => (isRunning() ? upToNow() : ended),
    /** Resolves when all data is written. */
    async end(): Promise<void> {
      events.stopping(performance.now())
      if (recorder.state !== 'inactive') recorder.stop()
      await stopped
      await writing
    },
  }
}

/** Adds listeners, because others may record or watch the same tracks. @returns a function that removes them. */
function watchTracks(tracks: MediaStreamTrack[], listeners: Record<string, (track: MediaStreamTrack) => void>): () => void {
  const watching = new AbortController()
  for (const track of tracks)
    for (const [event, act] of Object.entries(listeners))
      track.addEventListener(event, () => act(track), { signal: watching.signal })
  return () => watching.abort()
}
