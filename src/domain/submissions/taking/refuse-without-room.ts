import type { Context } from '../../context.ts'
import { MAX_SUBMISSION_BYTES } from '../../limits.ts'
import { refuseSession } from './refuse-session.ts'

/** How many bytes an organization's media have in all, at a cost that does not grow with it. */
async function countMediaBytes({ db, organization }: Context): Promise<number> {
  const { _sum } = await db.organizationMediaBytes.aggregate({
    where: { organizationId: organization.id },
    _sum: { bytes: true },
  })
  return Number(_sum.bytes ?? 0n)
}

/**
 * Lets nobody begin what could not be kept to its end: neither beyond the organization's quota, nor on a disk with no room for a submission.
 *
 * @throws DomainError session_refused (quota).
 */
export async function refuseWithoutRoom(ctx: Context): Promise<void> {
  const { log, media, mediaQuota } = ctx.deps
  const organizationId = ctx.organization.id
  const free = await media.free()
  if (free < MAX_SUBMISSION_BYTES) {
    log.error({ free }, 'there is no room for recordings')
    refuseSession('quota')
  }
  const used = await countMediaBytes(ctx)
  if (used < mediaQuota) return
  log.warn({ organizationId, used }, "an organization's quota of media is used up")
  refuseSession('quota')
}
