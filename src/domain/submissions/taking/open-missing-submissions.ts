import { sql } from '../../../db/builder.ts'
import { type Condition, type Expressions, sameOrganization, scopeWhere } from '../../../db/queries.ts'
import { affectedRows } from '../../../db/statements.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { copyColumns, DEFAULT, insertFromSelect, timestamp, uuid } from '../../../db/writes.ts'
import { type FailedItem, processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import type { InvitationRef } from '../../secrets/invitation-tokens.ts'
import { inTransaction } from '../../transaction.ts'
import { UNSET } from './new-submission.ts'
import { copyPaper, limitWithExtra } from './paper.ts'
import { type CandidateSession, enterSession } from './session.ts'

// Submissions of invites that were started without one: imported as started, or started while PLAYER_URL was set.

/** SQL condition: the invite has no submission. */
const lacksSubmission = (eb: Expressions<'invites'>, db: TenantDb): Condition => {
  const submissionOfInvite = eb
    .selectFrom(db.table('submissions'))
    .select('submissions.id')
    .whereRef('submissions.id', '=', 'invites.assessmentSession')
  return eb.and([eb('invites.status', '=', 'started'), eb.not(eb.exists(submissionOfInvite))])
}

/** Creates the invite's submission if it is missing, with the whole time limit from now on. */
export async function openMissingSubmission(ctx: Context, inviteId: string): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps } = inside
    const lacking = inside.db
      .selectFrom('invites')
      .where('invites.id', '=', inviteId)
      .where((eb) => lacksSubmission(eb, inside.db))
    const invite = await lacking
      .select(['invites.id', 'invites.assessmentId', 'invites.assessmentSession'])
      .forNoKeyUpdate('invites')
      .executeTakeFirst()
    if (!invite) return
    const submissionId = invite.assessmentSession ?? deps.newId()
    if (invite.assessmentSession === null) {
      const where = { ...scopeWhere(inside), id: invite.id }
      await db.invite.updateMany({ where, data: { assessmentSession: submissionId } })
    }
    const now = deps.clock()
    const invites = inside.db
      .selectFrom('invites')
      .where('invites.id', '=', invite.id)
      .innerJoin(inside.db.table('assessments'), 'assessments.id', 'invites.assessmentId')
    const submission = insertFromSelect(inside.db, 'submissions', invites, (eb) => ({
      id: uuid(submissionId),
      organizationId: eb.ref('invites.organizationId'),
      inviteId: eb.ref('invites.id'),
      ...UNSET,
      ...copyColumns(eb, 'mode', 'assessmentId', 'questionReplayLimit', 'answerRecordLimit', 'extraTimePercent'),
      state: sql`'in_progress'::submission_state`,
      startedAt: eb.fn.coalesce('invites.startedAt', timestamp(now)),
      deadlineAt: sql<Date | null>`${now}::timestamptz + ${limitWithExtra(eb.ref('assessments.timeLimit'), eb.ref('invites.extraTimePercent'))}`,
      createdAt: timestamp(now),
      updatedAt: timestamp(now),
      consentVersion: DEFAULT,
      consentMedia: DEFAULT,
      consentLanguage: DEFAULT,
      consentTextHash: DEFAULT,
      organizationConsentLanguage: DEFAULT,
      organizationConsentVersion: DEFAULT,
      consentAt: DEFAULT,
      userAgent: DEFAULT,
      mediaDeletionDueAt: timestamp(now),
    }))
    const insertedCount = await affectedRows(submission.onConflict((conflict) => conflict.doNothing()))
    if (insertedCount === 1) await copyPaper(inside, { submissionId, assessmentId: invite.assessmentId })
  })
}

/** Enters by the link to change something: an invite that was started without a submission gets it. @throws DomainError invite_not_found. */
export async function enterForChange(service: ServiceContext, ref: InvitationRef): Promise<CandidateSession> {
  const session = await enterSession(service, ref)
  if (session.invite.status !== 'started' || session.submission) return session
  await openMissingSubmission(session.ctx, session.invite.id)
  return enterSession(service, ref)
}

/** Invites looked up by one statement. */
const FOUND_AT_ONCE = 200

/** Creates missing submissions of all organizations, for the scheduled sweep. @returns their number. */
export async function openMissingSubmissions(system: ServiceContext): Promise<number> {
  let opened = 0
  const failed: FailedItem<unknown>[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const lacking = unscoped(system.db)
      .selectFrom('invites')
      .innerJoin('organizations', 'organizations.id', 'invites.organizationId')
      .where('invites.status', '=', 'started')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('submissions')
              .select('submissions.id')
              .where(sameOrganization('submissions', 'invites'))
              .whereRef('submissions.id', '=', 'invites.assessmentSession'),
          ),
        ),
      )
      .where('invites.id', '>', after)
      .select(['invites.id as inviteId', 'organizations.id', 'organizations.name', 'organizations.tier'])
      .orderBy('invites.id')
      .limit(FOUND_AT_ONCE)
    const found = await lacking.execute()
    const failedNow = await processEach(found, ({ inviteId, ...organization }) =>
      openMissingSubmission(enterOrganization(system, organization), inviteId),
    )
    opened += found.length - failedNow.length
    failed.push(...failedNow)
    if (found.length < FOUND_AT_ONCE) break
    after = found.at(-1)!.inviteId
  }
  throwFirstFailure(failed)
  return opened
}
