import type { Context } from '../context.ts'

/** Total bytes of an organization's media. The cost does not grow with their number. */
export async function countMediaBytes({ db, organization }: Context): Promise<number> {
  const { _sum } = await db.organizationMediaBytes.aggregate({
    where: { organizationId: organization.id },
    _sum: { bytes: true },
  })
  return Number(_sum.bytes ?? 0n)
}

/** True if the organization's quota or the disk has no room for these bytes. The log tells which. */
export async function lacksSpace(ctx: Context, bytes: number): Promise<boolean> {
  const { log, media, mediaQuota } = ctx.deps
  const free = await media.free()
  if (free < bytes) {
    log.error({ free }, 'the disk for recordings is full')
    return true
  }
  const used = await countMediaBytes(ctx)
  if (used < mediaQuota) return false
  log.warn({ organizationId: ctx.organization.id, used }, 'an organization has used up its media quota')
  return true
}
