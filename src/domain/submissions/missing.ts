import { Prisma } from '../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../context.ts'
import { type FailedItem, refuseFailed, workOnEach } from '../in-halves.ts'
import type { InvitationRef } from '../invites/tokens.ts'
import { inTransaction } from '../transaction.ts'
import { copyPaper } from './paper.ts'
import { enterSession, type Session } from './session.ts'

// Submissions of invites that were started without one: before submissions were kept, or by a process of the release before.

/** SQL: an invite that lacks its submission. */
const lacking = Prisma.sql`
  i.status = 'started'
  AND NOT EXISTS (SELECT FROM submissions s WHERE s.organization_id = i.organization_id AND s.id = i.assessment_session)`

type Lacking = { id: string; assessmentId: string; assessmentSession: string | null }

/** Gives the invite its submission, with the whole time limit from now on, unless it has one. */
export async function openMissingSubmission(ctx: Context, inviteId: string): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const [invite] = await db.$queryRaw<Lacking[]>`
      SELECT i.id, i.assessment_id AS "assessmentId", i.assessment_session AS "assessmentSession"
      FROM invites i WHERE i.organization_id = ${organization.id}::uuid AND i.id = ${inviteId}::uuid AND ${lacking}
      FOR NO KEY UPDATE OF i`
    if (!invite) return
    const submissionId = invite.assessmentSession ?? deps.newId()
    if (invite.assessmentSession === null) {
      const where = { organizationId: organization.id, id: invite.id }
      await db.invite.updateMany({ where, data: { assessmentSession: submissionId } })
    }
    const now = deps.clock()
    const made = await db.$executeRaw`
      INSERT INTO submissions (
        id, organization_id, invite_id, assessment_id, state, question_replay_limit, answer_record_limit, started_at, deadline_at,
        created_at, updated_at
      )
      SELECT ${submissionId}::uuid, i.organization_id, i.id, i.assessment_id, 'in_progress', i.question_replay_limit,
        i.answer_record_limit, COALESCE(i.started_at, ${now}), ${now}::timestamptz + NULLIF(a.time_limit, 0) * interval '1 second',
        ${now}, ${now}
      FROM invites i JOIN assessments a ON a.organization_id = i.organization_id AND a.id = i.assessment_id
      WHERE i.organization_id = ${organization.id}::uuid AND i.id = ${invite.id}::uuid
      ON CONFLICT DO NOTHING`
    if (made === 1) await copyPaper(inside, { submissionId, assessmentId: invite.assessmentId })
  })
}

/** Enters by the link to change something: an invite that was started without a submission gets it. @throws DomainError invite_not_found. */
export async function enterToWrite(service: ServiceContext, ref: InvitationRef): Promise<Session> {
  const session = await enterSession(service, ref)
  if (session.invite.status !== 'started' || session.submission) return session
  await openMissingSubmission(session.ctx, session.invite.id)
  return enterSession(service, ref)
}

/** Invites looked up by one statement. */
const FOUND_AT_ONCE = 200

/** Gives all invites that lack it their submission, in all organizations, for the scheduled sweep. @returns how many. */
export async function openMissingSubmissions(system: ServiceContext): Promise<number> {
  let opened = 0
  const failed: FailedItem<unknown>[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const found = await system.db.$queryRaw<({ inviteId: string } & Context['organization'])[]>`
      SELECT i.id AS "inviteId", o.id, o.name, o.tier FROM invites i JOIN organizations o ON o.id = i.organization_id
      WHERE ${lacking} AND i.id > ${after}::uuid ORDER BY i.id LIMIT ${FOUND_AT_ONCE}`
    const failedNow = await workOnEach(found, ({ inviteId, ...organization }) =>
      openMissingSubmission({ ...system, organization }, inviteId),
    )
    opened += found.length - failedNow.length
    failed.push(...failedNow)
    if (found.length < FOUND_AT_ONCE) break
    after = found.at(-1)!.inviteId
  }
  refuseFailed(failed)
  return opened
}
