import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from '../../src/domain/turns.ts'

/** Work that ends when it is told, and notes that it has begun. */
function startWork(inTurn: ReturnType<typeof createTurns>, whose: string, names: string[]) {
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

it('does so much at once, and the rest in the order in which it came', async () => {
  const { begun, ends, results } = startWork(createTurns(2), 'acme', ['a', 'b', 'c', 'd'])
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

it('goes on behind what fails', async () => {
  const { begun, ends, results } = startWork(createTurns(1), 'acme', ['a', 'b'])
  ends.get('a')!.fail(new Error('in vain'))
  await expect(results[0]).rejects.toThrow('in vain')
  await nextTurn()
  expect(begun).toEqual(['a', 'b'])
})

it('refuses what comes when as much is waiting as may wait, until there is room again', async () => {
  const inTurn = createTurns(1, { waiting: 1, refusal: () => new Error('too much') })
  const { ends, results } = startWork(inTurn, 'acme', ['a', 'b', 'c'])
  await expect(results[2]).rejects.toThrow('too much')
  expect(await inTurn('globex', async () => 'done')).toBe('done')
  ends.get('a')!.succeed()
  await results[0]
  const [later] = startWork(inTurn, 'acme', ['d']).results
  ends.get('b')!.succeed()
  expect(await results[1]).toBe('b')
  expect(await Promise.race([later, nextTurn('waits')])).toBe('waits')
})

it('keeps nobody waiting for what somebody else has to do', async () => {
  const inTurn = createTurns(1)
  startWork(inTurn, 'acme', ['a', 'b'])
  expect(await inTurn('globex', async () => 'done')).toBe('done')
})
