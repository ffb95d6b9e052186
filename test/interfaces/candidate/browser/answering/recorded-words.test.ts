import { expect, it } from 'vitest'
import {
  type Answering,
  isAnswered,
  isBusy,
  wordFailed,
  wordLeft,
  wordState,
} from '../../../../../src/interfaces/candidate/browser/answering/recorded-words.ts'

const none: Answering = {
  isOpening: false,
  running: null,
  last: null,
  hasTakes: false,
  hasAnswered: false,
  takesLeft: 2,
  pending: [],
}
const last = { state: 'recording', recorded: 61_000, saved: 0, failure: '' } as const

it.each<[string, Partial<Answering>]>([
  ['', {}],
  ['Your answer is saved.', { hasAnswered: true }],
  ['Opening your devices…', { isOpening: true, last }],
  ['Opening your devices…', { running: { isRunning: false, elapsed: 0 }, last }],
  ['Recording: 1:02', { running: { isRunning: true, elapsed: 62_000 }, last }],
  ['Recording: 1:02, saved up to 0:58', { running: { isRunning: true, elapsed: 62_000 }, last: { ...last, saved: 58_000 } }],
  ['The recording waits for your device, at 1:02', { running: { isRunning: false, elapsed: 62_000 }, last }],
  ['Sending your answer, saved up to 0:58', { last: { ...last, state: 'sending', saved: 58_000 } }],
  ['Saved: 1:01.', { last: { ...last, state: 'saved' }, hasAnswered: true }],
  ['What you had recorded before is saved.', { last: { ...last, state: 'saved', recorded: 0 } }],
  ['Saved, but a part of it was lost on the way.', { last: { ...last, state: 'saved', failure: 'parts_missing' } }],
  ['Not saved.', { last: { ...last, state: 'failed' }, hasAnswered: true }],
  ['Saved up to 0:58, no further.', { last: { ...last, state: 'failed', saved: 58_000 } }],
])('says how far it is: %s', (words, is) => expect(wordState({ ...none, ...is })).toBe(words))

it('says how often it can be recorded yet', () => {
  expect(wordLeft(none)).toBe('You can record your answer 2 times.')
  expect(wordLeft({ ...none, takesLeft: 1, hasTakes: true })).toMatch(/^You can record it again once: the new recording counts/)
  expect(wordLeft({ ...none, takesLeft: 0 })).toBe('You can’t record this answer again.')
  expect(wordLeft({ ...none, takesLeft: 0, pending: ['audio'] })).toBe('You can record your answer once.')
  expect(wordLeft({ ...none, running: { isRunning: true, elapsed: 0 } })).toBe('')
})

it('takes the latest for the answer, unless that failed', () => {
  const failed = { ...none, hasAnswered: true, last: { ...last, state: 'failed', failure: 'quota' } as const }
  expect([isAnswered(none), isAnswered({ ...none, hasAnswered: true }), isAnswered({ ...none, last })]).toEqual([
    false,
    true,
    true,
  ])
  expect([isAnswered(failed), isBusy(failed), wordFailed(failed)]).toEqual([false, false, expect.stringContaining('no room')])
  expect(isBusy({ ...none, last: { ...last, state: 'completing' } })).toBe(true)
})
