import { describe, expect, it } from 'vitest'
import { cutText, formatLength, isTooLong } from '../../../../../src/interfaces/candidate/browser/answering/text-length.ts'
import { t } from '../../../../support/browser-texts.ts'

describe('the length of a text', () => {
  it('is shown with the limit', () => {
    expect(formatLength(t, '')).toBe('0 of 20,000 characters.')
    expect(formatLength(t, '🙂 x')).toBe('3 of 20,000 characters.')
    expect(formatLength(t, 'x'.repeat(20_000))).toBe('20,000 of 20,000 characters.')
    expect(formatLength(t, 'x'.repeat(20_345))).toBe(
      '20,345 of 20,000 characters: too long. Only the first 20,000 characters of your answer are saved.',
    )
  })

  it('counts characters as the service does, and cuts never within one', () => {
    const longest = '🙂'.repeat(20_000)
    expect([isTooLong(longest), cutText(longest) === longest]).toEqual([false, true])
    expect([isTooLong(`${longest}🙂`), cutText(`${longest}🙂`) === longest]).toEqual([true, true])
  })
})
