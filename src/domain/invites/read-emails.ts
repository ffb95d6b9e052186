import { anyOfIds } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Prisma, ReminderRule } from '../../generated/prisma/client.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import type { ServiceContext } from '../context.ts'
import { chooseCandidateLanguage, LANGUAGE_SOURCES, matchLanguage } from '../languages/choose-language.ts'
import { INVITATION_KINDS, isAutomatic, templateKindOf, WITHDRAWAL_KIND } from '../mails/candidate-mails.ts'
import { newestTexts } from '../mails/newest-texts.ts'
import { chooseText, mainLanguageOf, placesOf } from '../mails/template-places.ts'
import { BRAND } from '../ports/brand.ts'
import { zoneOf } from '../time/zones.ts'

const include = {
  invite: {
    include: {
      organization: {
        select: {
          ...BRAND,
          senderName: true,
          mailsPerDay: true,
          replyTo: true,
          invitationText: true,
          timeZone: true,
          weekDaysOff: true,
          candidateMails: true,
          mainTemplateLanguage: true,
          suspension: { select: { id: true } },
          ...LANGUAGE_SOURCES.organization,
        },
      },
      assessment: {
        select: {
          name: true,
          questionCount: true,
          timeLimit: true,
          submittedMail: true,
          releasedMail: true,
          ...LANGUAGE_SOURCES.assessment,
        },
      },
      createdBy: { include: { user: true } },
    },
  },
} satisfies Prisma.InviteEmailInclude

type WithInvite = Prisma.InviteEmailGetPayload<{ include: typeof include }>

/** One sending of an invite's mail, with everything that the mail shows. */
export type InviteEmail = WithInvite & {
  /** Response types of the assessment's questions. */
  answers: { responseType: string }[]
  /** The organization's or assessment's template that was used, or would be used now if not sent yet. Null: the service's own text. */
  template: { id: string; subject: string; body: string } | null
  /** Language of the email: the one it was sent in or, before that, the one it will be written in. */
  spoken: string
  /** Facts of a reminder or notice; null for requested mails. */
  byItself: AutomaticMailFacts | null
  /** State of the invitation that a withdrawal takes back; null for other mails. */
  invitation: InvitationState | null
}

/** `queued` while an invitation may still be on its way to the mail server. */
export type InvitationState = 'sent' | 'queued' | 'none'

/**
 * Facts that decide if a reminder or notice is still due.
 *
 * @property rules the organization's reminder rules. @property isShown true if the candidate sees a result.
 */
export type AutomaticMailFacts = { rules: ReminderRule[]; submittedAt: Date | null; deadlineAt: Date | null; isShown: boolean }

/** Emails with the rows that their invites share: most belong to few assessments. */
export async function readEmails(
  { db, deps }: ServiceContext,
  query: Omit<Prisma.InviteEmailFindManyArgs, 'include' | 'select'>,
): Promise<InviteEmail[]> {
  const emails = await db.inviteEmail.findMany({ ...query, include, relationLoadStrategy: 'join' })
  if (emails.length === 0) return []
  await loadZones(
    db,
    emails.map(({ invite }) => zoneOf(invite)),
  )
  const organizationIds = [...new Set(emails.map(({ organizationId }) => organizationId))]
  const assessmentIds = [...new Set(emails.map(({ invite }) => invite.assessmentId))]
  const where = { organizationId: anyOf(organizationIds), assessmentId: anyOf(assessmentIds) }
  const answers = await db.question.groupBy({ by: ['assessmentId', 'responseType'], where })
  const mailTexts = await findMailTexts({ db, deps }, emails, organizationIds)
  const byItself = await readAutomaticMailFacts(db, emails)
  const invitation = await readInvitationStates(db, emails)
  return emails.map((email) => ({
    ...email,
    answers: answers.filter(({ assessmentId }) => assessmentId === email.invite.assessmentId),
    ...mailTexts(email),
    byItself: byItself(email),
    invitation: invitation(email),
  }))
}

