import type { ServiceContext } from '../context.ts'
import type { Authentication, AuthenticationKind, AuthenticationProvider } from './session-access.ts'

/** Authentication by an identity provider, with the claims of its token. */
export type ProviderAuthentication = {
  kind: 'oidc'
  providerId: string
  idpSid: string | null
  amr: string[]
  acr: string | null
  authTime: Date | null
}
export type NewAuthentication = Exclude<AuthenticationKind, 'oidc'> | ProviderAuthentication

export const authenticationKindOf = (proof: NewAuthentication): AuthenticationKind =>
  typeof proof === 'string' ? proof : proof.kind

/** Row of an authentication. */
export const toAuthenticationRow = (id: string, proof: NewAuthentication, at: Date) => ({
  id,
  at,
  ...(typeof proof === 'string' ? { kind: proof } : proof),
})

type AuthenticationRow = { kind: string; at: Date; acr: string | null; authTime: Date | null; providerId: string | null }

/**
 * Authentications of a session, without those of a removed provider, or of a kind that only a later release knows.
 *
 * Providers are read only if a session has an `oidc` authentication, which saves a query on most pages.
 */
export async function readAuthentications(
  { db, deps }: Pick<ServiceContext, 'db' | 'deps'>,
  rows: readonly AuthenticationRow[],
): Promise<Authentication[]> {
  const offered = deps.operatorProviders.map(({ id }) => ({ id, organizationId: null, secondFactor: 'ours', acrValues: [] }))
  const ids = rows.flatMap(({ providerId }) => (offered.some(({ id }) => id === providerId) ? [] : (providerId ?? [])))
  const otherProviders = ids.length > 0 ? await db.signInProvider.findMany({ where: { id: { in: ids } }, select }) : []
  const providers = [...offered, ...otherProviders]
  return rows.flatMap(({ kind, at, acr, authTime, providerId }): Authentication[] => {
    if (kind !== 'oidc') return [{ kind: kind as AuthenticationKind, at, acr }]
    const provider = providers.find(({ id }) => id === providerId)
    return provider ? [{ kind, at, acr, authTime, provider: provider as AuthenticationProvider }] : []
  })
}

const select = { id: true, organizationId: true, secondFactor: true, acrValues: true } as const
