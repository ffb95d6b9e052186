import type { Part, PartKey, PartStore } from './part-store.ts'
import { GRACE_MS, Refusal, type Session, type Upload } from './session.ts'

/** What is recorded and sent: an answer, the screen, or the webcam. */
export type Recording = {
  readonly mediaId: string
  readonly kind: string
  /** Until when parts are taken, in milliseconds of `performance.now()`. */
  readonly until: number
  /** How many parts each segment has. */
  readonly segments: number[]
  /** Milliseconds that are recorded, and that the service has. */
  recorded: number
  saved: number
  state: 'recording' | 'sending' | 'completing' | 'saved' | 'failed'
  /** Why it has failed or, of one that is saved, why not all of it is. */
  failure: string
}

/** @param isLost the browser has not kept it. */
type Waiting = PartKey & { end: number; isSaved: boolean; isLost: boolean }

const AT_A_TIME = 2

export type Outbox = ReturnType<typeof openOutbox>

/** Sends what is recorded, while it is recorded: in order, two parts at a time, each until the service has it. */
export function openOutbox(session: Session, store: PartStore, onChange: () => void) {
  const recordings = new Map<string, Recording>()
  const parts = new Map<string, Waiting[]>()
  const queue: Waiting[] = []
  const settled = new Map<string, PromiseWithResolve>()
  let sending = 0

  function begin(mediaId: string, kind: string, closesAt: string | null): Recording {
    const until = closesAt === null ? Number.POSITIVE_INFINITY : session.momentOf(closesAt) + GRACE_MS
    const recording: Recording = {
      mediaId,
      kind,
      until,
      segments: [],
      recorded: 0,
      saved: 0,
      state: 'recording',
      failure: '',
    }
    recordings.set(mediaId, recording)
    parts.set(mediaId, [])
    settled.set(mediaId, promiseWithResolve())
    return recording
  }

  /** Takes the next part of the segment. @param end milliseconds of the recording up to the end of this part. */
  async function add(recording: Recording, segment: number, bytes: ArrayBuffer, end: number): Promise<void> {
    const number = recording.segments[segment] ?? 0
    recording.segments[segment] = number + 1
    recording.recorded = end
    if (recording.state === 'failed') return
    const part: Part = { mediaId: recording.mediaId, segment, number, bytes, end }
    await store.put(part)
    enqueue({ mediaId: recording.mediaId, segment, number, end, isSaved: false, isLost: false })
  }

  function enqueue(waiting: Waiting): void {
    parts.get(waiting.mediaId)!.push(waiting)
    queue.push(waiting)
    pump()
  }

  function pump(): void {
    onChange()
    while (sending < AT_A_TIME && queue.length > 0 && !session.isTakenOver()) {
      const waiting = queue.shift()!
      sending++
      const recording = recordings.get(waiting.mediaId)!
      sendPart(recording, waiting)
        .catch(() => fail(recording, 'lost')) // whatever it is, it must not be waited for
        .finally(() => {
          sending--
          pump()
        })
    }
  }

  async function sendPart(recording: Recording, waiting: Waiting): Promise<void> {
    if (recording.state === 'failed') return
    const part = await store.get(waiting)
    if (!part) {
      waiting.isLost = true
      return completeIfAllIsSaved(recording)
    }
    const address = `/media/${waiting.mediaId}/parts/${waiting.segment}/${waiting.number}`
    try {
      await session.send('PUT', address, { bytes: part.bytes, until: recording.until })
    } catch (error) {
      if (codeOf(error) !== 'taken_over') await fail(recording, codeOf(error)) // the tab that has taken over sends it
      return
    }
    waiting.isSaved = true
    recording.saved = savedUpTo(parts.get(waiting.mediaId)!)
    await store.remove(waiting)
    await completeIfAllIsSaved(recording)
  }

  /** Nothing more is recorded. @returns when the service has all of it, or is not going to. */
  async function finish(recording: Recording): Promise<void> {
    if (recording.state === 'recording') recording.state = 'sending'
    onChange()
    await completeIfAllIsSaved(recording)
    await settled.get(recording.mediaId)!.promise
  }

  async function completeIfAllIsSaved(recording: Recording): Promise<void> {
    const { mediaId, segments, until } = recording
    if (recording.state !== 'sending' || parts.get(mediaId)!.some(({ isSaved, isLost }) => !isSaved && !isLost)) return
    recording.state = 'completing'
    try {
      if (segments.length === 0) await session.post(`/media/${mediaId}/abandon`, {}, until)
      else await complete(recording)
    } catch (error) {
      // When its time is over the service itself completes what it has, and that is all of it.
      if (!['closed', 'submitted'].includes(codeOf(error))) return fail(recording, codeOf(error))
    }
    if (segments.length === 0) return fail(recording, 'empty')
    recording.state = 'saved'
    await settle(recording)
  }

  /** What the service misses is not here any more either: of that which it has, it makes what it can. */
  async function complete(recording: Recording): Promise<void> {
    const { mediaId, until } = recording
    const segments = Array.from(recording.segments, (count) => count ?? 0) // a segment may have ended before its first part
    try {
      await session.post(`/media/${mediaId}/complete`, { segments }, until)
    } catch (error) {
      if (codeOf(error) !== 'parts_missing') throw error
      await session.post(`/media/${mediaId}/complete`, { segments, incomplete: true }, until)
      recording.failure = 'parts_missing'
    }
  }

  async function fail(recording: Recording, code: string): Promise<void> {
    if (recording.state === 'failed') return
    recording.state = 'failed'
    recording.failure = code
    await settle(recording)
  }

  async function settle(recording: Recording): Promise<void> {
    await store.drop(recording.mediaId)
    settled.get(recording.mediaId)!.resolve()
    onChange()
  }

  /**
   * Sends what an earlier page of the session has left, and completes its recordings.
   *
   * @param uploads what the service has of them.
   * @param closesAt end of the open question. @param deadlineAt end of the whole.
   */
  async function resume(uploads: Upload[], closesAt: string | null, deadlineAt: string | null): Promise<Recording[]> {
    const left = await store.list()
    const open = new Set(uploads.map(({ mediaId }) => mediaId))
    for (const mediaId of new Set(left.map(({ mediaId }) => mediaId))) if (!open.has(mediaId)) await store.drop(mediaId)
    // One of which there is nothing at all may only just have been granted, and the answer lost: it is asked for again.
    const begun = uploads.filter(({ mediaId, segments }) => segments.length > 0 || left.some((part) => part.mediaId === mediaId))
    return Promise.all(begun.map((upload) => resumeOne(upload, left, upload.kind === 'answer' ? closesAt : deadlineAt)))
  }

  async function resumeOne({ mediaId, kind, segments }: Upload, left: PartKey[], closesAt: string | null): Promise<Recording> {
    const recording = begin(mediaId, kind, closesAt)
    const kept = left.filter((part) => part.mediaId === mediaId)
    const there = segments.flatMap(({ segment, parts }) => parts.map((number) => ({ segment, number })))
    const known = new Set(there.map(({ segment, number }) => `${segment}/${number}`))
    const missing = kept.filter(({ segment, number }) => !known.has(`${segment}/${number}`))
    for (const { segment, number } of [...there, ...missing])
      recording.segments[segment] = Math.max(recording.segments[segment] ?? 0, number + 1)
    for (const part of missing) enqueue({ ...part, end: 0, isSaved: false, isLost: false })
    void finish(recording)
    return recording
  }

  return {
    begin,
    add,
    finish,
    resume,
    fail,
    list: () => [...recordings.values()],
    /** Whether there is something that the service does not have yet. */
    isEmpty: () => [...recordings.values()].every(({ state }) => state === 'saved' || state === 'failed'),
    /** When everything that is not being recorded is sent, or is not going to be. */
    async flush(): Promise<void> {
      const ended = [...recordings.values()].filter(({ state }) => state !== 'recording')
      await Promise.all(ended.map(({ mediaId }) => settled.get(mediaId)!.promise))
    },
    survivesClosing: store.keepsAll,
  }
}

const codeOf = (error: unknown): string => (error instanceof Refusal ? error.code : 'lost')

/** How far a recording is saved without a gap. */
function savedUpTo(parts: Waiting[]): number {
  const gap = parts.findIndex(({ isSaved }) => !isSaved)
  const saved = gap === -1 ? parts : parts.slice(0, gap)
  return saved.at(-1)?.end ?? 0
}

type PromiseWithResolve = { promise: Promise<void>; resolve: () => void }

function promiseWithResolve(): PromiseWithResolve {
  let resolve = () => {}
  const promise = new Promise<void>((keep) => {
    resolve = keep
  })
  return { promise, resolve }
}
