import { mayRestart } from '../../../../domain/limits.ts'
import type { Monitor } from '../devices/monitor.ts'
import type { Outbox } from '../session/outbox.ts'
import type { Player } from '../session/player.ts'
import { canContinue, type Recorder, type SegmentEvents, startRecorder } from '../session/recorder.ts'
import { countSlices, type Recording } from '../session/recording.ts'
import { type AnswerAttemptKind, type Question, Refusal, type Session } from '../session/session.ts'
import { reportStop } from '../session/stops.ts'
import { createIdempotencyKey, requestGrant } from './idempotency-key.ts'

const CONTINUE_WITHIN_MS = 20_000

/** `continue`: record more of the interrupted attempt. `restart`: discard it, so that it doesn't count, and begin anew. */
export type StartMode = 'new' | 'continue' | 'restart'

/** An attempt that can be continued. @property contentType of the earlier page's recording; empty if this page recorded it, or nothing is recorded. */
type Resumable = { kind: AnswerAttemptKind; contentType: string; recording: Recording }

/**
 * Resolves to true when recording should begin.
 *
 * @param granted resolves once the attempt is granted. @param recorded milliseconds recorded so far.
 */
export type ConfirmStart = (granted: Promise<unknown>, mode: StartMode, recorded: number) => Promise<boolean>

type Start = { kind: AnswerAttemptKind; mode: StartMode; stream: MediaStream; confirmStart: ConfirmStart }

/**
 * Records a question's attempts, one at a time, as many as the service grants.
 *
 * @param events.interrupted called when an attempt ends because its device is gone and no other is found.
 * @param events.stopReportedLate called when the service learned of a stop only after a retry.
 * @param events.segment see startRecorder.
 */
export function recordAttempts(
  player: Player,
  { number, kinds, monitor }: { number: number; kinds: AnswerAttemptKind[]; monitor: Monitor },
  events: { interrupted: () => void; stopReportedLate: () => void; segment?: SegmentEvents | undefined },
) {
  const { session, outbox, state } = player
  const { attempts, attemptsLeft, interrupted: resumable } = state.question!
  let { mayStartOver } = state.question!
  const keys = createKeys(session, number, kinds)
  const { open, watch, replace } = recordedDevices(player, monitor, events.segment === undefined)
  let granted = { mediaId: '', attemptsLeft }
  let recorder: Recorder | null = null
  let last = findUnfinished(outbox, attempts)
  let interrupted: Resumable | null = last?.state === 'interrupted' && resumable ? { ...resumable, recording: last } : null
  let stopReport: Promise<void> = Promise.resolve()

  async function start({ kind, mode, stream, confirmStart }: Start): Promise<void> {
    const grant = mode === 'continue' ? requestContinuation(player, interrupted!) : requestAttempt(kind, mode)
    const [{ recording, segment }, isBegun] = await Promise.all([grant, confirmStart(grant, mode, lengthOf(interrupted))])
    if (!isBegun) return
    const lost = (track: MediaStreamTrack) => replace(kind, track)
    const handlers = { lost, ended: () => lose(kind), written: keys.discard, isContinued: true, segment: events.segment }
    last = recording()
    recorder = startRecorder(kind, stream, outbox, last, handlers, { segment, before: last.recorded })
    interrupted = null
  }

  async function requestAttempt(kind: AnswerAttemptKind, mode: StartMode) {
    const isRestart = mode === 'restart'
    const json = { kind, restart: isRestart }
    granted = await requestGrant<typeof granted>(session, `/questions/${number}/attempts`, json, keys.find(kind, isRestart))
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
    events.interrupted()
  }

  function tidy(): void {
    keys.discard()
    monitor.close()
  }

  return {
    /**
     * Begins an attempt, which counts from now on. If the last attempt recorded nothing, continues that one instead.
     *
     * @param confirmStart awaited once the devices are open.
     * @throws Refusal, also `other_browser` if this browser can't continue the recording, `not_continued` if it has ended. @throws DOMException of the device.
     */
    async begin(kind: AnswerAttemptKind, requestedStart: StartMode, confirmStart: ConfirmStart): Promise<void> {
      const mode = interrupted?.kind === kind && isEmpty(interrupted) ? 'continue' : requestedStart
      if (mode === 'continue' && !canContinue(kind, interrupted!.contentType)) throw new Refusal('other_browser')
      const stream = await open(kind)
      const watching = watch(kind, stream) // not awaited: a page in the background can record, but shows no picture
      try {
        await start({ kind, mode, stream, confirmStart })
        await watching
        if (recorder) await watch(kind, stream) // from now on, silence is reported
      } finally {
        if (!recorder) monitor.close()
      }
    },
    interrupt: () => void recorder?.interrupt(),
    /** @param isStopped the candidate stopped it, so it counts. @returns null if nothing was being recorded. */
    async end(isStopped: boolean): Promise<{ recording: Recording; recorded: Blob[] } | null> {
      const ending = recorder
      if (!ending) return null
      recorder = null
      const { recording, isWhole } = ending
      if (isStopped) stopReport = reportStop(session, recording, events.stopReportedLate)
      await ending.stop()
      tidy()
      return { recording, recorded: isWhole ? ending.recorded() : [] }
    },
    /** Ends the interrupted attempt with what is recorded. @param isStopped it counts. @returns null if nothing is recorded. */
    endInterrupted(isStopped: boolean): Recording | null {
      if (!interrupted) return null
      const [{ recording }, isNothing] = [interrupted, isEmpty(interrupted)]
      interrupted = null
      if (isStopped && !isNothing) stopReport = reportStop(session, recording, events.stopReportedLate)
      void outbox.finish(recording)
      return isNothing ? null : recording
    },
    /** Resolves when the service has all of the recording, or refuses it. */
    settled: async (recording: Recording) => void (await Promise.all([outbox.finish(recording), stopReport])),
    now: () => ({
      running: recorder && { isRunning: recorder.isRunning(), elapsed: recorder.elapsed() },
      last: interrupted && isEmpty(interrupted) ? null : last,
      attemptsLeft: granted.attemptsLeft,
      pending: kinds.filter((kind) => keys.find(kind).isPending() || (interrupted?.kind === kind && isEmpty(interrupted))),
      interrupted: describeInterrupted(interrupted, mayStartOver),
    }),
  }
}

