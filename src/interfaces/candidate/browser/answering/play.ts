// The playing of a question's audio or video, as a machine of states: prompt.ts does what it says.

/** Held at its first picture while it is `asking` whether it may be played. */
type Phase = 'idle' | 'loading' | 'asking' | 'playing' | 'paused'

export type Play = {
  phase: Phase
  /** How often it can be played, at first and now, without the play that was granted and has not begun. */
  atFirst: number
  left: number
  isGranted: boolean
  isShown: boolean
  /** Why it is not played, in a sentence. */
  problem: string
  /** Which of the tries to play it is the present one: what becomes of others is of no account. */
  run: number
}

export type Happening =
  | { is: 'pressed' | 'ended' | 'paused' | 'broken' | 'closed' }
  /** Of a try to play it. */
  | { is: 'begun' | 'notBegun'; run: number }
  | { is: 'granted'; run: number; left: number }
  | { is: 'refused'; run: number; code: string }

/** `load`: what is not loaded yet; `rewind`: to its beginning; `use`: the play that was granted. */
export type Effect = 'load' | 'play' | 'hold' | 'ask' | 'rewind' | 'use' | 'unload'

export const beginPlay = (left: number): Play => {
  return { phase: 'idle', atFirst: left, left, isGranted: false, isShown: false, problem: '', run: 0 }
}

type Step = [Play, Effect[]]

export function advance(before: Play, happening: Happening): Step {
  if ('run' in happening && happening.run !== before.run) return [before, []]
  switch (happening.is) {
    case 'pressed':
      return before.phase === 'paused' ? start(before, 'playing', ['play']) : start(before, 'loading', ['load', 'play'])
    case 'begun':
      return goOn(before)
    case 'notBegun':
      return stop(before, before.isGranted ? NOT_BEGUN : NOT_LOADED)
    case 'granted':
      return start({ ...before, left: happening.left, isGranted: true }, 'asking', ['rewind', 'play'])
    case 'refused':
      return stop({ ...before, left: happening.code === 'no_plays_left' ? 0 : before.left }, wordRefusal(happening.code))
    case 'ended':
      return [{ ...before, phase: 'idle' }, []]
    case 'paused':
      return [before.phase === 'playing' ? { ...before, phase: 'paused' } : before, []]
    case 'broken':
      return ['playing', 'paused'].includes(before.phase) ? stop(before, BROKEN_OFF) : [before, []]
    case 'closed':
      return [{ ...before, run: before.run + 1 }, ['hold']]
  }
}

const start = (before: Play, phase: Phase, effects: Effect[]): Step => {
  return [{ ...before, phase, problem: '', isShown: true, run: before.run + 1 }, effects]
}

/** It has begun to play: as it may, or to find out whether it could. */
function goOn(before: Play): Step {
  if (before.phase === 'playing') return [before, []]
  if (before.isGranted) return [{ ...before, phase: 'playing', isGranted: false }, ['use']]
  return [{ ...before, phase: 'asking' }, ['hold', 'ask']]
}

const stop = (before: Play, problem: string): Step => [
  { ...before, phase: 'idle', problem, isShown: false, run: before.run + 1 },
  before.isGranted ? [] : ['unload'],
]

const NOT_LOADED = 'It could not be loaded, and that does not count. Try again; if it stays so, tell whoever invited you.'
const NOT_BEGUN = 'It did not begin. Press once more: that does not count again.'
const BROKEN_OFF = 'It broke off. Tell whoever invited you.'

function wordRefusal(code: string): string {
  if (code === 'unreachable') return 'No connection: it was not played. Try again.'
  if (code === 'no_plays_left') return 'It has been played as often as it may be: it can’t be played again.'
  return 'It can’t be played now.'
}

/** @param isPending a play was asked for, and granted perhaps. */
const countLeft = ({ isGranted, left }: Play, isPending: boolean): number =>
  isGranted ? left + 1 : Math.max(left, isPending ? 1 : 0)

/** Whether there is anything to press. */
export const canBePressed = (play: Play, isPending: boolean): boolean =>
  play.phase === 'paused' || (['idle', 'loading'].includes(play.phase) && countLeft(play, isPending) > 0)

export function wordPlay(play: Play, isPending: boolean): string {
  const { phase, problem, atFirst } = play
  if (phase === 'loading' || phase === 'asking') return 'Loading the question…'
  if (problem) return problem
  const left = countLeft(play, isPending)
  if (left === 0) return phase === 'playing' ? '' : 'It can’t be played again.'
  const more = phase === 'playing' || left < atFirst ? ' more' : ''
  return `It can be played ${left === 1 ? 'once' : `${left} times`}${more}.`
}
