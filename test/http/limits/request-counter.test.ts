import { describe, expect, it } from 'vitest'
import { createRequestCounter } from '../../../src/http/limits/request-counter.ts'

const LIMIT = 3

describe('the request counter', () => {
  it('rejects requests above the limit until a minute after the first one', () => {
    let now = 1_000_000
    const count = createRequestCounter(() => now)
    const fill = () => {
      for (let i = 0; i < LIMIT; i++) count('client', LIMIT)
    }
    fill()
    now += 20_000
    expect(() => count('client', LIMIT)).toThrow(expect.objectContaining({ kind: 'rate_limited', retryAfter: 40 }))
    now += 39_999
    expect(() => count('client', LIMIT)).toThrow(expect.objectContaining({ retryAfter: 1 }))
    now += 1
    fill()
    expect(() => count('client', LIMIT)).toThrow()
  })

  it('counts each client separately', () => {
    const count = createRequestCounter(() => 0)
    for (let i = 0; i < LIMIT; i++) count('one client', LIMIT)
    count('another client', LIMIT)
    expect(() => count('one client', LIMIT)).toThrow()
  })
})
