import { affectedRows } from '../../db/statements.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { lockOrganization } from '../concurrency/lock-organization.ts'
import { type Context, inMode } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_OPEN_ERASURES } from '../limits.ts'
import { hmacOfAddress } from '../secrets/address-hmacs.ts'
import { decrypt, encrypt } from '../secrets/encryption.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress, toStoredAddress } from '../validation/email-address.ts'
import { collectInvites } from './collect-invites.ts'
import { revokeOpenInvites } from './erase-invites.ts'
import { type Erasure, type ErasureStep, getErasure } from './erasures.ts'

/**
 * Erases the candidate with the address from the organization's live and test data. Revokes open invites at once; a job does the rest, and
 * continues after an interruption. While it runs, repeating the request returns the same erasure. An unknown address gets the same answer.
 *
 * @param repeated of a receipt: its id, and from when it is.
 * @throws DomainError not_permitted, too_many_erasures; invalid, `email`.
 */
export async function requestErasure(
  callerCtx: Context,
  { address: typedAddress }: { address: string },
  repeated?: { id: string; until: Date },
): Promise<Erasure> {
  authorize(callerCtx, 'erase_candidates')
  const address = normalizeAddress(typedAddress)
  if (!isEmailAddress(address)) throw new DomainError('invalid', { issues: [{ field: 'email', rule: 'email' }] })
  const ctx: Context = inMode(callerCtx, 'all')
  const { erasureId, isNew } = await inTransaction(ctx, (inside) => startErasure(inside, address, repeated))
  if (isNew) await revokeOpenInvites({ ctx, id: erasureId })
  return getErasure(ctx, erasureId)
}

/** The address in the form in which addresses are compared. */
export const normalizeAddress = (address: string): string => toStoredAddress(address.trim()).toLowerCase()

async function startErasure(
  inside: Context,
  address: string,
  repeated: { id: string; until: Date } | undefined,
): Promise<{ erasureId: string; isNew: boolean }> {
  const { db, deps, organization, actor } = inside
  const id = repeated?.id ?? deps.newId()
  const createdAt = repeated?.until ?? deps.clock()
  const addressHmac = new Uint8Array(hmacOfAddress(deps.secretKeys, organization.id, address))
  const actorId = actor.kind === 'member' || actor.kind === 'apiKey' ? actor.id : null
  const encryptedAddress = encrypt(deps.secretKeys, purposeOf(id), address)
  const row = { id, subject: 'candidate', addressHmac, encryptedAddress, createdAt }
  const inserted = await affectedRows(
    inside.db
      .insertInto('erasures')
      // The log has the receipt of a repeated erasure already.
      .values({ ...row, actorKind: actor.kind, actorId, step: (repeated ? 'receipt' : 'revoke') satisfies ErasureStep })
      .onConflict((conflict) => conflict.doNothing()),
  )
  if (inserted === 0) {
    const running = inside.db.selectFrom('erasures').where('addressHmac', '=', addressHmac).where('finishedAt', 'is', null)
    return { erasureId: (await running.select('id').executeTakeFirst())?.id ?? id, isNew: false }
  }
  await lockOrganization(inside)
  const ahead = await countOtherOpen(inside, id)
  if (!repeated && ahead >= MAX_OPEN_ERASURES) throw new DomainError('too_many_erasures')
  await collectInvites(inside, { id, address, until: createdAt })
  await deps.queue.enqueueErasure(db, { organizationId: organization.id, erasureId: id, ahead })
  await recordAudit(inside, { action: 'asked_for_erasure', target: { kind: 'erasure', id } })
  return { erasureId: id, isNew: true }
}

/** Other open erasures of the organization, counted up to {@link MAX_OPEN_ERASURES}. */
export const countOtherOpen = ({ db, organization }: Context, id: string): Promise<number> =>
  db.erasure.count({ where: { organizationId: organization.id, finishedAt: null, id: { not: id } }, take: MAX_OPEN_ERASURES })

/** Purpose of the encryption of an erasure's address. */
export const purposeOf = (id: string): string => `erasure ${id}`

/** The address of an erasure that runs. @throws Error where none of the secret keys opens it. */
export function decryptErasureAddress(
  { deps }: Pick<Context, 'deps'>,
  { id, encryptedAddress }: { id: string; encryptedAddress: Uint8Array },
): string {
  const address = decrypt(deps.secretKeys, purposeOf(id), encryptedAddress)
  if (address === null) throw new Error('The address that is to be erased is encrypted under a secret key that is not known')
  return address
}
