import type { ServiceContext } from '../context.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'

// The secret of an authenticator app is needed to check each code, so it is encrypted, not hashed.

const purposeOf = (factorId: string): string => `totp ${factorId}`

export const encryptTotpSecret = ({ deps }: ServiceContext, factorId: string, secret: Buffer): Uint8Array<ArrayBuffer> =>
  encrypt(deps.secretKeys, purposeOf(factorId), secret.toString('base64'))

/** Null if none of the secret keys decrypts it. */
export function decryptTotpSecret(
  { deps }: ServiceContext,
  { id, encryptedSecret }: { id: string; encryptedSecret: Uint8Array | null },
): Buffer | null {
  const text = encryptedSecret && decrypt(deps.secretKeys, purposeOf(id), encryptedSecret)
  return text ? Buffer.from(text, 'base64') : null
}

/** Re-encrypts secrets under the newest secret key, so that the operator can remove older ones. */
export async function reencryptTotpSecrets(service: ServiceContext): Promise<void> {
  const [newest, ...older] = service.deps.secretKeys
  if (older.length === 0) return
  const { db } = service
  for (const { id, encryptedSecret } of await db.secondFactor.findMany({
    where: { kind: 'totp' },
    select: { id: true, encryptedSecret: true },
  })) {
    if (decrypt([newest!], purposeOf(id), encryptedSecret!) !== null) continue
    const opened = decryptTotpSecret(service, { id, encryptedSecret })
    if (opened)
      await db.secondFactor.updateMany({ where: { id }, data: { encryptedSecret: encryptTotpSecret(service, id, opened) } })
  }
}
