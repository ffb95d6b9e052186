import { expect, it } from 'vitest'
import {
  advance,
  beginPlay,
  canBePressed,
  type Effect,
  formatPlay,
  type Play,
  type PlayEvent,
} from '../../../../../src/interfaces/candidate/browser/answering/play.ts'
import { t } from '../../../../support/browser-texts.ts'

/** Results of an attempt to play and of later ones. */
type Word =
  | 'pressed'
  | 'ended'
  | 'paused'
  | 'broken'
  | 'closed'
  | 'begun'
  | 'notBegun'
  | 'granted'
  | 'unreachable'
  | 'no_plays_left'

function go(words: Word[], from: Play = beginPlay(2)) {
  let play = from
  const effects: Effect[] = []
  for (const word of words) {
    const [next, wanted] = advance(play, toEvent(word, play))
    play = next
    effects.push(...wanted)
  }
  const isPending = effects.lastIndexOf('ask') > effects.lastIndexOf('use')
  return { play, effects, words: formatPlay(t, play, isPending), phase: play.phase, canPress: canBePressed(play, isPending) }
}

function toEvent(word: Word, { run, playsLeft }: Play): PlayEvent {
  if (word === 'granted') return { is: word, run, playsLeft: playsLeft - 1 }
  if (word === 'unreachable' || word === 'no_plays_left') return { is: 'refused', run, code: word }
  return { is: word, run }
}

it('requests a play when it could begin, and begins it when granted', () => {
  expect(go([])).toMatchObject({ words: 'It can be played 2 times.', canPress: true })
  expect(go(['pressed'])).toMatchObject({ effects: ['load', 'play'], words: 'Loading the question…' })
  expect(go(['pressed', 'begun'])).toMatchObject({ effects: ['load', 'play', 'hold', 'ask'], canPress: false })
  const whole = go(['pressed', 'begun', 'paused', 'granted', 'begun'])
  expect(whole.effects.slice(4)).toEqual(['rewind', 'play', 'use'])
  expect(whole).toMatchObject({ phase: 'playing', words: 'It can be played once more.', canPress: false })
  expect(go(['ended'], whole.play)).toMatchObject({ words: 'It can be played once more.', canPress: true })
})

it('never requests a play that cannot be loaded', () => {
  const failed = go(['pressed', 'notBegun'])
  expect(failed.effects).toEqual(['load', 'play', 'unload'])
  expect(failed).toMatchObject({
    words: expect.stringMatching(/^It could not be loaded; this does not count/),
    canPress: true,
  })
})

it('begins a granted play that failed to begin without counting it again', () => {
  const failed = go(['pressed', 'begun', 'granted', 'notBegun'], beginPlay(1))
  expect(failed).toMatchObject({ words: expect.stringMatching(/^It did not start/), canPress: true })
  const again = go(['pressed', 'begun'], failed.play)
  expect([again.effects, again.phase]).toEqual([['load', 'play', 'use'], 'playing'])
  expect(go(['ended'], again.play)).toMatchObject({ words: 'It can’t be played again.', canPress: false })
})

it('requests a play again if the response was lost, unless no plays are left', () => {
  expect(go(['pressed', 'begun', 'unreachable'])).toMatchObject({
    words: expect.stringMatching(/^No connection/),
    canPress: true,
  })
  const none = go(['pressed', 'begun', 'no_plays_left'])
  expect(none.play.playsLeft).toBe(0)
  expect(canBePressed(none.play, false)).toBe(false)
})

it('continues a paused play, and reports an early stop', () => {
  const paused = go(['pressed', 'begun', 'granted', 'begun', 'paused'])
  expect(paused.canPress).toBe(true)
  expect(go(['pressed', 'begun'], paused.play)).toMatchObject({ effects: ['play'], phase: 'playing' })
  expect(go(['broken'], paused.play)).toMatchObject({ phase: 'idle', words: 'Playback stopped early. Tell whoever invited you.' })
  expect(go(['broken']).play).toEqual(beginPlay(2))
})

it('ignores events of an earlier play', () => {
  const { play } = go(['pressed', 'closed'])
  for (const is of ['begun', 'notBegun'] as const) expect(advance(play, { is, run: play.run - 1 })).toEqual([play, []])
})
