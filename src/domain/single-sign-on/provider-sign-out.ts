import type { ServiceContext } from '../context.ts'
import type { SignedIn } from '../sign-in/sessions.ts'
import { type FoundProvider, toIdpClient } from './providers.ts'

/** Sign-out address of the provider, if its owners want it shown; null: none. */
export async function findProviderSignOutUrl(service: ServiceContext, provider: FoundProvider): Promise<string | null> {
  const client = provider.logsOutAtProvider ? toIdpClient(service, provider) : null
  const answer = client && (await service.deps.identityProviders.endSessionUrl(client))
  return answer && 'url' in answer ? answer.url : null
}

/** Provider of the session, if its owners want people to sign out there as well; null: none. */
export async function findProviderToSignOutOf(
  { db }: ServiceContext,
  { session }: Pick<SignedIn, 'session'>,
): Promise<string | null> {
  const ids = session.proofs.flatMap(({ provider }) => provider?.id ?? [])
  if (ids.length === 0) return null
  const found = await db.signInProvider.findFirst({ where: { id: { in: ids }, logsOutAtProvider: true }, select: { id: true } })
  return found?.id ?? null
}
