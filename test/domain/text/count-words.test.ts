import { expect, it } from 'vitest'
import { countWords } from '../../../src/domain/text/count-words.ts'

it.each([
  ['', 0],
  ['  \n', 0],
  ['Clear order.', 2],
  ['Donaudampfschiff fährt,\nspäter', 3],
])('counts the words of “%s”: %i', (text, count) => expect(countWords(text)).toBe(count))

it('separates words written without spaces', () => expect(countWords('我先问他们怎么处理电话')).toBeGreaterThan(3))
