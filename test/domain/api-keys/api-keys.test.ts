import { describe, expect, it } from 'vitest'
import { fingerprintApiKey, generateApiKey } from '../../../src/domain/api-keys/api-keys.ts'

describe.each(['live', 'test'] as const)('a generated %s key', (mode) => {
  const keys = Array.from({ length: 2_000 }, () => generateApiKey(mode))
  const secrets = keys.map((key) => key.slice(`ak_${mode}_`.length))

  it('has the prefix of its mode and 32 characters', () => {
    for (const key of keys) expect(key).toMatch(new RegExp(`^ak_${mode}_[A-Za-z0-9]{32}$`))
  })

  it('is unique', () => {
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('uses every letter and digit at every position, about equally often', () => {
    for (let place = 0; place < 32; place++) {
      const counts = Object.values(Object.groupBy(secrets, (secret) => secret[place]!)).map((group) => group!.length)
      expect(counts).toHaveLength(62)
      // 2,000 draws of 62: 32 of each on average; three times that has a chance beyond 10^-15.
      expect(Math.max(...counts)).toBeLessThan(97)
    }
  })

  it('is stored as a hash that reveals only its last four characters', () => {
    const { hash, lastFour, ...rest } = fingerprintApiKey(keys[0]!)
    expect([hash.length, lastFour, rest]).toEqual([32, keys[0]!.slice(-4), {}])
    expect(fingerprintApiKey(keys[0]!).hash).toEqual(hash)
    expect(fingerprintApiKey(keys[1]!).hash).not.toEqual(hash)
  })
})
