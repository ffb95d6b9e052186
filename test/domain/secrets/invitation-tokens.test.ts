import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readInvitation, signInvitation } from '../../../src/domain/secrets/invitation-tokens.ts'

const keys = fc.uniqueArray(fc.string({ minLength: 32, maxLength: 64 }), { minLength: 1, maxLength: 4 })
const refs = fc.record({ inviteId: fc.uuid(), linkVersion: fc.integer({ min: 1, max: 65_535 }) })

describe("the secret part of a candidate's link", () => {
  it('is read back as it was signed, by the key that signed it and by any list that has the key', () => {
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

  it('is the same each time, and another for each invite and each version', () => {
    fc.assert(
      fc.property(keys, refs, refs, (keys, one, other) => {
        fc.pre(one.inviteId !== other.inviteId || one.linkVersion !== other.linkVersion)
        expect(signInvitation(keys, one)).toBe(signInvitation(keys, { ...one }))
        expect(signInvitation(keys, one)).not.toBe(signInvitation(keys, other))
      }),
    )
  })

  it('needs no escaping in an address', () => {
    fc.assert(
      fc.property(keys, refs, (keys, ref) => {
        expect(signInvitation(keys, ref)).toMatch(/^[A-Za-z0-9_-]{46}$/)
      }),
    )
  })

  it('is worth nothing in any other form: one text only stands for an invitation', () => {
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

  it('is nothing that could be guessed: whatever has not been signed is refused', () => {
    fc.assert(
      fc.property(keys, fc.uint8Array({ minLength: 34, maxLength: 34 }), (keys, bytes) => {
        expect(readInvitation(keys, Buffer.from(bytes).toString('base64url'))).toBeNull()
      }),
    )
  })
})
