import { describe, expect, it } from 'vitest'
import { codeOfStep, createTotpSecret, findStep, otpauthUrl, stepAt, toBase32 } from '../../../src/domain/sign-in/totp.ts'

const secret = Buffer.from('12345678901234567890')

/** RFC 6238, appendix B, for SHA-1: seconds since 1970, and the last six of the eight digits. */
const VECTORS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const
/** RFC 4226, appendix D: codes of the counters from 0. */
const COUNTS = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']

describe('a TOTP code', () => {
  it('matches RFC 6238 and RFC 4226', () => {
    for (const [seconds, code] of VECTORS) expect(codeOfStep(secret, stepAt(new Date(seconds * 1000)))).toBe(code)
    expect(COUNTS.map((_, count) => codeOfStep(secret, count))).toEqual(COUNTS)
  })

  it('is accepted in its own time step, the one before, and the one after, and in no other', () => {
    const now = new Date('2026-11-25T12:00:10Z')
    const found = [-2, -1, 0, 1, 2].map((by) => findStep(secret, codeOfStep(secret, stepAt(now) + by), now)?.step)
    expect(found).toEqual([undefined, stepAt(now) - 1, stepAt(now), stepAt(now) + 1, undefined])
    // A used step is stored for as long as its code would be accepted.
    expect(findStep(secret, codeOfStep(secret, stepAt(now)), now)?.endsAt).toEqual(new Date('2026-11-25T12:01:00Z'))
  })

  it('is accepted with the spaces that apps show, and rejected in any other form', () => {
    const now = new Date(59_000)
    expect(findStep(secret, ' 287 082', now)?.step).toBe(1)
    for (const text of ['', '28708', '2870820', '287083', 'abcdef', '２８７０８２', '\0'])
      expect(findStep(secret, text, now)).toBe(null)
  })
})

describe('a TOTP secret', () => {
  it('is encoded in base32 as in RFC 4648', () => {
    expect(['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text)))).toEqual([
      '',
      'MY',
      'MZXQ',
      'MZXW6',
      'MZXW6YQ',
      'MZXW6YTB',
      'MZXW6YTBOI',
    ])
  })

  it('has 160 random bits, and reaches the app in an otpauth URL', () => {
    expect(createTotpSecret()).toHaveLength(20)
    expect(otpauthUrl(secret, { issuer: 'Acme & Co', account: 'ada@example.com' })).toBe(
      'otpauth://totp/Acme%20%26%20Co:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20%26%20Co&algorithm=SHA1&digits=6&period=30',
    )
  })
})
