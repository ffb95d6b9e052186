// State machine of playing a question's audio or video; prompt.ts executes its effects.

import type { BrowserTexts } from '../../../../locales/texts.ts'

/** `asking`: paused at its first frame until the service grants the play. */
type Phase = 'idle' | 'loading' | 'asking' | 'playing' | 'paused'

export type Play = {
  phase: Phase
  /** Allowed plays in total, and remaining plays. A granted play that has not begun is not among the remaining. */
  atFirst: number
  playsLeft: number
  isGranted: boolean
  isShown: boolean
  /** Reason why playback failed; null if it did not. */
  problem: Problem | null
  /** Number of the current try. Results of earlier tries are ignored. */
  run: number
}

export type PlayEvent =
  | { is: 'pressed' | 'ended' | 'paused' | 'broken' | 'closed' }
  /** Results of a try. */
  | { is: 'begun' | 'notBegun'; run: number }
  | { is: 'granted'; run: number; playsLeft: number }
  | { is: 'refused'; run: number; code: string }

/** `load`: load the media file. `rewind`: seek to its beginning. `use`: use up the granted play. */
export type Effect = 'load' | 'play' | 'hold' | 'ask' | 'rewind' | 'use' | 'unload'

export const beginPlay = (playsLeft: number): Play => {
  return { phase: 'idle', atFirst: playsLeft, playsLeft, isGranted: false, isShown: false, problem: null, run: 0 }
}

type Step = [Play, Effect[]]

export function advance(before: Play, event: PlayEvent): Step {
  if ('run' in event && event.run !== before.run) return [before, []]
  switch (event.is) {
    case 'pressed':
      return before.phase === 'paused' ? start(before, 'playing', ['play']) : start(before, 'loading', ['load', 'play'])
    case 'begun':
      return goOn(before)
    case 'notBegun':
      return stop(before, before.isGranted ? 'not_begun' : 'not_loaded')
    case 'granted':
      return start({ ...before, playsLeft: event.playsLeft, isGranted: true }, 'asking', ['rewind', 'play'])
    case 'refused':
      return stop({ ...before, playsLeft: event.code === 'no_plays_left' ? 0 : before.playsLeft }, problemOf(event.code))
    case 'ended':
      return [{ ...before, phase: 'idle' }, []]
    case 'paused':
      return [before.phase === 'playing' ? { ...before, phase: 'paused' } : before, []]
    case 'broken':
      return ['playing', 'paused'].includes(before.phase) ? stop(before, 'broken_off') : [before, []]
    case 'closed':
      return [{ ...before, run: before.run + 1 }, ['hold']]
  }
}

const start = (before: Play, phase: Phase, effects: Effect[]): Step => {
  return [{ ...before, phase, problem: null, isShown: true, run: before.run + 1 }, effects]
}

/** Playback has begun: continues with a granted play; otherwise pauses and requests one. */
function goOn(before: Play): Step {
  if (before.phase === 'playing') return [before, []]
  if (before.isGranted) return [{ ...before, phase: 'playing', isGranted: false }, ['use']]
  return [{ ...before, phase: 'asking' }, ['hold', 'ask']]
}

const stop = (before: Play, problem: Problem): Step => [
  { ...before, phase: 'idle', problem, isShown: false, run: before.run + 1 },
  before.isGranted ? [] : ['unload'],
]

const REFUSALS = ['unreachable', 'no_plays_left'] as const
type Problem = 'not_loaded' | 'not_begun' | 'broken_off' | 'refused' | (typeof REFUSALS)[number]

const problemOf = (code: string): Problem => REFUSALS.find((refusal) => refusal === code) ?? 'refused'

/** @param isPending true if a play was requested without a response: the service may have granted it. */
const countLeft = ({ isGranted, playsLeft }: Play, isPending: boolean): number =>
  isGranted ? playsLeft + 1 : Math.max(playsLeft, isPending ? 1 : 0)

/** True if the button has something to do. */
export const canBePressed = (play: Play, isPending: boolean): boolean =>
  play.phase === 'paused' || (['idle', 'loading'].includes(play.phase) && countLeft(play, isPending) > 0)

export function formatPlay(t: BrowserTexts, play: Play, isPending: boolean): string {
  const { phase, problem, atFirst } = play
  if (phase === 'loading' || phase === 'asking') return t.text('prompt.loading')
  if (problem) return t.text(`prompt.${problem}`)
  const playsLeft = countLeft(play, isPending)
  if (playsLeft === 0) return phase === 'playing' ? '' : t.text('prompt.over')
  return t.text(phase === 'playing' || playsLeft < atFirst ? 'prompt.left.more' : 'prompt.left', { left: playsLeft })
}
