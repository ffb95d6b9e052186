import type { ServiceContext } from '../context.ts'
import { TRUSTED_DEVICE_DAYS } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { DAY_MS } from '../time/days.ts'
import { type Browser, type Credential, hashDevice } from './devices.ts'

// Browsers that replace their owner's second factor. Each organization decides how long a given factor is enough. The stored time is the
// end of the longest period that an organization can choose.

const MAX_TRUST_MS = TRUSTED_DEVICE_DAYS.maximum * DAY_MS
/** Default of organizations. */
const DEFAULT_DAYS = 30

type Rules = { organization: { security: { trustedDeviceDays: number } | null } }

/** Most days that one of the person's organizations trusts a browser for; 0: none does. */
export const daysToRemember = (memberships: readonly Rules[]): number =>
  Math.max(0, ...memberships.map(({ organization: { security } }) => security?.trustedDeviceDays ?? DEFAULT_DAYS))

/** Trusts the browser with this cookie, so that it replaces the second factor. */
export async function trustDevice({ db, deps }: ServiceContext, credentialId: string, token: string): Promise<void> {
  const trustedUntil = new Date(deps.clock().getTime() + MAX_TRUST_MS)
  await db.device.updateMany({ where: { credentialId, tokenHash: hashDevice(token) }, data: { trustedUntil } })
}

/** Time of the second factor that a browser replaces; null if it is not trusted any more. */
export async function findTrustedSince(
  { db, deps }: ServiceContext,
  { id: credentialId, authVersion }: Credential,
  { device }: Browser,
  days: number,
): Promise<Date | null> {
  if (!device) return null
  const where = { tokenHash_credentialId: { tokenHash: hashDevice(device), credentialId }, authVersion }
  const found = await db.device.findUnique({ where, select: { trustedUntil: true } })
  const trustedSince = found?.trustedUntil && toTrustedSince(found.trustedUntil)
  return trustedSince && deps.clock().getTime() - trustedSince.getTime() < days * DAY_MS ? trustedSince : null
}

const toTrustedSince = (trustedUntil: Date): Date => new Date(trustedUntil.getTime() - MAX_TRUST_MS)

/** A browser as its owner sees it. @property since when the second factor was given. */
export type TrustedDevice = { id: string; userAgent: string; network: string; lastSeenAt: Date; since: Date }

/** Trusted browsers of a person, last used first. */
export async function listTrustedDevices(
  { db, deps }: ServiceContext,
  { credential: { id: credentialId, authVersion } }: { credential: Credential },
): Promise<TrustedDevice[]> {
  const found = await db.device.findMany({
    where: { credentialId, authVersion, trustedUntil: { gt: deps.clock() } },
    orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }],
    select: { id: true, userAgent: true, network: true, lastSeenAt: true, trustedUntil: true },
  })
  return found.map(({ trustedUntil, ...device }) => ({ ...device, since: toTrustedSince(trustedUntil!) }))
}

/** Ends the trust in one of the person's browsers. */
export async function removeTrustedDevice({ db }: ServiceContext, credentialId: string, id: string): Promise<void> {
  if (isUuid(id)) await db.device.updateMany({ where: { id, credentialId }, data: { trustedUntil: null } })
}
