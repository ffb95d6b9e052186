import { unscoped, unscopedPrisma } from '../../db/unscoped.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { type AuditEvent, recordAudit } from '../audit/record-audit.ts'
import { portalRolesOf } from '../authorization/portal-roles.ts'
import { type Context, enterOrganization, inMode, type KeyMode, type ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type NewAuthentication, readAuthentications, toAuthenticationRow } from './authentication-rows.ts'
import { type Browser, type Credential, type NetworkOrigin, rememberDevice, truncateUserAgent } from './devices.ts'
import { notifyPerson } from './notify-person.ts'
import {
  type AccessRequest,
  type Authentication,
  decideSessionAccess,
  isBlocked,
  isIdle,
  type SessionAccess,
} from './session-access.ts'
import { createSessionToken, hashToken, MAX_SESSION_MS } from './session-tokens.ts'

/** Milliseconds without a request of a person after which a session ends. */
const IDLE_MS = 12 * 3_600_000
const SEEN_RECORDED_EVERY_MS = 60_000
/** Sessions of one person; another one ends the session unused for longest. */
const MOST_SESSIONS = 20

export type { Browser, Credential, NetworkOrigin }

const memberships = {
  where: { status: 'active' },
  include: {
    user: true,
    organization: {
      select: {
        id: true,
        name: true,
        tier: true,
        ownerNamedAt: true,
        security: true,
        suspension: { select: { reason: true, erasesAt: true, movedTo: true } },
      },
    },
  },
  orderBy: [{ joinedAt: 'asc' }, { id: 'asc' }],
} satisfies Prisma.Credential$membershipsArgs

export type Membership = Prisma.MemberGetPayload<{ include: typeof memberships.include }>

/**
 * A signed-in person and their memberships.
 *
 * @property memberships at least one; active and joined only. {@link findSessionAccess} decides whether the session may use one.
 * @property shut memberships that this session can never use, because they were activated again after it began.
 */
export type SignedIn = {
  sessionId: string
  session: { createdAt: Date; lastSeenAt: Date; closedOrganizationIds: string[]; proofs: Authentication[] }
  credential: Credential
  memberships: Membership[]
  blockedMemberships: Membership[]
}

/** Token for the cookie, stored as a hash only; its expiry; and the browser's token. */
export type NewSession = { token: string; expiresAt: Date; device: string }

/**
 * Starts a session after an authentication.
 *
 * @param proofs authentications of this sign-in. @param remembered time of the second factor that a trusted browser replaces.
 * @returns null if the credential was changed meanwhile, which ends all sessions, including those being started.
 */
export async function startSession(
  inside: ServiceContext,
  credential: Credential,
  { userAgent: rawUserAgent, ...browser }: Browser,
  proofs: readonly NewAuthentication[],
  remembered?: Date,
): Promise<NewSession | null> {
  const { db, deps } = inside
  const { id: credentialId, authVersion } = credential
  if (!(await lockUnchangedCredential(inside, credential))) return null
  const userAgent = truncateUserAgent(rawUserAgent)
  const device = await rememberDevice(inside, credential, { ...browser, userAgent })
  const now = deps.clock()
  const { token, tokenHash, expiresAt } = createSessionToken({ deps })
  await db.session.create({
    data: {
      id: deps.newId(),
      tokenHash,
      credentialId,
      authVersion,
      deviceId: device.id,
      userAgent,
      network: browser.network,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + IDLE_MS),
      proofs: {
        create: [
          ...proofs.map((proof) => toAuthenticationRow(deps.newId(), proof, now)),
          ...toDeviceRows(deps.newId(), remembered),
        ],
      },
    },
  })
  const sessionsOfPerson = unscoped(inside.db).selectFrom('sessions').select('id').where('credentialId', '=', credentialId)
  const excess = sessionsOfPerson
    .where('expiresAt', '>', now)
    .orderBy('lastSeenAt', 'desc')
    .orderBy('id', 'desc')
    .offset(MOST_SESSIONS)
  await unscoped(db).updateTable('sessions').set(toEndedSession(now, 'too_many')).where('id', 'in', excess).execute()
  if (device.isAnother) await notifyPerson(inside, await findMemberships(inside, credentialId), 'new_browser')
  return { token, expiresAt, device: device.token }
}

const toDeviceRows = (id: string, at?: Date) => (at ? [{ id, kind: 'device', at }] : [])

/** Locks a credential until the transaction ends. @returns false if it has changed since it was read. */
export async function lockUnchangedCredential(
  { db }: Pick<ServiceContext, 'db'>,
  { id, passwordHash, authVersion }: Credential,
): Promise<boolean> {
  const current = unscoped(db).selectFrom('credentials').select('id').where('id', '=', id)
  const same = current.where('passwordHash', '=', passwordHash).where('authVersion', '=', authVersion)
  return (await same.forNoKeyUpdate().executeTakeFirst()) !== undefined
}

/** Why a session has ended before its time. */
export type EndReason =
  | 'signed_out'
  | 'signed_in_again'
  | 'ended_by_owner'
  | 'password_changed'
  | 'password_reset'
  | 'address_proven'
  | 'factor_changed'
  | 'factors_reset'
  | 'ended_at_provider'
  | 'no_membership'
  | 'too_many'

/**
 * Columns of an ended session. Its row stays for a day, so that a form that was being filled in finds its owner. lastSeenAt keeps
 * a concurrent request from prolonging the session.
 */
