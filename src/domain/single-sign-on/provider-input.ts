import type { Context } from '../context.ts'
import type { Violation } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import { CLIENT_AUTHS, type ClientAuth } from '../ports/identity-provider.ts'
import { checkChoice, checkName, checkSize, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { findTargetFault } from '../webhooks/targets.ts'
import { claimOfSharedIssuer } from './shared-issuers.ts'

export const SECOND_FACTORS = ['ours', 'trusted', 'acr'] as const

/** Input of an identity provider. @property secretExpiresAt null: unknown. */
export type ProviderInput = {
  name: string
  issuer: string
  clientId: string
  clientAuth: ClientAuth
  clientSecret: string
  secretExpiresAt: Date | null
  requiredClaims: Readonly<Record<string, string>>
  provisionsMembers: boolean
  defaultRoles: readonly string[]
  secondFactor: (typeof SECOND_FACTORS)[number]
  acrValues: readonly string[]
  logsOutAtProvider: boolean
}

const MAX_SECRET_LENGTH = 2_000
const MAX_CLAIMS = 10
const MAX_ISSUER_LENGTH = 500

/** Issuer as it is compared with the provider's own statement: a trailing slash matters, surrounding white space does not. */
export const normalizeIssuer = (issuer: string): string => issuer.trim().replace(/\/\.well-known\/openid-configuration$/, '')

/** @throws DomainError invalid with all issues. */
export function findProviderIssues({ deps }: Context, input: ProviderInput, { isNew }: { isNew: boolean }): void {
  const isAsked = isNew || input.clientSecret !== ''
  throwIfIssues(
    findIssues([
      ['name', checkName(input.name, MAX_NAME_LENGTH)],
      ['issuer', checkIssuer(deps.ssoAllowance, normalizeIssuer(input.issuer))],
      ['clientId', checkName(input.clientId, MAX_ISSUER_LENGTH)],
      ['clientSecret', isAsked ? checkName(input.clientSecret, MAX_SECRET_LENGTH) : undefined],
      ['clientAuth', checkChoice(input.clientAuth, CLIENT_AUTHS)],
      ['secretExpiresAt', isDate(input.secretExpiresAt) ? undefined : { rule: 'account', problem: 'date' }],
      ['secondFactor', checkChoice(input.secondFactor, SECOND_FACTORS)],
      ['acrValues', input.secondFactor === 'acr' && input.acrValues.length === 0 ? { rule: 'required' } : undefined],
      ['requiredClaims', checkSize('maxItems', Object.keys(input.requiredClaims).length, MAX_CLAIMS) ?? checkShared(input)],
      ['defaultRoles', input.provisionsMembers && input.defaultRoles.length === 0 ? { rule: 'required' } : undefined],
    ]),
  )
}

const isDate = (value: Date | null): boolean => value === null || !Number.isNaN(value.getTime())

/** A provider that is open to everybody needs a claim that identifies the organization's people. */
function checkShared({ issuer, requiredClaims }: ProviderInput): Violation | undefined {
  const claim = claimOfSharedIssuer(normalizeIssuer(issuer))
  return claim && !requiredClaims[claim] ? { rule: 'account', problem: 'sharedIssuer' } : undefined
}

function checkIssuer(allowance: Context['deps']['ssoAllowance'], issuer: string): Violation | undefined {
  const missing = checkName(issuer, MAX_ISSUER_LENGTH)
  if (missing) return missing
  const problem = findTargetFault(allowance, issuer)
  return problem && { rule: 'target', problem }
}
