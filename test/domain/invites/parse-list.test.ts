import { expect, it } from 'vitest'
import { parseList } from '../../../src/domain/invites/batches/parse-list.ts'
import { MAX_BATCH_BYTES } from '../../../src/domain/limits.ts'

it('lets others have their turns while the longest list is read, and reads it whole', async () => {
  const line = (i: number) => `candidate${i}@example.com,Zoë 字 ${i},"${'Dear Zoë, 🙂 "" please\r\n'.repeat(13)}"\n`
  const rows = Array.from({ length: 9_000 }, (_, i) => line(i))
  const list = `email,name,message\n${rows.join('')}`
  expect(Buffer.byteLength(list)).toBeGreaterThan(MAX_BATCH_BYTES * 0.8)
  let turns = 0
  let isOver = false
  const takeTurn = () => {
    turns += 1
    if (!isOver) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  const parsed = await parseList(list)
  isOver = true
  expect(turns).toBeGreaterThan(100)
  expect(parsed.rows).toHaveLength(9_000)
  expect(new Set(parsed.rows.map(({ message }) => message)).size).toBe(1)
  expect(parsed.rows.at(-1)).toMatchObject({ email: 'candidate8999@example.com', name: 'Zoë 字 8999' })
  expect(parsed.rows[0]!.message).toContain('Dear Zoë, 🙂 " please\r\n')
})

it.each([
  ['nothing', '', 'empty'],
  ['a header alone', 'email,name\n', 'empty'],
  ['no address', 'Sam,Lee\nsam@example.com,Sam', 'noAddresses'],
  ['an open quote', `email\n"${'x'.repeat(100_000)}`, 'unreadable'],
  ['a row too many', 'sam@example.com\n'.repeat(10_001), 'tooManyRows'],
  ['what never ends', 'sam@example.com\n'.repeat(250_000), 'tooManyRows'],
  ['too much', 'x'.repeat(MAX_BATCH_BYTES + 1), 'tooLarge'],
])('refuses %s', async (_what, list, problem) => {
  await expect(parseList(list)).rejects.toMatchObject({ kind: 'invalid', issues: [{ field: 'list', problem }] })
})

it('lets others have their turns hundreds of times while it reads 4 MB that have hardly anything but quotes', async () => {
  let turns = 0
  let isOver = false
  const takeTurn = () => {
    turns += 1
    if (!isOver) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  await expect(parseList(`email\n${'""\n'.repeat((MAX_BATCH_BYTES - 100) / 3)}`)).rejects.toMatchObject({ kind: 'invalid' })
  isOver = true
  expect(turns).toBeGreaterThan(400)
})
