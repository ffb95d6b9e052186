import { mayRestart } from '../../../../domain/limits.ts'
import type { Monitor } from '../devices/monitor.ts'
import type { Player } from '../session/player.ts'
import { canContinue, type Recorder, startRecorder } from '../session/recorder.ts'
import { countSlices, type Recording } from '../session/recording.ts'
import { type AnswerAttemptKind, Refusal, type Session } from '../session/session.ts'
import { tellStop } from '../session/stops.ts'
import { askFor, keepAttempt } from './kept-attempt.ts'

const CONTINUE_WITHIN_MS = 20_000

/** `continue`: the interrupted attempt goes on. `restart`: it is started over, and doesn't count. */
export type HowToBegin = 'new' | 'continue' | 'restart'

/** An attempt that can be continued. @property contentType of what an earlier page recorded; empty: this page recorded it, or nothing. */
type Interrupted = { kind: AnswerAttemptKind; contentType: string; recording: Recording }

type Start = { kind: AnswerAttemptKind; how: HowToBegin; stream: MediaStream; isWanted: () => Promise<boolean> }

/**
 * Records an answer as often as it is granted, one take at a time.
 *
 * @param on.interrupted a take has ended by itself: its device is gone, and there is no other. @param on.toldLate that it was stopped.
 */
