import { addParts, type Dispatch } from './add-parts.ts'
import type { PartKey, PartStore } from './part-store.ts'
import {
  advance,
  beginRecording,
  type Effect,
  type Recording,
  type RecordingEvent,
  resumeRecording,
  type Upload,
} from './recording.ts'
import { GRACE_MS, Refusal, type Session } from './session.ts'

const AT_A_TIME = 2

type Entry = { recording: Recording; settled: Promise<void>; settle: () => void }

export type Outbox = ReturnType<typeof openOutbox>

/** Uploads recordings while they are being made: in order, two parts at a time, with retries. */
export function openOutbox(session: Session, store: PartStore, onChange: () => void) {
  const entries = new Map<string, Entry>()
  const send = sendParts(session, store, dispatch)

  function enter(recording: Recording): Recording {
    entries.set(recording.mediaId, createEntry(recording))
    return recording
  }

  /** Changes the object in place, so that all its holders see the current state. */
  function dispatch(recording: Recording, event: RecordingEvent): void {
    const [next, effect] = advance(recording, event)
    Object.assign(recording, next)
    onChange()
    if (effect === 'settle') void settle(recording)
    else if (effect)
      complete(session, recording, effect).then(
        () => dispatch(recording, { is: 'completed' }),
        (error) => dispatch(recording, { is: 'refused', code: codeOf(error) }),
      )
  }

  async function settle({ mediaId }: Recording): Promise<void> {
    await store.drop(mediaId)
    entries.get(mediaId)!.settle()
    onChange()
  }

  /** Ends a recording. Resolves when the upload is complete, or has failed. */
  function finish(recording: Recording): Promise<void> {
    dispatch(recording, { is: 'ended' })
    return entries.get(recording.mediaId)!.settled
  }

  function resumeOne(recording: Recording, isInterrupted: boolean): void {
    // Without segments, the recording may have been granted while the response was lost: the grant is then requested again.
    if (recording.segments.length === 0 && !isInterrupted) return
    enter(recording)
    for (const { segment, number, is } of recording.parts)
      if (is === 'waiting') send(recording, { mediaId: recording.mediaId, segment, number })
    if (isInterrupted) dispatch(recording, { is: 'interrupted' })
    else void finish(recording)
  }

  const untilOf = (closesAt: string | null) => (closesAt === null ? Infinity : session.momentOf(closesAt) + GRACE_MS)
  const listRecordings = () => [...entries.values()]

  return {
    begin: (mediaId: string, kind: string, closesAt: string | null) => enter(beginRecording(mediaId, kind, untilOf(closesAt))),
    ...addParts(store, dispatch, send),
    finish,
    interrupt: (recording: Recording) => dispatch(recording, { is: 'interrupted' }),
    continue: (recording: Recording) => dispatch(recording, { is: 'continued' }),
    /**
     * Sends the stored parts of an earlier page, and completes its recordings.
     *
     * @param uploads recordings with the parts that the service has. @param interruptedId recording to leave open, because it can be
     * continued.
     * @param closesAt end of the open question. @param deadlineAt end of the assessment.
     */
    async resume(
      uploads: Upload[],
      interruptedId: string | null,
      closesAt: string | null,
      deadlineAt: string | null,
    ): Promise<void> {
      const storedParts = await store.list()
      await dropFinished(store, storedParts, uploads)
      for (const upload of uploads) {
        const until = untilOf(upload.kind === 'answer' ? closesAt : deadlineAt)
        resumeOne(resumeRecording(upload, storedParts, until), upload.mediaId === interruptedId)
      }
    },
    /** Extends the time for retries after the question or the assessment got a later end. */
    prolong(closesAt: string | null, deadlineAt: string | null): void {
      for (const { recording } of listRecordings()) {
        const isOfWhole = recording.kind === 'screen' || recording.kind === 'webcam'
        Object.assign(recording, { until: Math.max(recording.until, untilOf((isOfWhole ? null : closesAt) ?? deadlineAt)) })
      }
    },
    fail: (recording: Recording, code: string) => dispatch(recording, { is: 'refused', code }),
    list: () => listRecordings().map(({ recording }) => recording),
    /** True while the service lacks a part. */
    isEmpty: () => listRecordings().every(({ recording }) => isSent(recording)),
    /** Resolves when all ended recordings are uploaded, or have failed. */
    async flush(): Promise<void> {
      await Promise.all(
        listRecordings().map(
          ({ recording, settled }) => recording.state === 'recording' || recording.state === 'interrupted' || settled,
        ),
      )
    },
    survivesClosing: store.keepsAll,
  }
}

const isSent = ({ state, parts }: Recording): boolean =>
  state === 'saved' || state === 'failed' || (state === 'interrupted' && parts.every(({ is }) => is !== 'waiting'))

/** Deletes stored parts of recordings that are no longer being uploaded. */
async function dropFinished(store: PartStore, storedParts: PartKey[], uploads: Upload[]): Promise<void> {
  const open = uploads.map(({ mediaId }) => mediaId)
  for (const mediaId of new Set(storedParts.map((part) => part.mediaId))) if (!open.includes(mediaId)) await store.drop(mediaId)
}

function createEntry(recording: Recording): Entry {
  let settle = () => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { recording, settled, settle }
}

/** @returns a function that queues a part for sending. */
function sendParts(session: Session, store: PartStore, dispatch: Dispatch): (recording: Recording, part: PartKey) => void {
  const queue: [Recording, PartKey][] = []
  let sending = 0

  function pump(): void {
    while (sending < AT_A_TIME && queue.length > 0 && !session.isTakenOver()) {
      sending++
      void sendNext(...queue.shift()!).finally(() => {
        sending--
        pump()
      })
    }
  }

  async function sendNext(recording: Recording, key: PartKey): Promise<void> {
    try {
      if (recording.state !== 'failed') await sendPart(recording, key)
    } catch (error) {
      // A refused part fails the recording, unless another tab has taken over: that tab then sends the part.
      if (codeOf(error) !== 'taken_over') dispatch(recording, { is: 'refused', code: codeOf(error) })
    }
  }

  async function sendPart(recording: Recording, key: PartKey): Promise<void> {
    const part = await store.get(key)
    if (!part) return dispatch(recording, { is: 'partLost', part: key })
    const address = `/media/${key.mediaId}/parts/${key.segment}/${key.number}`
    await session.send('PUT', address, { bytes: part.bytes, until: () => recording.until })
    dispatch(recording, { is: 'partSaved', part: key })
    await store.remove(key)
  }

  return (recording, part) => {
    queue.push([recording, part])
    pump()
  }
}

function complete(session: Session, recording: Recording, effect: Exclude<Effect, 'settle'>): Promise<unknown> {
  const { mediaId, segments } = recording
  const until = () => recording.until
  if (effect === 'abandon') return session.post(`/media/${mediaId}/abandon`, {}, until)
  const counts = Array.from(segments, (count) => count ?? 0) // a segment may have ended before its first part
  const body = { segments: counts, ...(effect === 'completeWithGaps' && { incomplete: true }) }
  return session.post(`/media/${mediaId}/complete`, body, until)
}

const codeOf = (error: unknown): string => (error instanceof Refusal ? error.code : 'lost')