export const toEndedSession = (now: Date, endReason: EndReason) => ({ endedAt: now, endReason, expiresAt: now, lastSeenAt: now })

/**
 * Finds the session of a token; null if it has ended. Deactivated members are excluded at once. A session without access to any
 * organization ends.
 *
 * @param isUse false for requests that a page sends automatically: they don't prolong the session.
 */
export async function findSession(
  { db, deps }: ServiceContext,
  token: string,
  { isUse }: { isUse: boolean },
): Promise<SignedIn | null> {
  const found = await db.session.findUnique({
    where: { tokenHash: hashToken(token) },
    include: { credential: { include: { memberships } }, proofs: true },
    relationLoadStrategy: 'join',
  })
  const now = deps.clock()
  if (!found || found.endedAt !== null || found.expiresAt <= now) return null
  const { id, credential, proofs: rows, ...session } = found
  const proofs = await readAuthentications({ db, deps }, rows)
  if (proofs.length === 0) return null // its provider was removed
  if (session.authVersion !== credential.authVersion) return null
  const openMemberships = credential.memberships.filter((membership) => !isBlocked(session, membership))
  if (openMemberships.length === 0) {
    await db.session.updateMany({ where: { id, endedAt: null }, data: toEndedSession(now, 'no_membership') })
    return null
  }
  if (isUse && now.getTime() - session.lastSeenAt.getTime() >= SEEN_RECORDED_EVERY_MS) await recordUse({ db }, found, now)
  const blockedMemberships = credential.memberships.filter((membership) => !openMemberships.includes(membership))
  return {
    sessionId: id,
    session: { ...session, proofs },
    credential,
    memberships: openMemberships,
    blockedMemberships,
  }
}

type UsedSession = Pick<Prisma.SessionGetPayload<object>, 'id' | 'lastSeenAt' | 'createdAt' | 'closedOrganizationIds'> & {
  credential: { memberships: Membership[] }
}

/**
 * Guarded, so that only one of simultaneous requests writes, and none revives an ended session. An organization that the session was idle
 * in for too long stays closed to it, because using another organization doesn't count there.
 */
async function recordUse({ db }: Pick<ServiceContext, 'db'>, used: UsedSession, now: Date): Promise<void> {
  const { id, lastSeenAt, createdAt, closedOrganizationIds, credential } = used
  const expiresAt = new Date(Math.min(now.getTime() + IDLE_MS, createdAt.getTime() + MAX_SESSION_MS))
  const idle = credential.memberships.filter(
    ({ organization: { security } }) => security !== null && isIdle(used, security, { at: now }),
  )
  const closed = [...new Set([...closedOrganizationIds, ...idle.map(({ organizationId }) => organizationId)])]
  await db.session.updateMany({
    where: { id, lastSeenAt, endedAt: null, closedOrganizationIds: { equals: closedOrganizationIds } },
    data: { lastSeenAt: now, expiresAt, ...(idle.length > 0 && { closedOrganizationIds: closed }) },
  })
}

/** Access of the session to an organization; null if the person is not a member. */
export function findSessionAccess(
  { session, memberships, blockedMemberships: shut }: SignedIn,
  organizationId: string,
  request: AccessRequest,
): SessionAccess | null {
  const membership = [...memberships, ...shut].find(({ organization }) => organization.id === organizationId)
  return membership ? decideSessionAccess(session, membership, membership.organization.security, request) : null
}

/**
 * Context of a person as a member of the organization, on its live or test data.
 *
 * @param options.duringSuspension true to allow a suspended organization. @throws DomainError not_permitted if the organization doesn't exist
 *   or is suspended, the person is no member, or the session has no access.
 */
export function contextOf(
  service: ServiceContext,
  signedIn: SignedIn,
  {
    organizationId,
    mode,
    duringSuspension = false,
    ...request
  }: AccessRequest & { organizationId: string; mode: KeyMode; duringSuspension?: boolean },
): Context {
  const membership = signedIn.memberships.find(({ organization }) => organization.id === organizationId)
  if (!membership || findSessionAccess(signedIn, organizationId, request) !== 'open') throw new DomainError('not_permitted')
  if (membership.organization.suspension && !duringSuspension) throw new DomainError('not_permitted')
  return inMode(toMemberContext(service, membership), mode)
}

type MemberOf = Pick<Membership, 'id' | 'userId' | 'roles' | 'portalRoles' | 'canViewTranscription'> & {
  organization: Context['organization'] & { ownerNamedAt: Date | null }
}

export const toMemberContext = (service: ServiceContext, { id, userId, organization, ...member }: MemberOf): Context =>
  enterOrganization(
    {
      ...service,
      actor: {
        ...{ kind: 'member', id, userId, roles: member.roles, portalRoles: portalRolesOf(member, organization) },
        canViewTranscription: member.canViewTranscription,
      },
    },
    { id: organization.id, name: organization.name, tier: organization.tier },
    'live',
  )

/** The memberships that a credential opens. */
export const findMemberships = ({ db }: ServiceContext, credentialId: string): Promise<Membership[]> =>
  unscopedPrisma(db).member.findMany({
    ...memberships,
    where: { ...memberships.where, credentialId },
    relationLoadStrategy: 'join',
  })

/** Records a change to the person's account in each organization that they belong to. */
export async function recordInAllOrganizations(
  inside: ServiceContext,
  memberships: Membership[],
  event: AuditEvent,
): Promise<void> {
  for (const membership of memberships) await recordAudit(toMemberContext(inside, membership), event)
}
