import { affectedRows } from '../../db/statements.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { eraseInvites, eraseListRows, eraseMedia, revokeOpenInvites } from './erase-invites.ts'
import { type ErasingMember, eraseMemberArchives, eraseMemberMails, eraseMemberTraces } from './erase-member-traces.ts'
import { eraseEvents, eraseMails, eraseOtherTraces, eraseSuppressions } from './erase-traces.ts'
import type { AddressErasure } from './erasing.ts'
import { ERASURE_STEPS, type ErasureStep, MEMBER_STEPS } from './erasures.ts'
import { type Receipt, writeReceipt } from './receipts.ts'
import { decryptErasureAddress } from './request-erasure.ts'
import type { MemberIdentifiers } from './request-member-erasure.ts'

/** Steps in order: a later step removes what an earlier one writes. */
const WORK: Record<ErasureStep, (erasing: AddressErasure & Receipt) => Promise<unknown>> = {
  revoke: revokeOpenInvites,
  lists: eraseListRows,
  media: eraseMedia,
  invites: eraseInvites,
  mails: eraseMails,
  events: eraseEvents,
  traces: eraseOtherTraces,
  suppressions: eraseSuppressions,
  receipt: writeReceipt,
}
const MEMBER_WORK: Record<(typeof MEMBER_STEPS)[number], (erasing: ErasingMember & Receipt) => Promise<unknown>> = {
  mails: eraseMemberMails,
  media: eraseMemberArchives,
  traces: eraseMemberTraces,
  receipt: writeReceipt,
}

/**
 * Continues an erasure from its first step. Finished steps cost little, so that it is safe to repeat after a crash: everything is deleted
 * and counted once, and the receipt is written last. A finished erasure stays as it is.
 *
 * @throws errors of the store, the database, or the erasure log. The job is retried.
 */
export async function continueErasure(
  service: ServiceContext,
  { organizationId, erasureId: id }: { organizationId: string; erasureId: string },
): Promise<void> {
  const where = { organizationId_id: { organizationId, id } }
  const found = await service.db.erasure.findUnique({ where, include: { organization: true } })
  if (!found?.encryptedAddress) return
  const { createdAt: until, encryptedAddress, step: reached } = found
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'system' } }, found.organization)
  const sealed = decryptErasureAddress(ctx, { id, encryptedAddress })
  const openErasure = ctx.db.updateTable('erasures').where('id', '=', id).where('finishedAt', 'is', null)
  // The log may already contain the receipt.
  const mayBeKnown = reached === 'receipt'
  const begin = async (step: ErasureStep) => (mayBeKnown ? undefined : affectedRows(openErasure.set({ step })))
  if (found.memberId !== null) {
    const erasing = { ctx, id, memberId: found.memberId, named: JSON.parse(sealed) as MemberIdentifiers, mayBeKnown }
    for (const step of MEMBER_STEPS) {
      await begin(step)
      await MEMBER_WORK[step](erasing)
    }
    return
  }
  const erasing = { ctx, id, address: sealed, until, mayBeKnown }
  for (const step of ERASURE_STEPS) {
    await begin(step)
    await WORK[step](erasing)
  }
}
