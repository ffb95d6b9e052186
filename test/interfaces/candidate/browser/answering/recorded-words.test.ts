import { expect, it } from 'vitest'
import {
  describeEndedRecording,
  formatElapsed,
  formatLastFailure,
  formatRemaining,
  formatRule,
  formatState,
  isAnswered,
  isBusy,
  type RecordingStatus,
} from '../../../../../src/interfaces/candidate/browser/answering/recorded-words.ts'
import { t } from '../../../../support/browser-texts.ts'

const none: RecordingStatus = {
  isOpening: false,
  countIn: 0,
  running: null,
  last: null,
  interrupted: null,
  hasAttempts: false,
  hasAnswered: false,
  isAnswerInterrupted: false,
  attemptsLeft: 2,
  limit: 2,
  isTimed: true,
  pending: [],
}
const last = { state: 'recording', recorded: 61_000, saved: 0, failure: '' } as const

it.each<[string, Partial<RecordingStatus>]>([
  ['', {}],
  ['Your answer is saved.', { hasAnswered: true }],
  ['Opening your devices…', { isOpening: true, last }],
  ['Opening your devices…', { running: { isRunning: false, elapsed: 0 }, last }],
  ['Recording starts in', { isOpening: true, countIn: 3 }],
  ['Recording', { running: { isRunning: true, elapsed: 62_000 }, last }],
  ['Waiting for your device, at 1:02', { running: { isRunning: false, elapsed: 62_000 }, last }],
  ['Sending your answer, saved up to 0:58', { last: { ...last, state: 'sending', saved: 58_000 } }],
  ['Saved: 1:01.', { last: { ...last, state: 'saved' }, hasAnswered: true }],
  ['Your recording was cut off. What arrived of it is your answer.', { hasAnswered: true, isAnswerInterrupted: true }],
  ['Your recording was interrupted after about 1:01.', { last: { ...last, state: 'interrupted' } }],
  [
    'A part of your recording was lost on the way. What arrived is your answer.',
    { last: { ...last, state: 'saved', failure: 'parts_missing' } },
  ],
  ['Not saved.', { last: { ...last, state: 'failed' }, hasAnswered: true }],
  ['Saved up to 0:58, no further.', { last: { ...last, state: 'failed', saved: 58_000 } }],
])('shows the state of the recording: %s', (words, is) => expect(formatState(t, { ...none, ...is })).toBe(words))

it('shows how many times the answer can still be recorded', () => {
  expect(formatRemaining(t, none)).toBe('You can record your answer 2 times.')
  expect(formatRemaining(t, { ...none, attemptsLeft: 1, hasAttempts: true })).toBe('You can record it again once.')
  expect(formatRemaining(t, { ...none, attemptsLeft: 0 })).toBe('You can’t record this answer again.')
  expect(formatRemaining(t, { ...none, attemptsLeft: 0, pending: ['audio'] })).toBe('You can record your answer once.')
})

it('shows the length of a running recording and its saved part', () => {
  const running = { isRunning: true, elapsed: 62_000 }
  expect([formatElapsed({ running }), formatElapsed({ running: { ...running, isRunning: false } })]).toEqual(['1:02', ''])
  expect(formatRemaining(t, { ...none, running, last })).toBe('')
  expect(formatRemaining(t, { ...none, running, last: { ...last, saved: 58_000 } })).toBe('Saved up to 0:58')
})

it('treats the latest recording as the answer, unless it failed', () => {
  const failed = { ...none, hasAnswered: true, last: { ...last, state: 'failed', failure: 'quota' } as const }
  expect([isAnswered(none), isAnswered({ ...none, hasAnswered: true }), isAnswered({ ...none, last })]).toEqual([
    false,
    true,
    true,
  ])
  expect([isAnswered(failed), isBusy(failed), formatLastFailure(t, failed)]).toEqual([
    false,
    false,
    expect.stringContaining('no storage left'),
  ])
  expect(isBusy({ ...none, last: { ...last, state: 'completing' } })).toBe(true)
})

it('explains how to continue an interrupted recording', () => {
  const interrupted = { ...none, attemptsLeft: 0, last: { ...last, state: 'interrupted' } as const }
  const words = (mayRestart: boolean) => formatRemaining(t, { ...interrupted, interrupted: { kind: 'audio', mayRestart } })
  expect(words(false)).toBe('What was recorded until then is saved. Continue, and it stays one attempt.')
  expect(words(true)).toMatch(/Or start over: this once, it doesn’t cost you an attempt\.$/)
  expect([isAnswered(interrupted), isBusy(interrupted)]).toEqual([false, false])
})

it('explains before a recording which attempt counts', () => {
  const [one, several] = [/^If the time runs out/, /^The attempt that you stop last is your answer, unless you choose another\./]
  expect(formatRule(t, none)).toMatch(/your last finished attempt stays your answer\.$/)
  expect(formatRule(t, { ...none, isTimed: false })).toMatch(several)
  expect(formatRule(t, { ...none, limit: 1 })).toMatch(one)
  for (const silent of [{ limit: 1, isTimed: false }, { attemptsLeft: 0 }, { countIn: 2 }])
    expect(formatRule(t, { ...none, ...silent })).toBe('')
})

it('reports the result of a recording that the time limit ended', () => {
  const over = (state: 'saved' | 'completing' | 'failed') => describeEndedRecording(t, { ...last, saved: 58_000, state })
  expect(over('saved')).toBe('Your recording of 1:01 was saved.')
  expect(over('completing')).toBe('Your recording of 1:01 is being sent. Keep this page open.')
  expect(over('failed')).toBe('Your recording could not be saved further than 0:58.')
})