export function recordTakes(
  player: Player,
  { number, kinds, monitor }: { number: number; kinds: AnswerAttemptKind[]; monitor: Monitor },
  on: { interrupted: () => void; toldLate: () => void },
) {
  const { session, outbox, state } = player
  const { takes, takesLeft, interrupted: found } = state.question!
  let { mayStartOver } = state.question!
  const attempts = keepAttempts(session, number, kinds)
  const { open, watch, replace } = recordedDevices(player, monitor)
  let granted = { mediaId: '', takesLeft }
  let recorder: Recorder | null = null
  const left = takes.findLast((take) => take.state === 'recording')
  let last = outbox.list().find(({ mediaId }) => mediaId === left?.mediaId) ?? null
  let interrupted: Interrupted | null = last?.state === 'interrupted' && found ? { ...found, recording: last } : null
  let telling: Promise<void> = Promise.resolve()

  async function start({ kind, how, stream, isWanted }: Start): Promise<void> {
    const asked = how === 'continue' ? askToContinue(player, interrupted!) : askForNew(kind, how)
    const [{ recording, segment }, isBegun] = await Promise.all([asked, isWanted()])
    if (!isBegun) return
    const lost = (track: MediaStreamTrack) => replace(kind, track)
    const own = { lost, ended: () => lose(kind), written: attempts.forget, isContinued: true }
    last = recording()
    recorder = startRecorder(kind, stream, outbox, last, own, { segment, before: last.recorded })
    interrupted = null
  }

  async function askForNew(kind: AnswerAttemptKind, how: HowToBegin) {
    const isRestart = how === 'restart'
    const json = { kind, restart: isRestart }
    granted = await askFor<typeof granted>(session, `/questions/${number}/takes`, json, attempts.of(kind, isRestart))
    if (isRestart) mayStartOver = false
    if (interrupted) void outbox.finish(interrupted.recording)
    const recording = () => outbox.begin(granted.mediaId, kind, state.question!.closesAt)
    interrupted = isRestart ? { kind, contentType: '', recording: interruptAtOnce(player, recording()) } : null
    return { recording, segment: 0 }
  }

  function lose(kind: AnswerAttemptKind): void {
    recorder = null
    interrupted = { kind, contentType: '', recording: last! }
    tidy()
    on.interrupted()
  }

  function tidy(): void {
    attempts.forget()
    monitor.close()
  }

  return {
    /**
     * An attempt counts from here on; of one in which nothing was recorded, the next goes on with it.
     *
     * @param isWanted is asked while the devices are open already: it is recorded when this has become true, not at all when it is false.
     * @throws Refusal, also `other_browser` where this one can't continue it, and `not_continued` where it has ended. @throws DOMException of the device.
     */
    async begin(kind: AnswerAttemptKind, asked: HowToBegin, isWanted: () => Promise<boolean>): Promise<void> {
      const how = interrupted?.kind === kind && isEmpty(interrupted) ? 'continue' : asked
      if (how === 'continue' && !canContinue(kind, interrupted!.contentType)) throw new Refusal('other_browser')
      const stream = await open(kind)
      const watching = watch(kind, stream) // a page that is not in front shows nothing yet, and records all the same
      try {
        await start({ kind, how, stream, isWanted })
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
      if (isStopped) telling = tellStop(session, recording, on.toldLate)
      await ending.stop()
      tidy()
      return { recording, recorded: isWhole ? ending.recorded() : [] }
    },
    /** Ends the interrupted attempt with what there is. @param isStopped it counts. @returns null: there is none. */
    endInterrupted(isStopped: boolean): Recording | null {
      if (!interrupted) return null
      const [{ recording }, isNothing] = [interrupted, isEmpty(interrupted)]
      interrupted = null
      if (isStopped && !isNothing) telling = tellStop(session, recording, on.toldLate)
      void outbox.finish(recording)
      return isNothing ? null : recording
    },
    /** @returns when the service has all of it, or refuses it. */
    settled: async (recording: Recording) => void (await Promise.all([outbox.finish(recording), telling])),
    now: () => ({
      running: recorder && { isRunning: recorder.isRunning(), elapsed: recorder.elapsed() },
      last: interrupted && isEmpty(interrupted) ? null : last,
      takesLeft: granted.takesLeft,
      pending: kinds.filter((kind) => attempts.of(kind).isPending() || (interrupted?.kind === kind && isEmpty(interrupted))),
      interrupted: describeInterrupted(interrupted, mayStartOver),
    }),
  }
}

/** Until a restarted attempt records something, it can be continued: no second restart is granted if its device fails. */
function interruptAtOnce({ outbox }: Player, recording: Recording): Recording {
  outbox.interrupt(recording)
  return recording
}

function describeInterrupted(interrupted: Interrupted | null, mayStartOver: boolean) {
  if (!interrupted || isEmpty(interrupted)) return null
  return { kind: interrupted.kind, mayRestart: mayStartOver && mayRestart(countSlices(interrupted.recording)) }
}

const isEmpty = ({ recording }: Interrupted): boolean => countSlices(recording) === 0

/** The ids of what is asked for, until something is recorded with it. */
function keepAttempts(session: Session, number: number, kinds: AnswerAttemptKind[]) {
  const takes = new Map(kinds.map((kind) => [kind, keepAttempt(`take ${session.base} ${number} ${kind}`)]))
  const restart = keepAttempt(`restart ${session.base} ${number}`)
  return {
    of: (kind: AnswerAttemptKind, isRestart = false) => (isRestart ? restart : takes.get(kind)!),
    forget(): void {
      for (const attempt of [...takes.values(), restart]) attempt.done()
    },
  }
}

function recordedDevices({ devices, notes }: Player, monitor: Monitor) {
  const open = (kind: AnswerAttemptKind) => devices.open({ audio: true, video: kind === 'video' })
  const watch = (kind: AnswerAttemptKind, stream: MediaStream) => monitor.watch(stream, { audio: true, video: kind === 'video' })

  /** A device is gone: perhaps there is another. */
  async function replace(kind: AnswerAttemptKind, track: MediaStreamTrack): Promise<MediaStream | null> {
    notes.note(track.kind === 'video' ? 'camera_lost' : 'microphone_lost')
    const stream = await open(kind).catch(() => null)
    if (stream) await watch(kind, stream)
    return stream
  }

  return { open, watch, replace }
}

async function askToContinue({ session, outbox, state }: Player, { kind, recording: before }: Interrupted) {
  const { mediaId, segments } = before
  const until = performance.now() + CONTINUE_WITHIN_MS
  const asked = session.send('POST', `/media/${mediaId}/continue`, { json: { segment: segments.length }, until })
  const { segment } = (await asked.catch((error) => {
    // The question is open as far as this page knows: the attempt has ended, in another tab or by the service.
    throw error instanceof Refusal && error.code === 'closed' ? new Refusal('not_continued') : error
  })) as { segment: number }
  const recording = () => {
    // One in which nothing was recorded may have failed to begin: then it is over for the outbox.
    if (segments.length === 0) return outbox.begin(mediaId, kind, state.question!.closesAt)
    outbox.continue(before)
    return before
  }
  return { recording, segment }
}