/** Until a restarted attempt records something, it can be continued: no second restart is granted if its device fails. */
function interruptAtOnce({ outbox }: Player, recording: Recording): Recording {
  outbox.interrupt(recording)
  return recording
}

function describeInterrupted(interrupted: Resumable | null, mayStartOver: boolean) {
  if (!interrupted || isEmpty(interrupted)) return null
  return { kind: interrupted.kind, mayRestart: mayStartOver && mayRestart(countSlices(interrupted.recording)) }
}

function findUnfinished(outbox: Outbox, attempts: Question['attempts']): Recording | null {
  const unfinished = attempts.findLast((attempt) => attempt.state === 'recording')
  return outbox.list().find(({ mediaId }) => mediaId === unfinished?.mediaId) ?? null
}

/** Milliseconds recorded. */
const lengthOf = (interrupted: Resumable | null): number => interrupted?.recording.recorded ?? 0

const isEmpty = ({ recording }: Resumable): boolean => countSlices(recording) === 0

/** Idempotency keys of the granted attempts, kept until something is recorded. */
function createKeys(session: Session, number: number, kinds: AnswerAttemptKind[]) {
  const idempotencyKeys = new Map(kinds.map((kind) => [kind, createIdempotencyKey(`attempt ${session.base} ${number} ${kind}`)]))
  const restart = createIdempotencyKey(`restart ${session.base} ${number}`)
  return {
    find: (kind: AnswerAttemptKind, isRestart = false) => (isRestart ? restart : idempotencyKeys.get(kind)!),
    discard(): void {
      for (const key of [...idempotencyKeys.values(), restart]) key.discard()
    },
  }
}

/** @param isReplaced true to go on with another device if one disconnects. */
function recordedDevices({ devices, notes }: Player, monitor: Monitor, isReplaced: boolean) {
  const open = (kind: AnswerAttemptKind) => devices.open({ audio: true, video: kind === 'video' })
  const watch = (kind: AnswerAttemptKind, stream: MediaStream) => monitor.watch(stream, { audio: true, video: kind === 'video' })

  /** Opens another device when a microphone or camera disconnects. */
  async function replace(kind: AnswerAttemptKind, track: MediaStreamTrack): Promise<MediaStream | null> {
    notes.note(track.kind === 'video' ? 'camera_lost' : 'microphone_lost')
    if (!isReplaced) return null
    const stream = await open(kind).catch(() => null)
    if (stream) await watch(kind, stream)
    return stream
  }

  return { open, watch, replace }
}

async function requestContinuation({ session, outbox, state }: Player, { kind, recording: before }: Resumable) {
  const { mediaId, segments } = before
  const until = performance.now() + CONTINUE_WITHIN_MS
  const response = session.send('POST', `/media/${mediaId}/continue`, { json: { segment: segments.length }, until })
  const { segment } = (await response.catch((error) => {
    // This page knows the question as open, so the attempt has ended: in another tab, or by the service.
    throw error instanceof Refusal && error.code === 'closed' ? new Refusal('not_continued') : error
  })) as { segment: number }
  const recording = () => {
    // The outbox treats an attempt as finished if it failed before recording anything: begin it again there.
    if (segments.length === 0) return outbox.begin(mediaId, kind, state.question!.closesAt)
    outbox.continue(before)
    return before
  }
  return { recording, segment }
}
