import { isDeepStrictEqual } from 'node:util'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { NOTICE_KINDS, type NoticeKind } from '../mails/candidate-mails.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'

/** Enabled notices. For an assessment null: as the organization. */
export type NoticeSwitches = Record<NoticeKind, boolean | null>

/** @param assessmentId null: the organization's. @throws DomainError not_permitted, assessment_not_found. */
export async function readNoticeSwitches(ctx: Context, assessmentId: string | null): Promise<NoticeSwitches> {
  authorize(ctx, 'manage_settings')
  const { db, organization } = ctx
  if (assessmentId === null) {
    const { candidateMails } = await db.organization.findUniqueOrThrow({
      where: { id: organization.id },
      select: { candidateMails: true },
    })
    return { submitted: candidateMails.includes('submitted'), released: candidateMails.includes('released') }
  }
  const where = { organizationId: organization.id, id: assessmentId }
  const select = { submittedMail: true, releasedMail: true }
  const found = isUuid(assessmentId) ? await db.assessment.findFirst({ where, select }) : null
  if (!found) throw new DomainError('assessment_not_found')
  return { submitted: found.submittedMail, released: found.releasedMail }
}

/** Switches notices on or off: for what happens from then on. @throws DomainError not_permitted, assessment_not_found. */
export async function saveNoticeSwitches(ctx: Context, assessmentId: string | null, switches: NoticeSwitches): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, organization } = inside
    if (isDeepStrictEqual(await readNoticeSwitches(inside, assessmentId), switches)) return
    if (assessmentId === null) {
      const candidateMails = NOTICE_KINDS.filter((kind) => switches[kind])
      await db.organization.update({ where: { id: organization.id }, data: { candidateMails } })
    } else
      await db.assessment.updateMany({
        where: { organizationId: organization.id, id: assessmentId },
        data: { submittedMail: switches.submitted, releasedMail: switches.released },
      })
    const target = assessmentId === null ? {} : { target: { kind: 'assessment' as const, id: assessmentId } }
    await recordAudit(inside, { action: 'changed_notices', ...target, details: { ...switches } })
  })
}
