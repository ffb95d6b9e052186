import { holdCredential } from '../access/factors.ts'
import { authorize } from '../access/permissions.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { checkChoice, findIssues } from '../checking/checks.ts'
import { refuse } from '../checking/refuse.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_TEXT_TESTS } from '../limits.ts'
import { queueMemberEmail, type TestedText } from '../mails/member-emails.ts'
import { inTransaction } from '../transaction.ts'
import { findTemplateIssues, tidyTemplate, withStandIn } from './mail-templates.ts'

const HOUR_MS = 3_600_000

/**
 * Mails a text, as it stands in the form, to the context's member alone, at the address that they sign in with. It is of no invite: nothing is
 * counted, and no event tells of it.
 *
 * @returns the address.
 * @throws DomainError not_permitted; invalid: what can not be read, with its line, or `tooManyTests` with the seconds until the next.
 */
export async function testMailText(ctx: Context, { language, who, ...given }: TestedText): Promise<string> {
  authorize(ctx, 'manage_settings')
  const { actor } = ctx
  if (actor.kind !== 'member') throw new DomainError('not_permitted')
  const text = tidyTemplate(given)
  refuse([...findIssues([['language', checkChoice(language, ctx.deps.languages.codes)]]), ...findTemplateIssues(text)])
  return inTransaction(ctx, async (inside) => {
    const member = await inside.db.member.findUniqueOrThrow({ where: { id: actor.id }, include: { credential: true } })
    if (!member.credential) throw new DomainError('not_permitted')
    const { id: credentialId, email } = member.credential
    // In whichever organizations: it is one person's mailbox.
    await holdCredential(inside, credentialId)
    await limitTests(inside, credentialId)
    const facts = { who, ...(await withStandIn(inside, { language, ...text })) }
    await queueMemberEmail(inside, { kind: 'text_test', memberId: member.id, facts })
    await recordAudit(inside, { action: 'tested_mail_text', details: { language } })
    return email
  })
}

async function limitTests({ db, deps }: Context, credentialId: string): Promise<void> {
  const now = deps.clock().getTime()
  const latest = await db.memberEmail.findMany({
    where: { kind: 'text_test', member: { credentialId }, createdAt: { gt: new Date(now - HOUR_MS) } },
    orderBy: { createdAt: 'desc' },
    take: MAX_TEXT_TESTS,
    select: { createdAt: true },
  })
  const first = latest[MAX_TEXT_TESTS - 1]
  if (!first) return
  const seconds = Math.ceil((first.createdAt.getTime() + HOUR_MS - now) / 1_000)
  refuse([{ field: '', rule: 'account', problem: 'tooManyTests', limit: seconds }])
}
