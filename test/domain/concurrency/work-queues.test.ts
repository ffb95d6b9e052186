import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createFairQueue, createKeyedLimiter } from '../../../src/domain/concurrency/work-queues.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Starts tasks that record when they begin and end on command. */
function startWork(inTurn: ReturnType<typeof createKeyedLimiter>, whose: string, names: string[]) {
  const begun: string[] = []
  const ends = new Map<string, { succeed: () => void; fail: (error: Error) => void }>()
  const results = names.map((name) =>
    inTurn(whose, () => {
      begun.push(name)
      return new Promise<string>((resolve, reject) => ends.set(name, { succeed: () => resolve(name), fail: reject }))
    }),
  )
  return { begun, ends, results }
}

it('runs as many tasks at once as allowed, and the rest in order of arrival', async () => {
  const { begun, ends, results } = startWork(createKeyedLimiter(2), 'acme', ['a', 'b', 'c', 'd'])
  expect(begun).toEqual(['a', 'b'])
  ends.get('b')!.succeed()
  expect(await results[1]).toBe('b')
  await nextTurn()
  expect(begun).toEqual(['a', 'b', 'c'])
  ends.get('c')!.succeed()
  await results[2]
  await nextTurn()
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})

it('continues after a failed task', async () => {
  const { begun, ends, results } = startWork(createKeyedLimiter(1), 'acme', ['a', 'b'])
  ends.get('a')!.fail(new Error('in vain'))
  await expect(results[0]).rejects.toThrow('in vain')
  await nextTurn()
  expect(begun).toEqual(['a', 'b'])
})

it('rejects a task if the queue is full, until there is room again', async () => {
  const inTurn = createKeyedLimiter(1, { waiting: 1, refusal: () => new Error('too much') })
  const { ends, results } = startWork(inTurn, 'acme', ['a', 'b', 'c'])
  await expect(results[2]).rejects.toThrow('too much')
  expect(await inTurn('globex', async () => 'done')).toBe('done')
  ends.get('a')!.succeed()
  await results[0]
  await nextTurn()
  const [later] = startWork(inTurn, 'acme', ['d']).results
  ends.get('b')!.succeed()
  expect(await results[1]).toBe('b')
  expect(await Promise.race([later, nextTurn('waits')])).toBe('waits')
})

it("runs a task of one organization while another organization's tasks wait", async () => {
  const inTurn = createKeyedLimiter(1)
  startWork(inTurn, 'acme', ['a', 'b'])
  expect(await inTurn('globex', async () => 'done')).toBe('done')
})

it('rejects a task at once if its expected wait, by recent durations, exceeds the limit', async () => {
  let now = 0
  const inTurn = createKeyedLimiter(1, { waiting: 20, longest: 1_000, refusal: () => new Error('too long') }, () => now)
  const { begun, ends, results } = startWork(inTurn, 'acme', ['a', 'b'])
  now += 600
  ends.get('a')!.succeed()
  await waitUntil('the next to begin', () => begun.includes('b') || undefined)
  const later = startWork(inTurn, 'acme', ['c', 'd'])
  await expect(later.results[1]).rejects.toThrow('too long')
  ends.get('b')!.succeed()
  await waitUntil('the one that may wait', () => later.ends.get('c'))
  later.ends.get('c')!.succeed()
  expect(await Promise.all([...results, later.results[0]])).toEqual(['a', 'b', 'c'])
})

it('skips tasks that were canceled or have waited too long', async () => {
  const inTurn = createKeyedLimiter(1, { waiting: 20, longest: 20, refusal: () => new Error('not done') })
  const { ends, results } = startWork(inTurn, 'acme', ['a', 'b'])
  const disconnect = new AbortController()
  const gone = inTurn('acme', async () => 'c', disconnect.signal)
  disconnect.abort()
  await expect(gone).rejects.toThrow('not done')
  await expect(results[1]).rejects.toThrow('not done')
  ends.get('a')!.succeed()
  expect(await results[0]).toBe('a')
  expect(await inTurn('acme', async () => 'd')).toBe('d')
})

it('rejects a task that has waited its limit in a fair queue, and runs the others', async () => {
  const inTurn = createFairQueue(1, { waiting: 9, longest: 10, refusal: () => new Error('too long') })
  const { promise, resolve: end } = Promise.withResolvers<string>()
  const first = inTurn('one', () => promise)
  await expect(inTurn('other', async () => 'never')).rejects.toThrow('too long')
  const last = inTurn('one', async () => 'last')
  end('first')
  expect(await Promise.all([first, last])).toEqual(['first', 'last'])
})
