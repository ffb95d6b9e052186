import { violatedConstraint } from '../../db/errors.ts'
import { anyOf } from '../../db/query.ts'
import { authorOf } from '../access/author.ts'
import type { MemberRole } from '../access/members.ts'
import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { inviteEvents } from '../events/event.ts'
import { recordEvents } from '../events/record.ts'
import { shareQuery } from '../shared-query.ts'
import { inTransaction } from '../transaction.ts'
import { queueInvitationEmail } from './emails.ts'
import type { Invite } from './invites.ts'

export type NewInvite = {
  assessmentId: string
  recipientEmail: string
  recipientName?: string | null
  questionReplayLimit: number
  answerRecordLimit: number
  /** Days from now; the default is 30. */
  expiresInDays?: number
  screenRecording: boolean
  webcamMonitoring: boolean
  requireIdCapture: boolean
  facePhotoRequired: boolean
  customMessage?: string
  assignedGraderId?: string | null
  tagIds?: string[]
  /** false: the organization sends the link itself; a resend is mailed as always. */
  sendEmail?: boolean
}

export const DEFAULT_EXPIRES_IN_DAYS = 30
const DAY_MS = 86_400_000
const GRADING_ROLES: readonly MemberRole[] = ['grader', 'admin']

/**
 * Makes an invite and queues its mail, unless that is not wanted; all of it or nothing (v1.md, POST /invites 1 to 6; alternate.md, POST /assessment_invites).
 *
 * @throws DomainError assessment_not_found or invalid, with an issue (rule `reference`) for each id that is not the organization's, or
 *   (rule `grader`) of a member who may not grade; duplicate_invite with the id of the invite that stands in the way.
 */
export async function createInvite(ctx: Context, input: NewInvite): Promise<Invite> {
  authorize(ctx, 'invite')
  const tagIds = [...new Set((input.tagIds ?? []).map((id) => id.toLowerCase()))]
  const assessment = await checkReferences(ctx, input, tagIds)
  const invite = await inTransaction(ctx, (inside) => insert(inside, input, tagIds)).catch((error) =>
    refuse(ctx, error, input, tagIds),
  )
  ctx.deps.metrics.inviteCreated()
  return { ...invite, assessment, tags: tagIds.map((tagId) => ({ tagId })) }
}

/** The time so many days later. */
export const expiryAfter = (now: Date, days: number): Date => new Date(now.getTime() + days * DAY_MS)

async function insert(ctx: Context, input: NewInvite, tagIds: string[]) {
  const { db, deps } = ctx
  const organizationId = ctx.organization.id
  const now = deps.clock()
  // No look first: the unique index decides, also between requests that race.
  const invite = await db.invite.create({
    data: {
      id: deps.newId(),
      organizationId,
      assessmentId: input.assessmentId,
      recipientEmail: input.recipientEmail,
      recipientName: input.recipientName ?? null,
      status: 'pending',
      questionReplayLimit: input.questionReplayLimit,
      answerRecordLimit: input.answerRecordLimit,
      screenRecording: input.screenRecording,
      webcamMonitoring: input.webcamMonitoring,
      requireIdCapture: input.requireIdCapture,
      facePhotoRequired: input.facePhotoRequired,
      customMessage: input.customMessage ?? '',
      ...authorOf(ctx),
      assignedGraderId: input.assignedGraderId ?? null,
      sentAt: now,
      expiresAt: expiryAfter(now, input.expiresInDays ?? DEFAULT_EXPIRES_IN_DAYS),
      createdAt: now,
      updatedAt: now,
    },
  })
  if (tagIds.length > 0) {
    await db.inviteTag.createMany({
      data: tagIds.map((tagId, position) => ({ organizationId, inviteId: invite.id, tagId, position })),
    })
  }
  const event = inviteEvents.created(invite)
  if (input.sendEmail ?? true) await queueInvitationEmail(ctx, invite, event)
  else await recordEvents(ctx, [event])
  return invite
}

/** The ids by which a new invite refers to others; those that were not given, or could not be read, are left out. */
type References = { assessmentId?: string; assignedGraderId?: string | null | undefined; tagIds: string[] }

/** @returns the assessment's name. @throws DomainError as createInvite does for unknown ids. */
async function checkReferences(ctx: Context, input: NewInvite, tagIds: string[]) {
  const { assessment, issues } = await resolveReferences(ctx, { ...input, tagIds })
  if (!assessment) throw new DomainError('assessment_not_found', { issues })
  if (issues.length > 0) throw new DomainError('invalid', { issues })
  return assessment
}

/** Looks all ids up at once, so that a caller can mend at once what is wrong. An issue for each that the invite can not refer to. */
export async function resolveReferences(ctx: Context, { assessmentId, assignedGraderId, tagIds }: References) {
  const { db } = ctx
  const organizationId = ctx.organization.id
  const own = (id: string) => ({ organizationId_id: { organizationId, id } })
  // One after the other: within a transaction they share a connection, and usually only the first is asked.
  const [assessment] = assessmentId ? await findNames(ctx, [assessmentId]) : []
  const grader = assignedGraderId
    ? await db.member.findUnique({ where: own(assignedGraderId), select: { status: true, roles: true } })
    : null
  const tags =
    tagIds.length > 0 ? await db.tag.findMany({ where: { organizationId, id: anyOf(tagIds) }, select: { id: true } }) : []
  const known = new Set(tags.map(({ id }) => id))
  const issues: Issue[] = []
  if (assessmentId && !assessment) issues.push(unknownId('assessmentId', assessmentId))
  if (assignedGraderId && !grader) issues.push(unknownId('assignedGraderId', assignedGraderId))
  else if (grader && !mayGrade(grader)) issues.push({ field: 'assignedGraderId', rule: 'grader', value: assignedGraderId })
  for (const id of new Set(tagIds)) if (!known.has(id)) issues.push(unknownId('tagIds', id))
  return { assessment, issues }
}

/** Admins may too: they read what candidates sent in as graders do. */
const mayGrade = ({ status, roles }: { status: string; roles: string[] }): boolean =>
  status === 'active' && GRADING_ROLES.some((role) => roles.includes(role))

const findNames = shareQuery<{ id: string; name: string }>((ctx, ids) =>
  ctx.db.assessment.findMany({
    where: { organizationId: ctx.organization.id, id: anyOf(ids) },
    select: { id: true, name: true },
  }),
)

/**
 * The database has the last word: an invite may be there already, and what it refers to may be deleted between the look and the insert.
 * A second look then says what it is.
 */
async function refuse(ctx: Context, error: unknown, input: NewInvite, tagIds: string[]): Promise<never> {
  const constraint = violatedConstraint(error)
  if (constraint === 'invites_recipient_key') throw new DomainError('duplicate_invite', await findDuplicate(ctx, input))
  if (constraint?.endsWith('_fkey')) await checkReferences(ctx, input, tagIds)
  throw error
}

const unknownId = (field: string, value: string): Issue => ({ field, rule: 'reference', value })

async function findDuplicate(ctx: Context, { assessmentId, recipientEmail }: NewInvite): Promise<{ existingId?: string }> {
  const [existing] = await ctx.db.$queryRaw<{ id: string }[]>`
    SELECT id FROM invites
    WHERE organization_id = ${ctx.organization.id}::uuid AND assessment_id = ${assessmentId}::uuid AND lower(recipient_email) = lower(${recipientEmail})`
  return existing ? { existingId: existing.id } : {}
}
