import { describe, expect, it } from 'vitest'
import { isRecentlyAuthenticatedFor, RECENT_AUTHENTICATION_MS } from '../../../src/domain/sign-in/recent-authentication.ts'
import {
  AUTHENTICATION_KINDS,
  type Authentication,
  type AuthenticationProvider,
} from '../../../src/domain/sign-in/session-access.ts'

const NOW = new Date('2026-11-26T12:00:00Z')
const ago = (ms: number) => new Date(NOW.getTime() - ms)
const JUST = RECENT_AUTHENTICATION_MS - 1
const HERE = 'here'

const isFresh = (proofs: Authentication[], { hasFactor = false } = {}, organizationId: string | null = HERE) =>
  isRecentlyAuthenticatedFor({ proofs }, { at: NOW, hasFactor, organizationId })
const providerOf = (organizationId: string | null): AuthenticationProvider => ({
  id: 'p',
  organizationId,
  secondFactor: 'trusted',
  acrValues: [],
})

describe('a recent authentication', () => {
  it.each([
    ['password', true, false],
    ['totp', true, true],
    ['passkey', true, true],
    ['recovery', true, true],
    ['device', false, false],
    ['oidc', false, false],
  ] as const)(
    'counts for a quarter of an hour, and of people with a second factor only the second factor counts: %s',
    (kind, alone, beside) => {
      expect(AUTHENTICATION_KINDS).toContain(kind)
      expect([isFresh([{ kind, at: ago(JUST) }]), isFresh([{ kind, at: ago(JUST) }], { hasFactor: true })]).toEqual([
        alone,
        beside,
      ])
      expect([
        isFresh([{ kind, at: ago(RECENT_AUTHENTICATION_MS) }]),
        isFresh([{ kind, at: ago(RECENT_AUTHENTICATION_MS) }], { hasFactor: true }),
      ]).toEqual([false, false])
    },
  )

  it('counts if any authentication of the session does', () => {
    expect(
      isFresh(
        [
          { kind: 'password', at: ago(JUST) },
          { kind: 'device', at: ago(JUST) },
        ],
        { hasFactor: true },
      ),
    ).toBe(false)
    expect(
      isFresh(
        [
          { kind: 'password', at: ago(RECENT_AUTHENTICATION_MS) },
          { kind: 'totp', at: ago(JUST) },
        ],
        { hasFactor: true },
      ),
    ).toBe(true)
  })
})

describe('a sign-in through an identity provider', () => {
  const word = (organizationId: string | null, authTime: Date | null): Authentication => ({
    kind: 'oidc',
    at: ago(0),
    provider: providerOf(organizationId),
    authTime,
  })

  it('counts in its own organization, from the time the person signed in there', () => {
    expect(isFresh([word(HERE, ago(JUST))], { hasFactor: true })).toBe(true)
    expect(isFresh([word(HERE, ago(RECENT_AUTHENTICATION_MS))])).toBe(false)
    expect(isFresh([word(HERE, null)])).toBe(false)
  })

  it("doesn't count in another organization or for the account, unless the provider is for everybody", () => {
    expect(isFresh([word('elsewhere', ago(JUST))])).toBe(false)
    expect(isFresh([word(HERE, ago(JUST))], {}, null)).toBe(false)
    expect([isFresh([word(null, ago(JUST))]), isFresh([word(null, ago(JUST))], {}, null)]).toEqual([true, true])
  })
})
