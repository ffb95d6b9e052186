import { MAX_SESSION_EVENTS } from '../../limits.ts'
import { attemptOnce } from './attempt-once.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** Technical events during the test. */
export const SESSION_EVENT_KINDS = [
  'tab_hidden',
  'tab_shown',
  'full_screen_left',
  'full_screen_entered',
  'camera_lost',
  'microphone_lost',
  'sharing_ended',
  'sharing_begun',
  'offline',
  'online',
  'taken_over',
  'reloaded',
] as const
export type SessionEventKind = (typeof SESSION_EVENT_KINDS)[number]

/** @param ago milliseconds before now, because candidates' clocks are unreliable. */
export type SessionEventInput = { kind: SessionEventKind; ago: number }

/**
 * Records session events after the start, once per idempotency key, up to MAX_SESSION_EVENTS.
 *
 * @throws DomainError session_refused (submitted); as {@link attemptOnce}.
 */
export async function recordSessionEvents(session: PreparedSession, notes: readonly SessionEventInput[]): Promise<void> {
  const { ctx, submission } = session
  const key = { organizationId: ctx.organization.id, submissionId: submission.id }
  const countRoom = async ({ db }: typeof ctx) => MAX_SESSION_EVENTS - (await db.sessionEvent.count({ where: key }))
  // Batches beyond the limit are not recorded either: a browser may send any number.
  const isKept = notes.length > 0 && (await countRoom(ctx)) > 0
  await attemptOnce({ ...session, idempotencyKey: isKept ? session.idempotencyKey : null }, 'notes', async (inside) => {
    const { db, deps } = inside
    const now = deps.clock()
    const openSubmission = inside.db
      .selectFrom('submissions')
      .where('id', '=', submission.id)
      .where('state', '=', 'in_progress')
      .select('startedAt')
      .forNoKeyUpdate()
    const lockedSubmission = await openSubmission.executeTakeFirst()
    if (!lockedSubmission) return refuseSession('submitted')
    const room = await countRoom(inside)
    const timeOf = (ago: number) => new Date(Math.max(lockedSubmission.startedAt!.getTime(), now.getTime() - ago))
    const data = notes.slice(0, Math.max(0, room)).map(({ kind, ago }) => ({ id: deps.newId(), ...key, kind, at: timeOf(ago) }))
    if (data.length > 0) await db.sessionEvent.createMany({ data })
    return {}
  })
}
