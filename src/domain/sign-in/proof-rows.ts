import type { ServiceContext } from '../context.ts'
import type { Proof, ProofKind, ProofProvider } from './openings.ts'

/** An identity provider's word, with what it has said of it. */
export type ProviderWord = {
  kind: 'oidc'
  providerId: string
  idpSid: string | null
  amr: string[]
  acr: string | null
  authTime: Date | null
}
export type GivenProof = Exclude<ProofKind, 'oidc'> | ProviderWord

export const kindOf = (proof: GivenProof): ProofKind => (typeof proof === 'string' ? proof : proof.kind)

/** The row of one. */
export const rowOfProof = (id: string, proof: GivenProof, at: Date) => ({
  id,
  at,
  ...(typeof proof === 'string' ? { kind: proof } : proof),
})

type Row = { kind: string; at: Date; acr: string | null; authTime: Date | null; providerId: string | null }

/**
 * Authentications of a session. Those of a removed provider, or of a kind that only a later release knows, don't count.
 *
 * Providers are read only if a session has an `oidc` authentication, so that other pages need no further query.
 */
export async function readProofs({ db, deps }: Pick<ServiceContext, 'db' | 'deps'>, rows: readonly Row[]): Promise<Proof[]> {
  const offered = deps.operatorProviders.map(({ id }) => ({ id, organizationId: null, secondFactor: 'ours', acrValues: [] }))
  const ids = rows.flatMap(({ providerId }) => (offered.some(({ id }) => id === providerId) ? [] : (providerId ?? [])))
  const rest = ids.length > 0 ? await db.signInProvider.findMany({ where: { id: { in: ids } }, select }) : []
  const providers = [...offered, ...rest]
  return rows.flatMap(({ kind, at, acr, authTime, providerId }): Proof[] => {
    if (kind !== 'oidc') return [{ kind: kind as ProofKind, at, acr }]
    const provider = providers.find(({ id }) => id === providerId)
    return provider ? [{ kind, at, acr, authTime, provider: provider as ProofProvider }] : []
  })
}

const select = { id: true, organizationId: true, secondFactor: true, acrValues: true } as const
