import { wordTime } from '../../../../http/browser/word-time.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Recording } from '../session/recording.ts'
import { wordFailure } from '../session/wording.ts'

/** How far the recording of an answer is. */
export type Answering = {
  isOpening: boolean
  /** Seconds until the recording begins; 0: it is not counted. */
  countIn: number
  /** What is being recorded; null: nothing is. `isRunning`: the device gives something. */
  running: { isRunning: boolean; elapsed: number } | null
  /** What this page has recorded last. */
  last: Pick<Recording, 'state' | 'saved' | 'recorded' | 'failure'> | null
  /** Before this page: whether something was recorded, and whether it is the answer. */
  hasTakes: boolean
  hasAnswered: boolean
  takesLeft: number
  /** Kinds of which a take was granted, perhaps, and nothing is recorded in it yet. */
  pending: string[]
}

export const isAnswered = ({ last, hasAnswered }: Pick<Answering, 'last' | 'hasAnswered'>): boolean =>
  last ? last.state !== 'failed' : hasAnswered

/** Whether something is recorded, or was and is not saved yet. */
export const isBusy = ({ running, last }: Pick<Answering, 'running' | 'last'>): boolean =>
  running !== null || last?.state === 'sending' || last?.state === 'completing'

/** Why what was recorded last is not saved; empty: it is, or may yet be. */
export const wordFailed = (t: BrowserTexts, { last }: Pick<Answering, 'last'>): string =>
  last?.state === 'failed' ? wordFailure(t, last.failure) : ''

/** How long it is by now; empty where nothing is recorded. */
export const wordElapsed = ({ running }: Pick<Answering, 'running'>): string =>
  running?.isRunning ? wordTime(running.elapsed) : ''

export function wordState(t: BrowserTexts, { isOpening, countIn, running, last, hasAnswered }: Answering): string {
  if (countIn > 0) return t.text('take.begins')
  if (isOpening || (running && !running.isRunning && running.elapsed === 0)) return t.text('take.opening')
  if (running?.isRunning) return t.text('take.recording')
  if (running) return t.text('take.waiting', { time: wordTime(running.elapsed) })
  if (last) return wordEnded(t, last)
  return hasAnswered ? t.text('take.answered') : ''
}

function wordEnded(t: BrowserTexts, last: NonNullable<Answering['last']>): string {
  const { state, saved, recorded, failure } = last
  if (state === 'failed') return saved > 0 ? t.text('take.failed.after', { time: wordTime(saved) }) : t.text('take.failed')
  if (state !== 'saved') return saved > 0 ? t.text('take.sending.saved', { time: wordTime(saved) }) : t.text('take.sending')
  if (failure) return t.text('take.saved.gap')
  return recorded > 0 ? t.text('take.saved', { time: wordTime(recorded) }) : t.text('take.saved.before')
}

/** How much of it is saved while it is recorded; else how often it can be recorded yet. */
export function wordLeft(t: BrowserTexts, { countIn, running, last, hasTakes, takesLeft, pending }: Answering): string {
  if (countIn > 0) return ''
  if (running) return last && last.saved > 0 ? t.text('take.saved_up_to', { time: wordTime(last.saved) }) : ''
  if (takesLeft === 0) return pending.length > 0 ? t.text('take.left', { left: 1 }) : t.text('take.left.none')
  return t.text(last || hasTakes ? 'take.left.again' : 'take.left', { left: takesLeft })
}

/** @param isAmongOthers whether there is something else that could be the answer. */
export const wordInterrupted = (t: BrowserTexts, isAmongOthers: boolean): string =>
  t.text(isAmongOthers ? 'take.interrupted.choose' : 'take.interrupted')
