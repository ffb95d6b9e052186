import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AUTHENTICATION_KINDS,
  type Authentication,
  decideSessionAccess,
  type MembershipState,
  type SessionAccess,
} from '../../../src/domain/sign-in/session-access.ts'
import { scaled } from '../../support/scale.ts'

const NOW = new Date('2026-11-25T12:00:00Z')
const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS)
const HERE = 'here'

const hours = fc.constantFrom(0, 0.1, 0.25, 0.5, 1, 2, 11, 12, 24, 25, 719, 720, 800).map(ago)
const provider = fc.record({
  id: fc.constant('p'),
  organizationId: fc.constantFrom(HERE, 'elsewhere', null),
  secondFactor: fc.constantFrom('ours' as const, 'trusted' as const, 'acr' as const),
  acrValues: fc.constantFrom([], ['mfa']),
})
const proof: fc.Arbitrary<Authentication> = fc
  .record({ kind: fc.constantFrom(...AUTHENTICATION_KINDS), at: hours, provider, acr: fc.constantFrom(null, 'mfa', 'pwd') })
  .map(({ provider, acr, ...proof }) => (proof.kind === 'oidc' ? { ...proof, provider, acr } : proof))
const session = fc.record({
  createdAt: hours,
  lastSeenAt: hours,
  closedOrganizationIds: fc.constantFrom([], ['elsewhere'], [HERE]),
  proofs: fc.array(proof, { maxLength: 3 }),
})
const membership: fc.Arbitrary<MembershipState> = fc.record({
  organizationId: fc.constant(HERE),
  status: fc.constantFrom('active' as const, 'active' as const, 'inactive' as const),
  activeSince: fc.option(hours),
  signInException: fc.constantFrom(null, 'guest', 'break_glass', 'other'),
})
const rules = fc.option(
  fc.record({
    ssoEnforcedAt: fc.option(hours),
    secondFactorFrom: fc.option(fc.oneof(hours, fc.constant(ago(-1)))),
    trustedDeviceDays: fc.constantFrom(0, 1, 30),
    idleMinutes: fc.constantFrom(15, 720),
    sessionHours: fc.constantFrom(1, 720),
    ssoSessionHours: fc.constantFrom(1, 12),
    networks: fc.constantFrom([], ['192.0.2.0/24'], ['2001:db8::/32', '198.51.100.7/32']),
  }),
  { freq: 9 },
)
const address = fc.constantFrom('192.0.2.9', '::ffff:192.0.2.9', '198.51.100.7', '2001:db8::1', '203.0.113.1', 'none')

type Given = [Parameters<typeof decideSessionAccess>[0], MembershipState, Parameters<typeof decideSessionAccess>[2], string]

const isWordForTwo = ({ provider, acr }: Authentication) =>
  provider!.organizationId !== 'elsewhere' &&
  (provider!.secondFactor === 'trusted' || (provider!.secondFactor === 'acr' && provider!.acrValues.length > 0 && acr === 'mfa'))

/** True if the address is in one of the generated networks. */
const isFrom = (address: string, networks: readonly string[]): boolean =>
  networks.length === 0 ||
  (networks.length === 1 ? address.endsWith('192.0.2.9') : address === '2001:db8::1' || address === '198.51.100.7')

const hasWordSince = (words: Authentication[], hours: number) =>
  words.some(({ at }) => NOW.getTime() - at.getTime() < hours * HOUR_MS)

/** Missing step of a member who may sign in without the provider. Without a password or passkey they use the provider. */
function missingOfOwn(kinds: Set<string>): 'none' | 'factor' | 'sso' {
  if (kinds.has('passkey')) return 'none'
  if (!kinds.has('password')) return 'sso'
  return kinds.has('totp') || kinds.has('recovery') ? 'none' : 'factor'
}

/** Expected session access: the first missing requirement, in the order of the table. */
function model(...[session, member, rules, address]: Given): SessionAccess {
  const proofs: Authentication[] = [...session.proofs]
  const hoursSince = (at: Date) => (NOW.getTime() - at.getTime()) / HOUR_MS
  const kinds = new Set(proofs.map(({ kind }) => kind))
  const words = proofs.filter(({ provider }) => provider?.organizationId === HERE)
  const own = kinds.has('password') || kinds.has('passkey') || proofs.some(({ provider }) => provider?.organizationId === null)
  const factor = (one: Authentication) =>
    ['totp', 'passkey', 'recovery'].includes(one.kind) ||
    (one.kind === 'device' && hoursSince(one.at) < rules!.trustedDeviceDays * 24) ||
    (one.kind === 'oidc' && isWordForTwo(one))
  const sso = rules?.ssoEnforcedAt != null
  const signInException = ['guest', 'break_glass'].includes(member.signInException!) ? missingOfOwn(kinds) : 'sso'
  const isAsked = sso && !hasWordSince(words, rules.ssoSessionHours)
  const missing: [SessionAccess, boolean | null][] = [
    ['network', rules && !isFrom(address, rules.networks)],
    ['sso', isAsked && signInException === 'sso'],
    ['factor', isAsked && signInException === 'factor'],
    ['proof', !sso && !own && words.length === 0],
    ['factor', rules && rules.secondFactorFrom !== null && hoursSince(rules.secondFactorFrom) >= 0 && !proofs.some(factor)],
    ['idle', rules && hoursSince(session.lastSeenAt) * 60 >= rules.idleMinutes],
    ['age', rules && hoursSince(session.createdAt) >= rules.sessionHours],
    ['signIn', member.status === 'inactive' || session.closedOrganizationIds.includes(HERE)],
    ['signIn', member.activeSince !== null && member.activeSince >= session.createdAt],
  ]
  return missing.find(([, isMissing]) => isMissing)?.[0] ?? 'open'
}

describe('access to an organization', () => {
  it('follows the table of its rules for any authentications of the session', () => {
    const seen = new Set<SessionAccess>()
    fc.assert(
      fc.property(session, membership, rules, address, (...given) => {
        const opening = decideSessionAccess(given[0], given[1], given[2], { at: NOW, address: given[3] })
        seen.add(opening)
        expect(opening).toBe(model(...given))
      }),
      { numRuns: scaled(400, 4_000) },
    )
    expect([...seen].sort()).toEqual(['age', 'factor', 'idle', 'network', 'open', 'proof', 'signIn', 'sso'])
  })

  it("is open without rules to any session that hasn't ended", () => {
    const any = {
      createdAt: ago(700),
      lastSeenAt: ago(11),
      closedOrganizationIds: [],
      proofs: [{ kind: 'password', at: ago(700) }] satisfies Authentication[],
    }
    const member = { organizationId: HERE, status: 'active', activeSince: null } as const
    expect(decideSessionAccess(any, member, null, { at: NOW, address: 'none' })).toBe('open')
  })
})
