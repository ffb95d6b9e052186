import { mayRestart } from '../../../../domain/submissions/may-restart.ts'
import type { Monitor } from '../devices/monitor.ts'
import type { Player } from '../session/player.ts'
import { canContinue, type Recorder, startRecorder } from '../session/recorder.ts'
import { countSlices, type Recording } from '../session/recording.ts'
import { Refusal, type TakeKind } from '../session/session.ts'
import { tellStop } from '../session/stops.ts'
import { askFor, keepAttempt } from './kept-attempt.ts'

const CONTINUE_WITHIN_MS = 20_000

/** `continue`: the interrupted attempt goes on. `restart`: it is started over, and doesn't count. */
export type HowToBegin = 'new' | 'continue' | 'restart'

/** An attempt that can be continued. @property contentType of what an earlier page recorded; empty: this page recorded it, or nothing. */
type Interrupted = { kind: TakeKind; contentType: string; recording: Recording }

/**
 * Records an answer as often as it is granted, one take at a time.
 *
 * @param on.interrupted a take has ended by itself: its device is gone, and there is no other. @param on.toldLate that it was stopped.
 */
export function recordTakes(
  { session, outbox, devices, notes, state }: Player,
  { number, kinds, monitor }: { number: number; kinds: TakeKind[]; monitor: Monitor },
  on: { interrupted: () => void; toldLate: () => void },
) {
  const { takes, takesLeft, interrupted: found } = state.question!
  let { mayStartOver } = state.question!
  const attempts = new Map(kinds.map((kind) => [kind, keepAttempt(`take ${session.base} ${number} ${kind}`)]))
  const restarting = keepAttempt(`restart ${session.base} ${number}`)
  let granted = { mediaId: '', takesLeft }
  let recorder: Recorder | null = null
  const inOutbox = (mediaId: string | null | undefined) => outbox.list().find((one) => one.mediaId === mediaId) ?? null
  /** At first what an earlier page has left behind. */
  let last = inOutbox(takes.findLast((take) => take.state === 'recording')?.mediaId)
  let interrupted: Interrupted | null = last?.state === 'interrupted' && found ? { ...found, recording: last } : null
  let telling: Promise<void> = Promise.resolve()

  const open = (kind: TakeKind) => devices.open({ audio: true, video: kind === 'video' })
  const watch = (kind: TakeKind, stream: MediaStream) => monitor.watch(stream, { audio: true, video: kind === 'video' })

  /** A device is gone: perhaps there is another. */
  async function replace(kind: TakeKind, track: MediaStreamTrack): Promise<MediaStream | null> {
    notes.note(track.kind === 'video' ? 'camera_lost' : 'microphone_lost')
    const stream = await open(kind).catch(() => null)
    if (stream) await watch(kind, stream)
    return stream
  }

  async function start(kind: TakeKind, how: HowToBegin, stream: MediaStream, isWanted: () => Promise<boolean>): Promise<void> {
    const asked = how === 'continue' ? askToContinue(interrupted!) : askForNew(kind, how)
    const [{ recording, segment }, isBegun] = await Promise.all([asked, isWanted()])
    if (!isBegun) return
    const own = {
      lost: (track: MediaStreamTrack) => replace(kind, track),
      ended: () => lose(kind),
      written: forgetAttempts,
      isContinued: true,
    }
    last = recording()
    recorder = startRecorder(kind, stream, outbox, last, own, { segment, before: last.recorded })
    interrupted = null
  }

  async function askForNew(kind: TakeKind, how: HowToBegin) {
    const isRestart = how === 'restart'
    const attempt = isRestart ? restarting : attempts.get(kind)!
    const json = { kind, ...(isRestart && { restart: true }) }
    granted = await askFor<typeof granted>(session, `/questions/${number}/takes`, json, attempt)
    if (isRestart) mayStartOver = false
    if (interrupted) void outbox.finish(interrupted.recording)
    interrupted = null
    const { mediaId } = granted
    return { recording: () => outbox.begin(mediaId, kind, state.question!.closesAt), segment: 0 }
  }

  async function askToContinue({ kind, recording: before }: Interrupted) {
    const { mediaId, segments } = before
    const until = performance.now() + CONTINUE_WITHIN_MS
    const asked = session.send('POST', `/media/${mediaId}/continue`, { json: { segment: segments.length }, until })
    const { segment } = (await asked) as { segment: number }
    // One in which nothing was recorded may have failed to begin: then it is over for the outbox.
    const recording = () =>
      segments.length === 0 ? outbox.begin(mediaId, kind, state.question!.closesAt) : outbox.continue(before)
    return { recording, segment }
  }

  function lose(kind: TakeKind): void {
    recorder = null
    interrupted = { kind, contentType: '', recording: last! }
    tidy()
    on.interrupted()
  }

  function forgetAttempts(): void {
    for (const attempt of [...attempts.values(), restarting]) attempt.done()
  }

  function tidy(): void {
    forgetAttempts()
    monitor.close()
  }

  function stop({ mediaId, until }: Recording): void {
    telling = tellStop(session, mediaId, until, on.toldLate)
  }

  const isEmpty = ({ recording }: Interrupted): boolean => countSlices(recording) === 0

  return {
    /**
     * An attempt counts from here on; of one in which nothing was recorded, the next goes on with it.
     *
     * @param isWanted is asked while the devices are open already: it is recorded when this has become true, not at all when it is false.
     * @throws Refusal, also `other_browser` where this one can't continue it.
     * @throws DOMException by the browser's name for what is wrong with the device.
     */
    async begin(kind: TakeKind, asked: HowToBegin, isWanted: () => Promise<boolean>): Promise<void> {
      const how = interrupted?.kind === kind && isEmpty(interrupted) ? 'continue' : asked
      if (how === 'continue' && !canContinue(kind, interrupted!.contentType)) throw new Refusal('other_browser')
      const stream = await open(kind)
      const watching = watch(kind, stream) // a page that is not in front shows nothing yet, and records all the same
      try {
        await start(kind, how, stream, isWanted)
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
      const { recording, isWhole } = ending
      if (isStopped) stop(recording)
      await ending.stop()
      tidy()
      return { recording, recorded: isWhole ? ending.recorded() : [] }
    },
    /** Ends the interrupted attempt with what there is. @param isStopped it counts. @returns null: there is none. */
    endInterrupted(isStopped: boolean): Recording | null {
      if (!interrupted) return null
      const { recording } = interrupted
      const isNothing = isEmpty(interrupted)
      interrupted = null
      if (isStopped && !isNothing) stop(recording)
      void outbox.finish(recording)
      return isNothing ? null : recording
    },
    /** @returns when the service has all of it, or is not going to. */
    settled: async (recording: Recording) => void (await Promise.all([outbox.finish(recording), telling])),
    now: () => ({
      running: recorder && { isRunning: recorder.isRunning(), elapsed: recorder.elapsed() },
      last: interrupted && isEmpty(interrupted) ? null : last,
      takesLeft: granted.takesLeft,
      pending: kinds.filter((kind) => attempts.get(kind)!.isPending() || (interrupted?.kind === kind && isEmpty(interrupted))),
      interrupted:
        interrupted && !isEmpty(interrupted)
          ? { kind: interrupted.kind, mayRestart: mayStartOver && mayRestart(countSlices(interrupted.recording)) }
          : null,
    }),
  }
}
