import type { Monitor } from '../devices/monitor.ts'
import type { Player } from '../session/player.ts'
import { type Recorder, startRecorder } from '../session/recorder.ts'
import type { Recording } from '../session/recording.ts'
import type { AnswerAttemptKind } from '../session/session.ts'
import { tellStop } from '../session/stops.ts'
import { askFor, keepAttempt } from './kept-attempt.ts'

/**
 * Records an answer as often as it is granted, one take at a time.
 *
 * @param on.interrupted a take has ended by itself: its device is gone, and there is no other. @param on.toldLate that it was stopped.
 */
export function recordTakes(
  { session, outbox, devices, notes, state }: Player,
  { number, kinds, monitor }: { number: number; kinds: AnswerAttemptKind[]; monitor: Monitor },
  on: { interrupted: (take: Recording) => void; toldLate: () => void },
) {
  const { takes, takesLeft } = state.question!
  const attempts = new Map(kinds.map((kind) => [kind, keepAttempt(`take ${session.base} ${number} ${kind}`)]))
  let granted = { mediaId: '', takesLeft }
  let recorder: Recorder | null = null
  /** At first what an earlier page has left behind. */
  const left = takes.findLast((take) => take.state === 'recording')
  let last: Recording | null = outbox.list().find(({ mediaId }) => mediaId === left?.mediaId) ?? null
  let telling: Promise<void> = Promise.resolve()

  const open = (kind: AnswerAttemptKind) => devices.open({ audio: true, video: kind === 'video' })
  const watch = (kind: AnswerAttemptKind, stream: MediaStream) => monitor.watch(stream, { audio: true, video: kind === 'video' })

  /** A device is gone: perhaps there is another. */
  async function replace(kind: AnswerAttemptKind, track: MediaStreamTrack): Promise<MediaStream | null> {
    notes.note(track.kind === 'video' ? 'camera_lost' : 'microphone_lost')
    const stream = await open(kind).catch(() => null)
    if (stream) await watch(kind, stream)
    return stream
  }

  async function start(kind: AnswerAttemptKind, stream: MediaStream, isWanted: () => Promise<boolean>): Promise<void> {
    const attempt = attempts.get(kind)!
    const asked = askFor<typeof granted>(session, `/questions/${number}/takes`, { kind }, attempt)
    const [answer, isBegun] = await Promise.all([asked, isWanted()])
    granted = answer
    if (!isBegun) return
    last = outbox.begin(granted.mediaId, kind, state.question!.closesAt)
    const own = { lost: (track: MediaStreamTrack) => replace(kind, track), ended: lose, written: attempt.done }
    recorder = startRecorder(kind, stream, outbox, last, own)
  }

  function lose(): void {
    recorder = null
    tidy()
    on.interrupted(last!)
  }

  /** Also where nothing has arrived of the take: the next is another, and goes nowhere into this one, which is given up. */
  function tidy(): void {
    for (const attempt of attempts.values()) attempt.done()
    monitor.close()
  }

  return {
    /**
     * An attempt counts from here on; of one in which nothing was recorded, the next goes on with it.
     *
     * @param isWanted is asked while the devices are open already: it is recorded when this has become true, not at all when it is false.
     * @throws Refusal. @throws DOMException by the browser's name for what is wrong with the device.
     */
    async begin(kind: AnswerAttemptKind, isWanted: () => Promise<boolean>): Promise<void> {
      const stream = await open(kind)
      const watching = watch(kind, stream) // a page that is not in front shows nothing yet, and records all the same
      try {
        await start(kind, stream, isWanted)
        await watching
        if (recorder) await watch(kind, stream) // from here on silence is told
      } finally {
        if (!recorder) monitor.close()
      }
    },
    /** @param isStopped the candidate has done with it: it counts. @returns what has ended; null: nothing was being recorded. */
    async end(isStopped: boolean): Promise<{ recording: Recording; recorded: Blob[] } | null> {
      const ending = recorder
      if (!ending) return null
      recorder = null
      if (isStopped) telling = tellStop(session, ending.recording.mediaId, ending.recording.until, on.toldLate)
      await ending.stop()
      tidy()
      return { recording: ending.recording, recorded: ending.recorded() }
    },
    /** @returns when the service has all of it, or is not going to. */
    settled: async (recording: Recording) => void (await Promise.all([outbox.finish(recording), telling])),
    now: () => ({
      running: recorder && { isRunning: recorder.isRunning(), elapsed: recorder.elapsed() },
      last,
      takesLeft: granted.takesLeft,
      pending: kinds.filter((kind) => attempts.get(kind)!.isPending()),
    }),
  }
}
