import { formatClock } from '../../../../http/browser/format-clock.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Recording } from '../session/recording.ts'
import { formatFailure } from '../session/wording.ts'

/** State of an answer's recording. */
export type RecordingStatus = {
  isOpening: boolean
  /** Seconds until the recording begins; 0 if no countdown runs. */
  countIn: number
  /** The recording in progress, or null. `isRunning`: the device delivers data. */
  running: { isRunning: boolean; elapsed: number } | null
  /** This page's last recording. */
  last: Pick<Recording, 'state' | 'saved' | 'recorded' | 'failure'> | null
  /** The attempt that can be continued. */
  interrupted: { kind: string; mayRestart: boolean } | null
  /** State before this page: whether there are attempts, whether a recording is the answer, and whether that one was interrupted. */
  hasAttempts: boolean
  hasAnswered: boolean
  isAnswerInterrupted: boolean
  attemptsLeft: number
  /** Number of attempts, and true if the question has a time limit. */
  limit: number
  isTimed: boolean
  /** Kinds with an attempt that may be granted and has recorded nothing yet. */
  pending: string[]
}

export const isAnswered = ({ last, hasAnswered }: Pick<RecordingStatus, 'last' | 'hasAnswered'>): boolean =>
  last ? !['failed', 'interrupted'].includes(last.state) : hasAnswered

/** True while a recording is in progress or not saved yet. */
export const isBusy = ({ running, last }: Pick<RecordingStatus, 'running' | 'last'>): boolean =>
  running !== null || last?.state === 'sending' || last?.state === 'completing'

/** Reason why the last recording is not saved; empty if it is, or may still be. */
export const formatLastFailure = (t: BrowserTexts, { last }: Pick<RecordingStatus, 'last'>): string =>
  last?.state === 'failed' ? formatFailure(t, last.failure) : ''

/** Current length; empty if nothing is recorded. */
export const formatElapsed = ({ running }: Pick<RecordingStatus, 'running'>): string =>
  running?.isRunning ? formatClock(running.elapsed) : ''

export function formatState(t: BrowserTexts, answering: RecordingStatus): string {
  const { isOpening, countIn, running, last, hasAnswered, isAnswerInterrupted } = answering
  if (countIn > 0) return t.text('attempt.begins')
  if (isOpening || (running && !running.isRunning && running.elapsed === 0)) return t.text('attempt.opening')
  if (running?.isRunning) return t.text('attempt.recording')
  if (running) return t.text('attempt.waiting', { time: formatClock(running.elapsed) })
  if (last) return formatEnded(t, last)
  if (!hasAnswered) return ''
  return t.text(isAnswerInterrupted ? 'attempt.answered.cut' : 'attempt.answered')
}

function formatEnded(t: BrowserTexts, last: NonNullable<RecordingStatus['last']>): string {
  const { state, saved, recorded, failure } = last
  if (state === 'interrupted') return t.text('attempt.cut_at', { time: formatClock(recorded) })
  if (state === 'failed')
    return saved > 0 ? t.text('attempt.failed.after', { time: formatClock(saved) }) : t.text('attempt.failed')
  if (state !== 'saved')
    return saved > 0 ? t.text('attempt.sending.saved', { time: formatClock(saved) }) : t.text('attempt.sending')
  return failure ? t.text('attempt.saved.gap') : t.text('attempt.saved', { time: formatClock(recorded) })
}

/** Saved length during a recording; otherwise the remaining ways to record. */
export function formatRemaining(t: BrowserTexts, answering: RecordingStatus): string {
  const { countIn, running, last, interrupted, hasAttempts, attemptsLeft, pending } = answering
  if (countIn > 0) return ''
  if (running) return last && last.saved > 0 ? t.text('attempt.saved_up_to', { time: formatClock(last.saved) }) : ''
  if (interrupted) return t.text(interrupted.mayRestart ? 'attempt.continue.or_restart' : 'attempt.continue.hint')
  if (attemptsLeft === 0) return pending.length > 0 ? t.text('attempt.left', { left: 1 }) : t.text('attempt.left.none')
  return t.text(last || hasAttempts ? 'attempt.left.again' : 'attempt.left', { left: attemptsLeft })
}

/** Says which attempt counts, before another is recorded. */
export function formatRule(
  t: BrowserTexts,
  { countIn, running, attemptsLeft, pending, interrupted, limit, isTimed }: RecordingStatus,
): string {
  if (countIn > 0 || running || (attemptsLeft === 0 && pending.length === 0 && !interrupted)) return ''
  if (limit > 1) return t.text(isTimed ? 'attempt.rule.timed' : 'attempt.rule')
  return isTimed ? t.text('attempt.rule.one') : ''
}

/** Describes a recording that the clock ended. */
export function describeEndedRecording(
  t: BrowserTexts,
  { state, recorded, saved }: Pick<Recording, 'state' | 'recorded' | 'saved'>,
): string {
  if (state === 'failed') return t.text('over.failed', { time: formatClock(saved) })
  return t.text(state === 'saved' ? 'over.saved' : 'over.sending', { time: formatClock(recorded) })
}
