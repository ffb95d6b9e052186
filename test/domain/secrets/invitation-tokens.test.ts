import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readInvitation, signInvitation } from '../../../src/domain/secrets/invitation-tokens.ts'

const keys = fc.uniqueArray(fc.string({ minLength: 32, maxLength: 64 }), { minLength: 1, maxLength: 4 })
const refs = fc.record({ inviteId: fc.uuid(), linkVersion: fc.integer({ min: 1, max: 65_535 }) })

describe("the secret part of a candidate's link", () => {
  it('reads back as signed, by any list of keys that includes the signing key', () => {
    fc.assert(
      fc.property(keys, refs, (keys, ref) => {
        for (const key of keys) expect(readInvitation(keys, signInvitation([key], ref))).toEqual(ref)
      }),
    )
  })

  it('is signed by the newest key', () => {
    fc.assert(
      fc.property(keys, refs, (keys, ref) => {
        const token = signInvitation(keys, ref)
        expect(token).toBe(signInvitation([keys[0]!], ref))
        expect(readInvitation(keys.slice(1), token)).toBeNull()
      }),
    )
  })

  it('is the same each time, and differs for each invite and each version', () => {
    fc.assert(
      fc.property(keys, refs, refs, (keys, one, other) => {
        fc.pre(one.inviteId !== other.inviteId || one.linkVersion !== other.linkVersion)
        expect(signInvitation(keys, one)).toBe(signInvitation(keys, { ...one }))
        expect(signInvitation(keys, one)).not.toBe(signInvitation(keys, other))
      }),
    )
  })

  it('needs no escaping in a URL', () => {
    fc.assert(
      fc.property(keys, refs, (keys, ref) => {
        expect(signInvitation(keys, ref)).toMatch(/^[A-Za-z0-9_-]{46}$/)
      }),
    )
  })

  it('is rejected if altered in any character or in length', () => {
    fc.assert(
      fc.property(keys, refs, fc.nat(45), fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), (keys, ref, at, change) => {
        const token = signInvitation(keys, ref)
        for (const altered of [token.slice(0, at) + change + token.slice(at + 1), token.slice(0, at), token + change, change]) {
          if (altered !== token) expect(readInvitation(keys, altered)).toBeNull()
        }
      }),
      { numRuns: 500 },
    )
  })

  it("can't be guessed: unsigned random bytes are rejected", () => {
    fc.assert(
      fc.property(keys, fc.uint8Array({ minLength: 34, maxLength: 34 }), (keys, bytes) => {
        expect(readInvitation(keys, Buffer.from(bytes).toString('base64url'))).toBeNull()
      }),
    )
  })
})
