import { sql } from '../../db/builder.ts'
import { violatedConstraint } from '../../db/errors.ts'
import { anyOfIds, prepareScoped, type Selectable, type SqlBool, type Tables } from '../../db/queries.ts'
import { insertRows, type NewRows } from '../../db/writes.ts'
import { auditEntriesByMember } from '../audit/record-audit.ts'
import { authorOf, sourceOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { inviteCreated, type NewEvent } from '../events/event.ts'
import { eventRows } from '../events/record-events.ts'
import { matchLanguage } from '../languages/choose-language.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../limits.ts'
import { batchLoader } from '../loaders/batch-loader.ts'
import { mayGrade } from '../members/graders.ts'
import { findTagIds } from '../tags/tags.ts'
import { searchKey } from '../text/fold-text.ts'
import { daysAfter } from '../time/days.ts'
import { executeWrites } from '../transaction.ts'
import { issuesOfChangedFields } from '../validation/checks.ts'
import { toStoredAddress } from '../validation/email-address.ts'
import { throwIfIssues as refuseAll } from '../validation/throw-if-issues.ts'
import { newInvitationEmail } from './emails.ts'
import type { Invite } from './invites.ts'
import { checkNewInvite, type NewInvite, withDefaults } from './new-invite.ts'
import { findUnlistedHost } from './return-url.ts'

/**
 * Creates an invite and, unless sendEmail is false, queues its mail in the same transaction as its event (v1.md, POST /invites 1 to 6;
 * alternate.md, POST /assessment_invites).
 *
 * @param options.isOneOfMany true if it belongs to a batch, which is audited as a whole.
 * @param options.retakeOf the previous attempt, for the same address and assessment.
 * @param options.like invite that this one repeats. Its values are not refused again, such as imported ones beyond the limits.
 * @throws DomainError invalid with the issues of checkNewInvite; assessment_not_found or invalid, with an issue (rule `reference`) for each
 *   id that is not the organization's, or (rule `grader`) of a member who may not grade; duplicate_invite with the id of the existing
 *   invite.
 */
export async function createInvite(
  ctx: Context,
  newInvite: NewInvite,
  { isOneOfMany = false, retakeOf, like = retakeOf }: { isOneOfMany?: boolean; retakeOf?: Invite; like?: Invite } = {},
): Promise<Invite> {
  authorize(ctx, 'invite')
  const input = { ...newInvite, recipientEmail: toStoredAddress(newInvite.recipientEmail) }
  const refuseNew = (issues: Issue[]) => refuseAll(like ? issuesOfChangedFields<object>(issues, like, input) : issues)
  refuseNew(checkNewInvite(input))
  const tagIds = [...new Set((input.tagIds ?? []).map((id) => id.toLowerCase()))]
  const assessment = await checkReferences(ctx, input, tagIds)
  refuseNew(await findUnlistedHost(ctx, input.returnUrl))
  const invite = toInviteRow(ctx, { ...input, assessmentId: assessment.id }, (retakeOf?.attempt ?? 0) + 1)
  const auditEntries = isOneOfMany
    ? []
    : auditEntriesByMember(ctx, { action: 'invited', target: { kind: 'invite', id: invite.id } })
  const created = inviteCreated({ ...invite, ...(retakeOf && { retakeOf: retakeOf.id }) })
  await insert(ctx, invite, tagIds, [created], auditEntries, input.sendEmail ?? true).catch((error) =>
    throwConstraintError(ctx, error, input, { tagIds, attempt: retakeOf && invite.attempt }),
  )
  ctx.deps.metrics.inviteCreated()
  return { ...invite, assessmentName: assessment.name, tagIds, retakeOf: retakeOf?.id ?? null }
}

type InviteRow = Selectable<Tables['invites']>

function toInviteRow(ctx: Context, input: NewInvite, attempt: number): InviteRow {
  const now = ctx.deps.clock()
  const { assessmentId, recipientEmail, tagIds: _, expiresInDays = DEFAULT_EXPIRES_IN_DAYS, sendEmail: __, ...givenTerms } = input
  const terms = withDefaults(givenTerms)
  return {
    id: ctx.deps.newId(),
    organizationId: ctx.organization.id,
    assessmentId,
    recipientEmail,
    recipientNameSearch: terms.recipientName && searchKey(terms.recipientName),
    ...terms,
    assignedGraderId: terms.assignedGraderId?.toLowerCase() ?? null,
    language: matchLanguage(terms.language, ctx.deps.languages.codes),
    chosenLanguage: null,
    timeZone: null,
    remindersOff: false,
    ...authorOf(ctx),
    source: sourceOf(ctx),
    status: 'pending',
    attempt,
    linkVersion: 1,
    assessmentSession: null,
    waivedChecks: [],
    sentAt: now,
    expiresAt: daysAfter(now, expiresInDays),
    acceptedAt: null,
    startedAt: null,
    completedAt: null,
    revokedAt: null,
    declinedAt: null,
    createdAt: now,
    updatedAt: now,
  }
}

/** No query for a duplicate first: the unique index decides, also between concurrent requests. */
async function insert(
  ctx: Context,
  invite: InviteRow,
  tagIds: string[],
  events: NewEvent[],
  auditEntries: NewRows['auditEntries'],
  sendEmail: boolean,
): Promise<void> {
  const { id: inviteId, organizationId } = invite
  const mail = sendEmail ? await newInvitationEmail(ctx, invite, invite.createdAt) : undefined
  const insertion = insertRows(ctx.db, {
    invites: [invite],
    events: eventRows(ctx, events),
    inviteTags: tagIds.map((tagId, position) => ({ organizationId, inviteId, tagId, position })),
    inviteEmails: mail && [mail.record],
    auditEntries,
  })
  await executeWrites(ctx, mail ? [insertion, mail.job] : [insertion])
}

/** The ids that a new invite refers to; ids that were not given, or were invalid, are left out. */
type References = { assessmentId?: string; assignedGraderId?: string | null | undefined; tagIds: string[] }

/** @returns the assessment's id and name. @throws DomainError like createInvite for unknown ids. */
async function checkReferences(ctx: Context, input: NewInvite, tagIds: string[]) {
  const { assessment, issues } = await resolveInviteReferences(ctx, { ...input, tagIds })
  if (!assessment) throw new DomainError('assessment_not_found', { issues })
  if (issues.length > 0) throw new DomainError('invalid', { issues })
  return assessment
}

/** Checks all ids, so that a caller can correct all of them in one go. @returns an issue for each id that the invite cannot refer to. */
export async function resolveInviteReferences(ctx: Context, { assessmentId, assignedGraderId, tagIds }: References) {
  const { db } = ctx
  const organizationId = ctx.organization.id
  const keyOf = (id: string) => ({ organizationId_id: { organizationId, id } })
  // Sequential: within a transaction they share a connection, and usually only the first query is needed.
  const [assessment] = assessmentId ? await findNames(ctx, [assessmentId]) : []
  const grader = assignedGraderId
    ? await db.member.findUnique({ where: keyOf(assignedGraderId), select: { status: true, roles: true } })
    : null
  const tags = tagIds.length > 0 ? await findTagIds(ctx, tagIds) : new Set()
  const issues: Issue[] = []
  if (assessmentId && !assessment) issues.push(unknownId('assessmentId', assessmentId))
  if (assignedGraderId && !grader) issues.push(unknownId('assignedGraderId', assignedGraderId))
  if (assignedGraderId && grader && !mayGrade(grader)) {
    issues.push({ field: 'assignedGraderId', rule: 'grader', value: assignedGraderId })
  }
  for (const id of new Set(tagIds)) if (!tags.has(id)) issues.push(unknownId('tagIds', id))
  return { assessment, issues }
}

const findNames = batchLoader<{ id: string; name: string }>((ctx, ids) => assessmentNames(ctx.db, { ids }).execute())
const assessmentNames = prepareScoped((db, { ids }: { ids: string[] }) =>
  db.selectFrom('assessments').select(['id', 'name']).where('id', '=', anyOfIds(ids)),
)

/**
 * Translates a constraint violation: a duplicate invite, or a reference that was deleted after the check. A second check finds out which.
 */
async function throwConstraintError(
  ctx: Context,
  error: unknown,
  input: NewInvite,
  { tagIds, attempt }: { tagIds: string[]; attempt: number | undefined },
): Promise<never> {
  const constraint = violatedConstraint(error)
  if (constraint === 'invites_address_key') throw new DomainError('duplicate_invite', await findDuplicate(ctx, input, attempt))
  if (constraint?.endsWith('_fkey')) await checkReferences(ctx, input, tagIds)
  throw error
}

const unknownId = (field: string, value: string): Issue => ({ field, rule: 'reference', value })

/** The newest invite of the address, or that attempt of it. */
async function findDuplicate(
  ctx: Context,
  { assessmentId, recipientEmail }: NewInvite,
  attempt: number | undefined,
): Promise<{ existingId?: string }> {
  const toAddress = ctx.db
    .selectFrom('invites')
    .where('assessmentId', '=', assessmentId)
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('recipientEmail')}) = address_key(${recipientEmail})`)
  const wanted = attempt === undefined ? toAddress : toAddress.where('attempt', '=', attempt)
  const existing = await wanted.select('id').orderBy('attempt', 'desc').executeTakeFirst()
  return existing ? { existingId: existing.id } : {}
}
