import { expect, it } from 'vitest'
import { names, patternOf } from '../../../src/domain/erasure/erasing.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const ADDRESS = 'kim+a@example.com'
const NAMING = [
  'kim+a@example.com',
  'Kim+A@Example.COM.',
  '<kim+a@example.com>: unknown',
  '{"email":"kim+a@example.com"}',
  'line\\nkim+a@example.com',
  'search=kim%2Ba%40example.com&page=1',
  '%3Dkim%2Ba%40example.com',
  'mailto:kim+a@example.com, thanks',
  '\\u003ckim+a@example.com\\u003e',
]
const HYPHENATED = ['invite-kim+a@example.com-2', 'kim+a@example.com-list']
const OTHERS = [
  'joakim+a@example.com',
  'x.kim+a@example.com',
  'kim+a@example.com.au',
  'kima@example.com',
  'kim+a@exampleXcom',
  "o'kim+a@example.com",
  'q=bob%2Bkim%2Ba%40example.com',
  'q=o%27kim%2Ba%40example.com',
  'o\\u0027kim+a@example.com',
]

it('finds an address as others spell it, and no longer one that it is a part of; in PostgreSQL and here alike', async () => {
  for (const [texts, isThere] of [
    [NAMING, true],
    [[...OTHERS, ...HYPHENATED], false],
  ] as const)
    for (const text of texts)
      expect([text, names(ADDRESS, text), await isFound(text, patternOf(ADDRESS))]).toEqual([text, isThere, isThere])
})

it('finds it between hyphens in keys of requests', async () => {
  const pattern = patternOf(ADDRESS, { hyphenated: true })
  for (const text of [...NAMING, ...HYPHENATED]) expect([text, await isFound(text, pattern)]).toEqual([text, true])
  for (const text of OTHERS) expect([text, await isFound(text, pattern)]).toEqual([text, false])
})

it('finds what forms spell otherwise than web addresses', () => {
  const query = new URLSearchParams({ search: "o'brien~@example.com" }).toString()
  expect(names("o'brien~@example.com", query)).toBe(true)
})

async function isFound(text: string, pattern: string): Promise<boolean> {
  const [row] = await service.db.$queryRaw<{ found: boolean }[]>`SELECT ${text}::text ~* ${pattern} AS found`
  return row!.found
}
