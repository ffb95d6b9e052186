import { expect, it } from 'vitest'
import { containsAddress, toAddressPattern } from '../../../src/domain/erasure/erasing.ts'
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

it('finds an address in any spelling, but not within a longer one, in PostgreSQL and JavaScript', async () => {
  for (const [texts, isThere] of [
    [NAMING, true],
    [[...OTHERS, ...HYPHENATED], false],
  ] as const)
    for (const text of texts)
      expect([text, containsAddress(ADDRESS, text), await isFound(text, toAddressPattern(ADDRESS))]).toEqual([
        text,
        isThere,
        isThere,
      ])
})

it('finds an address between hyphens in idempotency keys', async () => {
  const pattern = toAddressPattern(ADDRESS, { hyphenated: true })
  for (const text of [...NAMING, ...HYPHENATED]) expect([text, await isFound(text, pattern)]).toEqual([text, true])
  for (const text of OTHERS) expect([text, await isFound(text, pattern)]).toEqual([text, false])
})

it('finds an address in form encoding, which differs from URL encoding', () => {
  const query = new URLSearchParams({ search: "o'brien~@example.com" }).toString()
  expect(containsAddress("o'brien~@example.com", query)).toBe(true)
})

it('finds an international address in each of its forms, but not within a longer one', async () => {
  for (const [address, texts, isThere] of [
    [
      'jörg@xn--bcher-kva.example',
      ['<jörg@bücher.example>: unknown', 'q=j%C3%B6rg%40xn--bcher-kva.example', 'JÖRG@BÜCHER.example'],
      true,
    ],
    [
      'jörg@xn--bcher-kva.example',
      ['q=j%C3%B6rg%40b%C3%BCcher.example', '"jörg@xn--bcher-kva.example"', '“jörg@bücher.example”'],
      true,
    ],
    ['用户@xn--fsqu00a.xn--0zwm56d', ['search=用户@例子.测试', '用户@xn--fsqu00a.xn--0zwm56d'], true],
    ['sam@xn--bcher-kva.example', ['sam@bücher.example', 'Sam@xn--bcher-kva.example', '请联系sam@bücher.example。'], true],
    ['jörg@xn--bcher-kva.example', ['"j\\u00f6rg@b\\u00fccher.example"', '\\u201cjörg@bücher.example\\u201d'], true],
    ['rg@example.com', ['q=j%C3%B6rg%40example.com', '"j\\u00f6rg@example.com"'], false],
    ['sam@example.com', ['%E3%80%82sam%40example.com', '%C2%ABsam%40example.com%C2%BB'], true],
    ['rg@example.com', ['jörg@example.com', 'öрrg@example.com'], false],
    ['sam@example.com', ['ösam@example.com', 'sam@example.comö', 'sam@example.com.ö'], false],
  ] as const)
    for (const text of texts)
      expect([text, containsAddress(address, text), await isFound(text, toAddressPattern(address))]).toEqual([
        text,
        isThere,
        isThere,
      ])
})

async function isFound(text: string, pattern: string): Promise<boolean> {
  const [row] = await service.db.$queryRaw<{ found: boolean }[]>`SELECT ${text}::text ~* ${pattern} AS found`
  return row!.found
}
