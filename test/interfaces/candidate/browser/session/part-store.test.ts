import { describe, expect, it } from 'vitest'
import {
  openPartStore,
  type Part,
  type PartDatabase,
  type PartKey,
} from '../../../../../src/interfaces/candidate/browser/session/part-store.ts'

const part = (number: number, length = 10): Part => ({
  mediaId: 'a',
  segment: 0,
  number,
  bytes: new ArrayBuffer(length),
  end: number,
})
const nameOf = ({ mediaId, segment, number }: PartKey) => `${mediaId}/${segment}/${number}`

/** Fake of the browser's database, which can fail and lose its rows. */
function makeDatabase() {
  const rows = new Map<string, Part>()
  let isGone = false
  const use = async <Result>(act: () => Result): Promise<Result> => {
    if (isGone) throw new Error('InvalidStateError')
    return act()
  }
  const database: PartDatabase = {
    put: (part) => use(() => void rows.set(nameOf(part), part)),
    get: (key) => use(() => rows.get(nameOf(key))),
    remove: (key) => use(() => void rows.delete(nameOf(key))),
    list: () => use(() => [...rows.values()]),
    drop: (mediaId) => use(() => rows.forEach((part, name) => void (part.mediaId === mediaId && rows.delete(name)))),
  }
  return {
    database,
    rows,
    clear: () => {
      isGone = true
      rows.clear()
    },
  }
}

function open(copiedBytes?: number) {
  const made = makeDatabase()
  let refusals = 0
  const store = openPartStore(made.database, () => void refusals++, copiedBytes)
  return { ...made, store, refusals: () => refusals }
}

describe('waiting parts', () => {
  it('survive when the browser clears its storage between two of them', async () => {
    const { store, clear, refusals } = open()
    await store.put(part(0))
    clear()
    expect((await store.get(part(0)))?.number).toBe(0)
    await store.put(part(1))
    expect((await store.get(part(1)))?.number).toBe(1)
    for (const number of [0, 1]) await store.remove(part(number))
    expect(await Promise.all([store.get(part(0)), store.list()])).toEqual([undefined, []])
    await store.drop('a')
    expect([store.keepsAll(), refusals()]).toEqual([false, 1])
  })

  it('are stored in memory up to its limit, the newest ones', async () => {
    const { store, clear, rows } = open(25)
    for (const number of [0, 1, 2]) await store.put(part(number))
    expect(rows.size).toBe(3)
    expect((await store.get(part(0)))?.number).toBe(0) // from the database
    clear()
    const found = await Promise.all([0, 1, 2].map((number) => store.get(part(number))))
    expect(found.map((one) => one?.number)).toEqual([undefined, 1, 2])
  })

  it('are all stored in memory, without a limit, if the browser stores none', async () => {
    const store = openPartStore(null, () => {}, 25)
    for (const number of [0, 1, 2, 3]) await store.put(part(number))
    expect((await store.get(part(0)))?.number).toBe(0)
    expect(store.keepsAll()).toBe(false)
  })
})
