import { expect, it } from 'vitest'
import { names, patternOf } from '../../../src/domain/erasure/erasing.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const NAMING = [
  'kim+a@example.com',
  'Kim+A@Example.COM.',
  '<kim+a@example.com>: unknown',
  '{"email":"kim+a@example.com"}',
  'line\\nkim+a@example.com',
  'search=kim%2Ba%40example.com&page=1',
  '%3Dkim%2Ba%40example.com',
  'mailto:kim+a@example.com, thanks',
  'invite-kim+a@example.com-2',
]
const OTHERS = ['joakim+a@example.com', 'x.kim+a@example.com', 'kim+a@example.com.au', 'kima@example.com', 'kim+a@exampleXcom']

it('finds an address as others spell it, and no longer one that it is a part of; in PostgreSQL and here alike', async () => {
  for (const [texts, isThere] of [
    [NAMING, true],
    [OTHERS, false],
  ] as const)
    for (const text of texts) {
      const [row] = await service.db.$queryRaw<
        { found: boolean }[]
      >`SELECT ${text}::text ~* ${patternOf('kim+a@example.com')} AS found`
      expect([text, names('kim+a@example.com', text), row!.found]).toEqual([text, isThere, isThere])
    }
})
