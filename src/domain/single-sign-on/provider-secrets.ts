import type { SignInProvider } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'

// A client secret is sent to its provider at each sign-in, so it is stored encrypted, for this provider alone.

const purposeOf = (providerId: string): string => `sign-in provider ${providerId}`

export const encryptClientSecret = (
  { deps }: Pick<ServiceContext, 'deps'>,
  providerId: string,
  secret: string,
): Uint8Array<ArrayBuffer> => encrypt(deps.secretKeys, purposeOf(providerId), secret)

/** @returns null if no secret key decrypts it. */
export const decryptClientSecret = (
  { deps }: Pick<ServiceContext, 'deps'>,
  { id, encryptedClientSecret }: { id: string; encryptedClientSecret: Uint8Array },
): string | null => decrypt(deps.secretKeys, purposeOf(id), encryptedClientSecret)

/** Connection to a provider. @property clientSecret decrypted. */
export type ProviderConnection = {
  issuer: string
  clientId: string
  clientAuth: string
  clientSecret: string | null
  secretExpiresAt: Date | null
}

/** Conditions on a provider's tokens. */
export type TokenRequirements = Pick<SignInProvider, 'requiredClaims' | 'secondFactor' | 'acrValues'>

const purposeOfDraft = (providerId: string): string => `draft of sign-in provider ${providerId}`

/** Encrypts settings that wait for a trial sign-in. */
export const encryptDraft = (
  { deps }: Pick<ServiceContext, 'deps'>,
  providerId: string,
  draft: ProviderConnection & TokenRequirements,
): Uint8Array<ArrayBuffer> => encrypt(deps.secretKeys, purposeOfDraft(providerId), JSON.stringify(draft))

/** Applies the provider's draft. Returns the provider unchanged if there is none, or if it can't be decrypted. */
export function withDraft<P extends SignInProvider>(service: Pick<ServiceContext, 'deps'>, provider: P): P {
  const text = provider.encryptedDraft && decrypt(service.deps.secretKeys, purposeOfDraft(provider.id), provider.encryptedDraft)
  if (!text) return provider
  const { clientSecret, secretExpiresAt, ...draft } = JSON.parse(text) as ProviderConnection &
    TokenRequirements & { secretExpiresAt: string | null }
  return {
    ...provider,
    ...draft,
    encryptedClientSecret: encryptClientSecret(service, provider.id, clientSecret ?? ''),
    secretExpiresAt: secretExpiresAt === null ? null : new Date(secretExpiresAt),
  }
}

/** Encrypts secrets again under the newest key, so that older keys can be retired. */
export async function reencryptClientSecrets(service: ServiceContext): Promise<void> {
  const [newest, ...older] = service.deps.secretKeys
  if (older.length === 0) return
  for (const { id, ...sealed } of await service.db.signInProvider.findMany({
    select: { id: true, encryptedClientSecret: true, encryptedDraft: true },
  }))
    for (const [column, purpose] of [
      ['encryptedClientSecret', purposeOf(id)],
      ['encryptedDraft', purposeOfDraft(id)],
    ] as const) {
      const encrypted = sealed[column]
      if (encrypted === null || decrypt([newest!], purpose, encrypted) !== null) continue
      const text = decrypt(older, purpose, encrypted)
      // Unless it was changed meanwhile.
      const where = { id, [column]: new Uint8Array(encrypted) }
      if (text !== null)
        await service.db.signInProvider.updateMany({ where, data: { [column]: encrypt([newest!], purpose, text) } })
    }
}
