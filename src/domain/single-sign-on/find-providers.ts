import type { ServiceContext } from '../context.ts'
import type { OperatorProvider } from '../ports/identity-provider.ts'
import { findDomainOwner } from '../sign-in/domain-owners.ts'
import type { SignedIn } from '../sign-in/sessions.ts'

/** Provider on the sign-in page. @property id used in URLs. @property host host of its sign-in page, which people recognize. */
export type OfferedProvider = { id: string; name: string; host: string }

const select = { id: true, name: true, issuer: true } as const
const toOfferedProvider = ({ id, name, issuer }: { id: string; name: string; issuer: string }): OfferedProvider => ({
  id,
  name,
  host: URL.parse(issuer)?.host ?? issuer,
})

/** Tested providers of an organization; untested ones are not offered. */
export const findOfferedProviders = async ({ db }: ServiceContext, organizationId: string): Promise<OfferedProvider[]> => {
  const where = { organizationId, testedAt: { not: null } }
  return (await db.signInProvider.findMany({ where, select, orderBy: { id: 'asc' } })).map(toOfferedProvider)
}

/** Providers of the organization that owns the address's domain. Doesn't reveal whether an account exists. */
export async function findProvidersForAddress(service: ServiceContext, email: string): Promise<OfferedProvider[]> {
  const speaker = await findDomainOwner(service, email)
  return speaker ? findOfferedProviders(service, speaker.organizationId) : []
}

/** Providers that the operator offers to all organizations. */
export const listOperatorProviders = ({ deps }: Pick<ServiceContext, 'deps'>): OfferedProvider[] =>
  deps.operatorProviders.map(toOfferedOperatorProvider)
const toOfferedOperatorProvider = ({ address, name, issuer }: OperatorProvider): OfferedProvider =>
  toOfferedProvider({ id: address, name, issuer })

/** Providers of a session that report `auth_time`, so that a person can authenticate again there. */
export async function findReauthenticationProviders(
  { db, deps }: ServiceContext,
  { session }: Pick<SignedIn, 'session'>,
): Promise<OfferedProvider[]> {
  const words = session.proofs.filter(({ provider }) => provider)
  const saysWhen = ({ id }: OperatorProvider) => words.some(({ provider, authTime }) => provider!.id === id && authTime)
  const ids = words.map(({ provider }) => provider!.id)
  const where = { id: { in: ids }, sendsAuthTime: true }
  const providersOfOrganizations =
    ids.length > 0 ? await db.signInProvider.findMany({ where, select, orderBy: { id: 'asc' } }) : []
  return [
    ...deps.operatorProviders.filter(saysWhen).map(toOfferedOperatorProvider),
    ...providersOfOrganizations.map(toOfferedProvider),
  ]
}
