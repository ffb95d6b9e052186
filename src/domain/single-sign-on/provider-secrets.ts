import type { ServiceContext } from '../context.ts'
import { open, seal } from '../secrets/seal.ts'

// A client's secret has to be shown to its provider each time somebody signs in: it is kept sealed, for this provider alone.

const purposeOf = (providerId: string): string => `sign-in provider ${providerId}`

export const sealClientSecret = (
  { deps }: Pick<ServiceContext, 'deps'>,
  providerId: string,
  secret: string,
): Uint8Array<ArrayBuffer> => seal(deps.secretKeys, purposeOf(providerId), secret)

/** Null when none of the secret keys opens it any more. */
export const openClientSecret = (
  { deps }: Pick<ServiceContext, 'deps'>,
  { id, clientSecret }: { id: string; clientSecret: Uint8Array },
): string | null => open(deps.secretKeys, purposeOf(id), clientSecret)

/** Seals anew, under the newest secret key, what was sealed under an older one, so that this one can be taken out of use. */
export async function resealClientSecrets(service: ServiceContext): Promise<void> {
  const [newest, ...older] = service.deps.secretKeys
  if (older.length === 0) return
  for (const provider of await service.db.signInProvider.findMany({ select: { id: true, clientSecret: true } })) {
    if (open([newest!], purposeOf(provider.id), provider.clientSecret) !== null) continue
    const secret = openClientSecret(service, provider)
    // Unless it was changed meanwhile.
    const where = { id: provider.id, clientSecret: new Uint8Array(provider.clientSecret) }
    if (secret !== null)
      await service.db.signInProvider.updateMany({
        where,
        data: { clientSecret: sealClientSecret(service, provider.id, secret) },
      })
  }
}
