import { describe, expect, it } from 'vitest'
import { alignPrompt } from '../../../../src/domain/submissions/taking/align-prompt.ts'

const TIMING = { zero: 60, from: 0, elapsed: 10_000, headphones: 'unheard' } as const

describe('alignPrompt', () => {
  it('begins at the start event if the segment is no longer than the time since', () => {
    expect(alignPrompt({ 0: TIMING }, [10_030])).toEqual([{ from: 0, to: 10_030, promptAt: -60, promptFrom: 0, isExact: true }])
  })

  it('begins earlier if the segment is longer, because the browser reported the start too late', () => {
    expect(alignPrompt({ 0: TIMING }, [10_240])).toMatchObject([{ promptAt: -260, isExact: true }])
  })

  it('trusts the start event if the stop was never reported', () => {
    expect(alignPrompt({ 0: { ...TIMING, elapsed: null } }, [10_240])).toMatchObject([{ promptAt: -60, isExact: false }])
  })

  it('aligns a continued segment with the later part of the prompt', () => {
    const continued = { ...TIMING, zero: -3_900, from: 4_000, elapsed: 8_000 }
    expect(alignPrompt({ 0: TIMING, 1: continued }, [10_000, 18_000])).toEqual([
      { from: 0, to: 10_000, promptAt: -60, promptFrom: 0, isExact: true },
      { from: 10_000, to: 18_000, promptAt: 3_900, promptFrom: 4_000, isExact: true },
    ])
  })

  it('is inexact if the segment was cut', () => {
    expect(alignPrompt({ 0: TIMING }, [9_000])).toMatchObject([{ promptAt: -60, isExact: false }])
  })

  it('leaves out segments that are empty or were not reported', () => {
    expect(alignPrompt({ 1: TIMING }, [10_000, 10_000])).toEqual([])
    expect(alignPrompt({ 0: TIMING }, [])).toEqual([])
  })
})
