import { hash, randomBytes } from 'node:crypto'
import { everyones } from '../../db/everyone.ts'
import { first } from '../../db/statements.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { type AuditEvent, recordAudit } from '../audit/record-audit.ts'
import type { Context, KeyMode, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { inTransaction } from '../transaction.ts'
import { isUuid } from '../values/uuid.ts'

/** Milliseconds without a request of a person, and in all, after which a session ends. */
const IDLE_MS = 12 * 3_600_000
const LONGEST_MS = 30 * 86_400_000
const SEEN_RECORDED_EVERY_MS = 60_000
const TOKEN_BYTES = 32
const MAX_USER_AGENT_LENGTH = 300

/** What a person signs in with. */
export type Credential = { id: string; email: string; passwordHash: string }

/**
 * Where a browser asks from.
 *
 * @property network an IPv4 address, or the part of an IPv6 one that a customer is given.
 * @property isShared whether it is only that of a proxy, behind which may be anybody.
 */
export type Origin = { network: string; isShared: boolean }

/** The browser that a session is begun in. */
export type Browser = Origin & { userAgent: string }

const memberships = {
  where: { status: 'active' },
  include: { user: true, organization: { select: { id: true, name: true, tier: true } } },
  orderBy: [{ joinedAt: 'asc' }, { id: 'asc' }],
} satisfies Prisma.Credential$membershipsArgs

export type Membership = Prisma.MemberGetPayload<{ include: typeof memberships.include }>

/**
 * Who is signed in, and as a member of which organizations: at least one, and only active memberships that they have joined. A
 * membership that was made active again after the session began is not among them: what deactivation has ended does not come back.
 */
export type SignedIn = {
  sessionId: string
  credential: Credential
  memberships: Membership[]
}

/** A session as its owner sees it. */
export type SessionSummary = { id: string; userAgent: string; network: string; createdAt: Date; lastSeenAt: Date }

/** The token for the cookie, which is kept nowhere, and when the cookie is of no use any more. */
export type NewSession = { token: string; expiresAt: Date }

/**
 * Begins a session of whoever has shown to know the password.
 *
 * @returns null when the password has been changed meanwhile: that ends all sessions, also those that are just being begun.
 */
export async function startSession(
  { db, deps }: ServiceContext,
  credential: Credential,
  { userAgent, network }: Browser,
): Promise<NewSession | null> {
  const { id, passwordHash } = credential
  const current = everyones.selectFrom('credentials').select('id').where('id', '=', id).where('passwordHash', '=', passwordHash)
  if (!(await first(db, current.forShare()))) return null
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const now = deps.clock()
  await db.session.create({
    data: {
      id: deps.newId(),
      tokenHash: hashToken(token),
      credentialId: credential.id,
      userAgent: [...userAgent.replaceAll('\0', '')].slice(0, MAX_USER_AGENT_LENGTH).join(''),
      network,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + IDLE_MS),
    },
  })
  return { token, expiresAt: new Date(now.getTime() + LONGEST_MS) }
}

/**
 * Who is signed in with the token; null when nobody is (any more). A member who was deactivated is not found from that moment on; a
 * session that opens no organization any more ends.
 *
 * @param isUse whether a person asks: what a page asks by itself does not keep the session from ending.
 */
export async function findSession(
  { db, deps }: ServiceContext,
  token: string,
  { isUse }: { isUse: boolean },
): Promise<SignedIn | null> {
  const session = await db.session.findUnique({
    where: { tokenHash: hashToken(token) },
    include: { credential: { include: { memberships } } },
    relationLoadStrategy: 'join',
  })
  const now = deps.clock()
  if (!session || session.expiresAt <= now) return null
  const { credential } = session
  const open = credential.memberships.filter(({ activeSince }) => activeSince === null || activeSince < session.createdAt)
  if (open.length === 0) {
    await db.session.deleteMany({ where: { id: session.id } })
    return null
  }
  if (isUse && now.getTime() - session.lastSeenAt.getTime() >= SEEN_RECORDED_EVERY_MS) await recordUse({ db }, session, now)
  return { sessionId: session.id, credential, memberships: open }
}

/** Guarded, so that of requests at once only one writes, and none brings back a session that was ended. */
async function recordUse(
  { db }: Pick<ServiceContext, 'db'>,
  { id, lastSeenAt, createdAt }: { id: string; lastSeenAt: Date; createdAt: Date },
  now: Date,
): Promise<void> {
  const expiresAt = new Date(Math.min(now.getTime() + IDLE_MS, createdAt.getTime() + LONGEST_MS))
  await db.session.updateMany({ where: { id, lastSeenAt }, data: { lastSeenAt: now, expiresAt } })
}

/** The context of a person as the member of an organization, who looks at its live or at its test data. @throws DomainError not_permitted when they are none, or there is none. */
export function contextOf(service: ServiceContext, { memberships }: SignedIn, organizationId: string, mode: KeyMode): Context {
  const membership = memberships.find(({ organization }) => organization.id === organizationId)
  if (!membership) throw new DomainError('not_permitted')
  return { ...asMember(service, membership), mode }
}

export const asMember = (service: ServiceContext, { id, userId, roles, organization }: Membership): Context => ({
  ...service,
  organization,
  mode: 'live',
  actor: { kind: 'member', id, userId, roles },
})

/** The memberships that a credential opens. */
export const findMemberships = ({ db }: ServiceContext, credentialId: string): Promise<Membership[]> =>
  db.member.findMany({ ...memberships, where: { ...memberships.where, credentialId }, relationLoadStrategy: 'join' })

/** The sessions of whoever is signed in, the one that was used last first. */
export const listSessions = ({ db, deps }: ServiceContext, { credential }: SignedIn): Promise<SessionSummary[]> =>
  db.session.findMany({
    where: { credentialId: credential.id, expiresAt: { gt: deps.clock() } },
    orderBy: [{ lastSeenAt: 'desc' }, { id: 'desc' }],
    omit: { tokenHash: true },
  })

/** Signs out the browser with this token. */
export async function endSession({ db }: ServiceContext, token: string): Promise<void> {
  await db.session.deleteMany({ where: { tokenHash: hashToken(token) } })
}

/** Ends one session of one's own; none that is over, or somebody else's. */
export const endOwnSession = (service: ServiceContext, signedIn: SignedIn, id: string): Promise<void> =>
  isUuid(id) ? endSessions(service, signedIn, { id }) : Promise.resolve()

/** Ends all sessions of one's own but this one. */
export const endOtherSessions = (service: ServiceContext, signedIn: SignedIn): Promise<void> =>
  endSessions(service, signedIn, { id: { not: signedIn.sessionId } })

const endSessions = (service: ServiceContext, signedIn: SignedIn, where: Prisma.SessionWhereInput): Promise<void> =>
  inTransaction(service, async (inside) => {
    const { count } = await inside.db.session.deleteMany({ where: { ...where, credentialId: signedIn.credential.id } })
    if (count > 0) await recordForAll(inside, signedIn.memberships, { action: 'ended_sessions', details: { count } })
  })

/** Records what a person does as such, in each organization that they are a member of. */
export async function recordForAll(inside: ServiceContext, memberships: Membership[], event: AuditEvent): Promise<void> {
  for (const membership of memberships) await recordAudit(asMember(inside, membership), event)
}

const hashToken = (token: string): Uint8Array<ArrayBuffer> => new Uint8Array(hash('sha256', token, 'buffer'))
