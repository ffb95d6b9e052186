import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Verdict } from '../../src/domain/mails/mail-outage.ts'
import { createMailDispatcher, type SendAttempt } from '../../src/jobs/mail-dispatcher.ts'

// Fakes timers, because a slow server takes minutes.
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const TAKEN: Verdict = { kind: 'taken' }
const WANTS_FEWER: Verdict = { kind: 'unable', about: 'throttled', isCertain: true, reason: '451 4.7.1 Too many mails' }
const CLOSES: Verdict = { kind: 'unable', about: 'throttled', isCertain: false, reason: '421 4.7.0 Not to this recipient' }

/** Creates a dispatcher. `tried` has the ids of attempted mails in order. */
function start(width = 10) {
  let isOut = false
  let outages = 0
  const record = {
    exists: async () => isOut,
    async begin() {
      outages++
      isOut = true
      return true
    },
    claimProbe: async () => true,
    async end() {
      const was = isOut
      isOut = false
      return was
    },
  }
  const log = { info() {}, warn() {}, error() {} }
  const dispatcher = createMailDispatcher(record, log as never, { width, perMinute: 0, closeIdle() {} })
  const tried: string[] = []
  const outcomes: Record<string, string | undefined> = {}
  const join = (id: string, answer: SendAttempt, group = 'one') =>
    void dispatcher
      .dispatch({ id, group, rank: 1 }, () => {
        tried.push(id)
        return answer()
      })
      .then(
        (outcome) => {
          outcomes[id] = outcome?.kind
        },
        () => {},
      )
  return { dispatcher, join, tried, outcomes, outages: () => outages }
}

const isTaken: SendAttempt = async () => TAKEN
const hangs: SendAttempt = () => new Promise(() => {})

it('continues past slow mails even before the server has accepted any', async () => {
  const { dispatcher, join, outcomes } = start()
  for (let i = 0; i < 12; i++) join(`slow-${i}`, hangs)
  join('prompt', isTaken)
  await vi.advanceTimersByTimeAsync(180_000)
  expect(outcomes).toEqual({ prompt: 'taken' })
  dispatcher.close()
})

it('tries other mails before one that the server throttled', async () => {
  const { dispatcher, join, tried, outcomes } = start()
  let wants = 3
  join('first', async () => (wants-- > 0 ? WANTS_FEWER : TAKEN))
  for (let i = 0; i < 4; i++) join(`other-${i}`, isTaken)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(tried.slice(0, 6)).toEqual(['first', 'other-0', 'other-1', 'other-2', 'other-3', 'first'])
  expect(outcomes).toMatchObject({ first: 'taken', 'other-3': 'taken' })
  dispatcher.close()
})

it('leaves a mail to its retries if the server disconnects for its recipient alone, delaying no others', async () => {
  const { dispatcher, join, tried, outcomes, outages } = start()
  join('closed', async () => CLOSES)
  for (let i = 0; i < 4; i++) join(`other-${i}`, isTaken)
  await vi.advanceTimersByTimeAsync(100)
  expect(outcomes).toEqual({ closed: 'later', 'other-0': 'taken', 'other-1': 'taken', 'other-2': 'taken', 'other-3': 'taken' })
  for (let i = 0; i < 50; i++) {
    join('closed', async () => CLOSES)
    await vi.advanceTimersByTimeAsync(20_000)
  }
  join('late', isTaken)
  await vi.advanceTimersByTimeAsync(100)
  expect([outcomes.late, outages(), tried.length]).toEqual(['taken', 0, 56])
  dispatcher.close()
})

it('assumes an outage if the server disconnects for three mails in a row', async () => {
  const { dispatcher, join, outcomes } = start()
  let closes = true
  const answer: SendAttempt = async () => (closes ? CLOSES : TAKEN)
  for (let i = 0; i < 5; i++) join(`closed-${i}`, answer)
  await vi.advanceTimersByTimeAsync(100)
  expect(outcomes).toEqual({ 'closed-0': 'later', 'closed-1': 'later' })
  closes = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect(outcomes).toMatchObject({ 'closed-2': 'taken', 'closed-3': 'taken', 'closed-4': 'taken' })
  dispatcher.close()
})
