import { mkdtemp, open, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Db } from '../../src/db/client.ts'
import { hasReceiptLine } from '../../src/domain/erasure/receipts.ts'
import { openErasureLog } from '../../src/runtime/erasure-log.ts'

async function makeFile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'erasure-log-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return path.join(folder, 'erasures.ndjson')
}

it('reads the log from its end, in pieces of any size, without a torn last line', async () => {
  const file = await makeFile()
  const log = openErasureLog(file)
  expect(await log.read()).toBe(null)
  const lines = ['', 'first', 'ü'.repeat(100_000), ...Array.from({ length: 5_000 }, (_, i) => `line ${i} ${'é'.repeat(i % 50)}`)]
  for (const line of lines.slice(0, 3)) await log.append(line)
  const handle = await open(file, 'a')
  await handle.write(`${lines.slice(3).join('\n')}\ntorn`)
  await handle.close()
  const read: string[] = []
  for await (const line of (await log.read())!) read.push(line)
  expect(read).toEqual(lines.toReversed())
})

it("searches the log only back to the time of the erasure's request, however long it is", async () => {
  const file = await makeFile()
  const log = openErasureLog(file)
  await log.append('from long ago')
  await truncate(file, 20 * 1024 ** 3) // a hole of 20 GiB, too large for any machine's memory
  await log.append('')
  const line = (id: string, day: number) => JSON.stringify({ id, finishedAt: new Date(Date.UTC(2026, 0, day)).toISOString() })
  for (const [id, day] of [
    ['before', 1],
    ['mine', 11],
    ['other', 12],
  ] as const)
    await log.append(line(id, day))
  await log.append('{"id":"torn')
  const reader = { db: {} as Db, deps: { erasureLog: log } }
  const since = new Date(Date.UTC(2026, 0, 10))
  expect(await hasReceiptLine(reader, { id: 'mine', since })).toBe(true)
  expect(await hasReceiptLine(reader, { id: 'torn', since })).toBe(false)
  expect(await hasReceiptLine(reader, { id: 'none', since })).toBe(false)
})
