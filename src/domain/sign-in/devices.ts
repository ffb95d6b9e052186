import { hash, randomBytes } from 'node:crypto'
import { unscoped } from '../../db/unscoped.ts'
import { EXPIRED_ROWS } from '../concurrency/expired-rows.ts'
import type { ServiceContext } from '../context.ts'
import { daysAfter } from '../time/days.ts'

/** Account of a person. @property emailVerifiedAt null until somebody has shown that the address is theirs. */
export type Credential = { id: string; email: string; passwordHash: string; authVersion: number; emailVerifiedAt: Date | null }

/**
 * Network of a request.
 *
 * @property network IPv4 address, or IPv6 prefix of one customer.
 * @property isShared true behind a proxy that many clients use.
 * @property isInside true for a private address, which exists in many networks.
 */
export type NetworkOrigin = { network: string; isShared: boolean; isInside: boolean }

/** The browser that a session is begun in. @property device the value of the cookie by which it is known again. */
export type Browser = NetworkOrigin & { userAgent: string; device?: string | undefined }

const TOKEN_BYTES = 32
const MAX_USER_AGENT_LENGTH = 300
/** Looked up for an unknown address, so that it takes as long as for a known one. */
const UNKNOWN_CREDENTIAL_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Familiarity of a browser.
 *
 * @property deviceId device that signed in before; null for a new one.
 * @property isKnownNetwork true if the person signed in from this network before. Always false for private addresses.
 */
export type Familiarity = { deviceId: string | null; isKnownNetwork: boolean }

/** Id of the browser as one that the person has signed in with; null for any other. */
export async function findDeviceId(
  { db }: ServiceContext,
  credentialId: string,
  { device }: Pick<Browser, 'device'>,
): Promise<string | null> {
  if (!device) return null
  const found = await db.device.findFirst({ where: { credentialId, tokenHash: hashDevice(device) }, select: { id: true } })
  return found?.id ?? null
}

/** @param credential undefined: the address has no account. */
export async function findFamiliarity(
  { db, deps }: ServiceContext,
  credential: Credential | undefined,
  { device, network, isShared, isInside }: Browser,
): Promise<Familiarity> {
  const keptFrom = daysAfter(deps.clock(), -EXPIRED_ROWS.devices.days)
  const tokenHash = hashDevice(device ?? '')
  const devicesOfPerson = unscoped(db)
    .selectFrom('devices')
    .select(['id', 'tokenHash', 'authVersion', 'network'])
    .where('credentialId', '=', credential?.id ?? UNKNOWN_CREDENTIAL_ID)
    .where('lastSeenAt', '>', keptFrom)
    .where((eb) => eb.or([eb('tokenHash', '=', tokenHash), eb('network', '=', network)]))
  const found = await devicesOfPerson.execute()
  const isSame = (otherHash: Uint8Array) => Buffer.compare(otherHash, tokenHash) === 0
  const knownDevice = found.find((candidate) => isSame(candidate.tokenHash) && candidate.authVersion === credential?.authVersion)
  const isKnownNetwork = !isShared && !isInside && found.some((candidate) => candidate.network === network)
  return { deviceId: knownDevice?.id ?? null, isKnownNetwork }
}

/**
 * Remembers the browser for the person. Its cookie gets a new value each time, also for other people who signed in with it, so that a
 * copied cookie is worthless.
 *
 * @returns the value, stored only as a hash; `isAnother`: true if this browser is new and the person has others.
 */
export async function rememberDevice(
  inside: ServiceContext,
  credential: Pick<Credential, 'id' | 'authVersion'>,
  { device, userAgent, network }: Browser,
): Promise<{ id: string; token: string; isAnother: boolean }> {
  const { db, deps } = inside
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const tokenHash = hashDevice(token)
  if (device) await unscoped(db).updateTable('devices').set({ tokenHash }).where('tokenHash', '=', hashDevice(device)).execute()
  const now = deps.clock()
  const latestUse = { authVersion: credential.authVersion, userAgent: truncateUserAgent(userAgent), network, lastSeenAt: now }
  const { id: credentialId } = credential
  const where = { tokenHash_credentialId: { tokenHash, credentialId } }
  const isUnknown = (await db.device.count({ where: { tokenHash, credentialId } })) === 0
  const isAnother = isUnknown && (await db.device.findFirst({ where: { credentialId }, select: { id: true } })) !== null
  const { id } = await db.device.upsert({
    where,
    create: { id: deps.newId(), tokenHash, credentialId, createdAt: now, ...latestUse },
    update: latestUse,
    select: { id: true },
  })
  return { id, token, isAnother }
}

export const truncateUserAgent = (userAgent: string): string =>
  [...userAgent.replaceAll('\0', '')].slice(0, MAX_USER_AGENT_LENGTH).join('')

export const hashDevice = (token: string): Uint8Array<ArrayBuffer> => new Uint8Array(hash('sha256', `device ${token}`, 'buffer'))
