import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { measurePlaying } from '../../../../../src/interfaces/candidate/browser/answering/measure-playing.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

describe('measurePlaying', () => {
  it('finds the time 0 by the median, whenever playing begins and however late some looks are', () => {
    const media = { currentTime: 0, paused: false }
    const done = vi.fn()
    const began = performance.now()
    const measured = measurePlaying(media, 0, done)
    vi.advanceTimersByTime(550) // the sound output needs time to start
    expect(measured.median()).toBeNull()
    for (let look = 1; look <= 60; look++) {
      vi.advanceTimersByTime(49)
      const lag = look % 7 === 0 ? 0.04 : 0 // the browser has not updated its time yet
      media.currentTime = look * 0.05 - lag
      vi.advanceTimersByTime(1)
    }
    expect(measured.median()! - began).toBeCloseTo(550, 0)
    expect(done).toHaveBeenCalledTimes(1)
  })

  it('ignores the time before a continued prompt plays', () => {
    const media = { currentTime: 4, paused: false }
    const measured = measurePlaying(media, 4, () => {})
    vi.advanceTimersByTime(100)
    expect(measured.median()).toBeNull()
    const now = performance.now()
    media.currentTime = 4.05
    vi.advanceTimersByTime(50)
    expect(measured.median()! - now).toBeCloseTo(-4_000, 0)
    measured.stop()
  })
})
