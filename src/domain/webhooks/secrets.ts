import { randomBytes } from 'node:crypto'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { inTransaction } from '../transaction.ts'
import { changeEndpoint, getEndpoint, recordEndpoint, type WebhookEndpoint } from './change-endpoint.ts'

// The secrets that endpoints' messages are signed with. They are shown once, and encrypted at rest.

const SECRET_BYTES = 32
/** Milliseconds for which both secrets sign after a rotation. */
const OVERLAP_MS = 24 * 3_600_000

type EncryptedSecrets = {
  id: string
  encryptedSecret: Uint8Array
  encryptedPreviousSecret: Uint8Array | null
  previousSecretUntil: Date | null
}

/** As Standard Webhooks writes them. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

export const encryptWebhookSecret = ({ deps }: ServiceContext, endpointId: string, secret: string) =>
  encrypt(deps.secretKeys, purposeOf(endpointId), secret)

/** Ties the ciphertext to one endpoint. */
const purposeOf = (endpointId: string) => `webhook ${endpointId}`

/**
 * Rotates the secret. The previous one also signs for a day, in which rotating again is refused: a third secret would end the first without
 * notice.
 *
 * @param options.force true to rotate again: the present secret signs for a day more, the previous one stops at once.
 * @throws DomainError webhook_not_found; secret_rotated less than a day ago.
 */
export const rotateSecret = (
  ctx: Context,
  id: string,
  { force = false }: { force?: boolean | undefined } = {},
): Promise<{ endpoint: WebhookEndpoint; secret: string }> =>
  inTransaction(ctx, async (inside) => {
    const { deps } = inside
    const endpoint = await getEndpoint(inside, id)
    // The second of two concurrent rotations sees the first one's secret.
    const endpointRow = inside.db
      .selectFrom('webhookEndpoints')
      .select(['encryptedSecret', 'previousSecretUntil'])
      .where('id', '=', endpoint.id)
    const { encryptedSecret: encryptedPreviousSecret, previousSecretUntil: until } = await endpointRow
      .forUpdate()
      .executeTakeFirstOrThrow()
    const [secret, now] = [createWebhookSecret(), deps.clock()]
    if (until && until > now && !force) throw new DomainError('secret_rotated')
    const previousSecretUntil = new Date(now.getTime() + OVERLAP_MS)
    const data = {
      encryptedSecret: encryptWebhookSecret(inside, endpoint.id, secret),
      encryptedPreviousSecret,
      previousSecretUntil,
      updatedAt: now,
    }
    await recordEndpoint(inside, 'rotated_webhook_secret', endpoint)
    return { endpoint: await changeEndpoint(inside, endpoint.id, data), secret }
  })

/** Secrets that sign now, newest first; null if none of the service's secret keys decrypts them. */
export function decryptWebhookSecrets({ deps }: ServiceContext, endpoint: EncryptedSecrets): string[] | null {
  const purpose = purposeOf(endpoint.id)
  const secret = decrypt(deps.secretKeys, purpose, endpoint.encryptedSecret)
  if (secret === null) return null
  const overlaps = endpoint.encryptedPreviousSecret && endpoint.previousSecretUntil && endpoint.previousSecretUntil > deps.clock()
  const previous = overlaps ? decrypt(deps.secretKeys, purpose, endpoint.encryptedPreviousSecret!) : null
  return previous === null ? [secret] : [secret, previous]
}

/** Re-encrypts secrets under the newest secret key, so that the operator can remove older ones. */
export async function reencryptWebhookSecrets({ db, deps }: ServiceContext): Promise<void> {
  const [newest, ...older] = deps.secretKeys
  if (older.length === 0) return
  for (const { id, encryptedSecret, encryptedPreviousSecret } of await db.webhookEndpoint.findMany()) {
    // Each secret separately: one may have been encrypted by a process with another newest key.
    const reencrypt = (sealed: Uint8Array) => {
      const text = decrypt([newest!], purposeOf(id), sealed) === null ? decrypt(older, purposeOf(id), sealed) : null
      return text === null ? undefined : encrypt(deps.secretKeys, purposeOf(id), text)
    }
    const data = omitUndefined({
      encryptedSecret: reencrypt(encryptedSecret),
      encryptedPreviousSecret: encryptedPreviousSecret ? reencrypt(encryptedPreviousSecret) : undefined,
    })
    if (Object.keys(data).length === 0) continue
    // Unless it was rotated meanwhile.
    await db.webhookEndpoint.updateMany({ where: { id, encryptedSecret: new Uint8Array(encryptedSecret) }, data })
  }
}