async function readInvitationStates(
  db: ServiceContext['db'],
  emails: WithInvite[],
): Promise<(email: WithInvite) => InvitationState | null> {
  const withdrawals = emails.filter(({ kind }) => kind === WITHDRAWAL_KIND)
  if (withdrawals.length === 0) return () => null
  const invitations = await db.inviteEmail.findMany({
    where: {
      organizationId: anyOf([...new Set(withdrawals.map(({ organizationId }) => organizationId))]),
      inviteId: anyOf(withdrawals.map(({ inviteId }) => inviteId)),
      kind: { in: [...INVITATION_KINDS] },
    },
    select: { organizationId: true, inviteId: true, state: true, sentAt: true },
  })
  return ({ kind, organizationId, inviteId }) => {
    if (kind !== WITHDRAWAL_KIND) return null
    const sendings = invitations.filter(
      (invitation) => invitation.organizationId === organizationId && invitation.inviteId === inviteId,
    )
    if (sendings.some(({ sentAt }) => sentAt !== null)) return 'sent'
    return sendings.some(({ state }) => state === 'queued') ? 'queued' : 'none'
  }
}

/** Finds the text and language of each email. */
async function findMailTexts(
  { db, deps: { languages } }: Pick<ServiceContext, 'db' | 'deps'>,
  emails: WithInvite[],
  organizationIds: string[],
) {
  const used = emails.flatMap(({ templateId }) => (templateId === null ? [] : [templateId]))
  const where = { organizationId: anyOf(organizationIds), id: anyOf(used) }
  const earlier = used.length > 0 ? await db.mailTemplate.findMany({ where }) : []
  const placesFor = ({ kind: emailKind, invite }: WithInvite) => {
    const kind = templateKindOf(emailKind)
    const place = kind && { kind, language: chooseCandidateLanguage(languages, invite), assessmentId: invite.assessmentId }
    return place ? placesOf(place, mainLanguageOf(languages, invite.organization)) : []
  }
  const places = emails.filter((email) => !wasSent(email)).flatMap(placesFor)
  const rows = unscoped(db).selectFrom('mailTemplates').where('organizationId', '=', anyOfIds(organizationIds))
  const newest = places.length > 0 ? await newestTexts(rows, places).execute() : []
  return (email: WithInvite): Pick<InviteEmail, 'template' | 'spoken'> => {
    const language = chooseCandidateLanguage(languages, email.invite)
    if (wasSent(email)) {
      const template = earlier.find(({ id }) => id === email.templateId) ?? null
      return { template, spoken: matchLanguage(email.language, languages.codes) ?? language }
    }
    const emailsOfOrganization = newest.filter(({ organizationId }) => organizationId === email.organizationId)
    const template = chooseText(placesFor(email), emailsOfOrganization)
    return { template, spoken: template?.language ?? language }
  }
}

const wasSent = ({ state }: Pick<WithInvite, 'state'>): boolean => state === 'sent' || state === 'captured'

/** Needs a few statements for all emails, and none if all are invitations. */
async function readAutomaticMailFacts(
  db: ServiceContext['db'],
  emails: WithInvite[],
): Promise<(email: WithInvite) => AutomaticMailFacts | null> {
  const automatic = emails.filter(({ kind }) => isAutomatic(kind))
  if (automatic.length === 0) return () => null
  const organizationId = anyOf([...new Set(automatic.map((email) => email.organizationId))])
  const inviteId = anyOf([...new Set(automatic.map((email) => email.inviteId))])
  const rules = await db.reminderRule.findMany({ where: { organizationId } })
  const submissions = await db.submission.findMany({
    where: { organizationId, inviteId },
    select: {
      id: true,
      submittedAt: true,
      deadlineAt: true,
      releases: { select: { toCandidate: true }, orderBy: { version: 'desc' }, take: 1 },
    },
  })
  const byId = new Map(submissions.map((submission) => [submission.id, submission]))
  return ({ kind, organizationId: owner, invite }) => {
    if (!isAutomatic(kind)) return null
    const submission = byId.get(invite.assessmentSession ?? '')
    return {
      rules: rules.filter((rule) => rule.organizationId === owner),
      submittedAt: submission?.submittedAt ?? null,
      deadlineAt: submission?.deadlineAt ?? null,
      isShown: submission?.releases[0]?.toCandidate ?? false,
    }
  }
}
