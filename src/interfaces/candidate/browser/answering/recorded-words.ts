import { wordTime } from '../../../../http/browser/word-time.ts'
import type { Recording } from '../session/recording.ts'
import { wordFailure } from '../session/wording.ts'

/** How far the recording of an answer is. */
export type Answering = {
  isOpening: boolean
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

export const isAnswered = ({ last, hasAnswered }: Answering): boolean => (last ? last.state !== 'failed' : hasAnswered)

/** Whether something is recorded, or was and is not saved yet. */
export const isBusy = ({ running, last }: Pick<Answering, 'running' | 'last'>): boolean =>
  running !== null || last?.state === 'sending' || last?.state === 'completing'

/** Why what was recorded last is not saved; empty: it is, or may yet be. */
export const wordFailed = ({ last }: Pick<Answering, 'last'>): string =>
  last?.state === 'failed' ? wordFailure(last.failure) : ''

export function wordState({ isOpening, running, last, hasAnswered }: Answering): string {
  if (isOpening || (running && !running.isRunning && running.elapsed === 0)) return 'Opening your devices…'
  if (running?.isRunning) return `Recording: ${wordTime(running.elapsed)}${wordSaved(last)}`
  if (running) return `The recording waits for your device, at ${wordTime(running.elapsed)}`
  if (last) return wordEnded(last)
  return hasAnswered ? 'Your answer is saved.' : ''
}

function wordEnded(last: NonNullable<Answering['last']>): string {
  const { state, saved, recorded, failure } = last
  if (state === 'failed') return saved > 0 ? `Saved up to ${wordTime(saved)}, no further.` : 'Not saved.'
  if (state !== 'saved') return `Sending your answer${wordSaved(last)}`
  if (failure) return 'Saved, but a part of it was lost on the way.'
  return recorded > 0 ? `Saved: ${wordTime(recorded)}.` : 'What you had recorded before is saved.'
}

const wordSaved = (last: Answering['last']): string => (last && last.saved > 0 ? `, saved up to ${wordTime(last.saved)}` : '')

/** How often it can be recorded yet. */
export function wordLeft({ running, last, hasTakes, takesLeft, pending }: Answering): string {
  if (running) return ''
  if (takesLeft === 0) return pending.length > 0 ? 'You can record your answer once.' : 'You can’t record this answer again.'
  const times = takesLeft === 1 ? 'once' : `${takesLeft} times`
  return last || hasTakes
    ? `You can record it again ${times}: the new recording counts when you have stopped it, unless you choose another.`
    : `You can record your answer ${times}.`
}

/** @param isAmongOthers whether there is something else that could be the answer. */
export const wordInterrupted = (isAmongOthers: boolean): string =>
  `Your microphone or camera was disconnected, and the recording ended there. What was recorded until then is ${
    isAmongOthers ? 'saved; choose below if it is to be your answer.' : 'your answer.'
  }`
