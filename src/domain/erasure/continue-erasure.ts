import { ownUpdate } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { eraseInvites, eraseListRows, eraseMedia, revokeOpen } from './erase-invites.ts'
import { eraseMemberTraces } from './erase-member-traces.ts'
import { eraseEvents, eraseMails, eraseOtherTraces, eraseSuppressions } from './erase-traces.ts'
import type { Erasing } from './erasing.ts'
import type { ErasureStep } from './erasures.ts'
import { writeReceipt } from './receipts.ts'
import { openAddress } from './request-erasure.ts'
import type { Named } from './request-member-erasure.ts'

/** What each step does, in this order: what is made by one is done away with by those behind it. The receipt is the last. */
const WORK: readonly [ErasureStep, (erasing: Erasing) => Promise<unknown>][] = [
  ['revoke', revokeOpen],
  ['lists', eraseListRows],
  ['media', eraseMedia],
  ['invites', eraseInvites],
  ['mails', eraseMails],
  ['events', eraseEvents],
  ['traces', eraseOtherTraces],
  ['suppressions', eraseSuppressions],
]

/**
 * Does what is left of an erasure, from its first step on: what is done already costs little, and whatever became of a process before, it
 * ends with everything gone, each thing counted once, and the receipt last. One that is finished stays as it is.
 *
 * @throws whatever stands in the way: the store, the database, the log's file. It is tried again.
 */
export async function continueErasure(
  service: ServiceContext,
  { organizationId, erasureId: id }: { organizationId: string; erasureId: string },
): Promise<void> {
  const where = { organizationId_id: { organizationId, id } }
  const found = await service.db.erasure.findUnique({ where, include: { organization: true } })
  if (!found?.sealedAddress) return
  const { createdAt: until, sealedAddress, step: reached } = found
  const ctx: Context = enterOrganization({ ...service, actor: { kind: 'system' } }, found.organization)
  const sealed = openAddress(ctx, { id, sealedAddress })
  const mayBeKnown = reached === 'receipt'
  const its = ownUpdate(ctx, 'erasures').where('id', '=', id).where('finishedAt', 'is', null)
  // One that was at its receipt stays there, whatever is looked through once more: its log may have the line.
  const begin = async (step: ErasureStep) => (mayBeKnown ? undefined : run(ctx.db, its.set({ step })))
  if (found.memberId !== null)
    await eraseMemberTraces({ ctx, id, until, memberId: found.memberId, named: JSON.parse(sealed) as Named })
  else
    for (const [step, work] of WORK) {
      await begin(step)
      await work({ ctx, id, address: sealed, until })
    }
  await begin('receipt')
  await writeReceipt({ ctx, id }, { mayBeKnown })
}
