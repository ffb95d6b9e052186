import { unscopedPrisma } from '../../db/unscoped.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_TEXT_TESTS } from '../limits.ts'
import { requireAssessment } from '../loaders/require-assessment.ts'
import { findPlaceIssues, findTemplateIssues, tidyTemplate, withFallbackText } from '../mails/mail-templates.ts'
import { type ExampleName, queueMemberEmail, type TestedText } from '../mails/member-emails.ts'
import type { TextPlace, WrittenText } from '../mails/template-places.ts'
import { lockCredential } from '../sign-in/credential-lock.ts'
import { HOUR_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/**
 * Sends a template from the form to the member's own address. Belongs to no invite: nothing is counted, and there is no event.
 *
 * @param text.who example candidate. @returns the address.
 * @throws DomainError not_permitted, assessment_not_found; invalid: unreadable lines with their numbers, or `tooManyTests` with the seconds
 *   to wait.
 */
export async function testMailText(
  ctx: Context,
  place: TextPlace,
  { who, ...enteredText }: WrittenText & { who: ExampleName },
): Promise<string> {
  authorize(ctx, 'manage_settings')
  const { actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  const text = tidyTemplate(enteredText)
  throwIfIssues([...findPlaceIssues(ctx, place), ...findTemplateIssues(place.kind, text)])
  const { kind, language, assessmentId } = place
  return inTransaction(ctx, async (inside) => {
    const assessment = assessmentId === null ? null : await requireAssessment(inside, assessmentId)
    const member = await inside.db.member.findUniqueOrThrow({
      where: { organizationId: inside.organization.id, id: actor.id },
      include: { credential: true },
    })
    if (!member.credential) throw new DomainError('not_permitted')
    const { id: credentialId, email } = member.credential
    // Limits test emails per person, over all organizations.
    await lockCredential(inside, credentialId)
    await limitTests(inside, credentialId)
    const facts: TestedText = { kind, assessment, who, ...(await withFallbackText(inside, place, text)) }
    await queueMemberEmail(inside, { kind: 'text_test', memberId: member.id, facts })
    await recordAudit(inside, { action: 'tested_mail_text', details: { kind, language } })
    return email
  })
}

async function limitTests({ db, deps }: Context, credentialId: string): Promise<void> {
  const now = deps.clock().getTime()
  const latest = await unscopedPrisma(db).memberEmail.findMany({
    where: { kind: 'text_test', member: { credentialId }, createdAt: { gt: new Date(now - HOUR_MS) } },
    orderBy: { createdAt: 'desc' },
    take: MAX_TEXT_TESTS,
    select: { createdAt: true },
  })
  const first = latest[MAX_TEXT_TESTS - 1]
  if (!first) return
  const seconds = Math.ceil((first.createdAt.getTime() + HOUR_MS - now) / 1_000)
  throwIfIssues([{ field: '', rule: 'account', problem: 'tooManyTests', limit: seconds }])
}
