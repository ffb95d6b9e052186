import { randomUUID } from 'node:crypto'
import type { Context } from '../domain/context.ts'
import type { InviteStatus } from '../domain/invites/invites.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const INVITES = 50
const FIRST_NAMES = ['Amara', 'Ben', 'Chloé', 'Dilan', 'Elena', 'Farid', 'Grace', 'Hugo', 'Ines', 'Jonas']
const LAST_NAMES = ['Adeyemi', 'Berg', 'Costa', 'Duarte', 'Eriksen']
/** They repeat from the newest to the oldest; what is too young to have expired is pending. */
const STATES: InviteStatus[] = ['pending', 'completed', 'accepted', 'completed', 'started', 'expired', 'completed', 'revoked']
/** Every so many mails one did not arrive. */
const FAILED_EVERY = 17

/**
 * Gives an organization invites of the last month in every state, with mails that were sent and some that failed. Nobody is behind the
 * addresses: they are written as they came to be, and no mail is queued.
 */
export async function addPastInvites(ctx: Context, assessmentIds: string[], createdById: string): Promise<void> {
  const { db, organization } = ctx
  // The oldest first: lists by id, such as the mailbox, have them in the order of time.
  const places = Array.from({ length: INVITES }, (_, n) => INVITES - 1 - n)
  const invites = places.map((i) => ({ i, invite: pastInvite(ctx, i, assessmentIds[i % assessmentIds.length]!) }))
  await db.invite.createMany({
    data: invites.map(({ invite }) => ({ ...invite, organizationId: organization.id, createdById })),
  })
  await db.inviteEmail.createMany({
    data: invites.map(({ i, invite }) => mailOf(ctx, invite, i % FAILED_EVERY === FAILED_EVERY - 1)),
  })
}

function pastInvite({ deps }: Context, i: number, assessmentId: string) {
  const now = deps.clock().getTime()
  const age = (i * 0.58 + 0.2) * DAY_MS
  const createdAt = now - age
  const step = Math.min(age / 4, 9 * HOUR_MS)
  const wanted = STATES[i % STATES.length]!
  const status = wanted === 'expired' && age < 8 * DAY_MS ? 'pending' : wanted
  const after = (steps: number, ...states: InviteStatus[]) =>
    states.includes(status) ? new Date(createdAt + steps * step) : null
  const firstName = FIRST_NAMES[i % FIRST_NAMES.length]!
  const lastName = LAST_NAMES[Math.floor(i / FIRST_NAMES.length)]!
  const expiresAt = new Date(createdAt + (status === 'expired' ? 7 : 30) * DAY_MS)
  const stamps = {
    acceptedAt: after(1, 'accepted', 'started', 'completed'),
    startedAt: after(2, 'started', 'completed'),
    completedAt: after(3, 'completed'),
    revokedAt: after(1, 'revoked'),
  }
  return {
    id: deps.newId(),
    assessmentId,
    recipientName: `${firstName} ${lastName}`,
    recipientEmail: `${firstName}.${lastName}@example.com`.toLowerCase().replace('é', 'e'),
    status,
    mode: 'test' as const,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: false,
    webcamMonitoring: false,
    requireIdCapture: false,
    facePhotoRequired: false,
    sentAt: new Date(createdAt),
    expiresAt,
    ...stamps,
    assessmentSession: stamps.startedAt && randomUUID(),
    createdAt: new Date(createdAt),
    updatedAt:
      status === 'expired'
        ? expiresAt
        : (stamps.completedAt ?? stamps.startedAt ?? stamps.acceptedAt ?? stamps.revokedAt ?? new Date(createdAt)),
  }
}

function mailOf({ deps, organization }: Context, { id, createdAt }: { id: string; createdAt: Date }, hasFailed: boolean) {
  const outcome = hasFailed
    ? { state: 'failed' as const, failure: 'refused' as const, reason: '550 5.1.1 There is no such mailbox', sentAt: null }
    : { state: 'captured' as const, sentAt: createdAt }
  const times = { createdAt, updatedAt: createdAt }
  return { id: deps.newId(), organizationId: organization.id, inviteId: id, linkVersion: 1, attempts: 1, ...times, ...outcome }
}
