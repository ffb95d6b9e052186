import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, may } from '../../../domain/access/permissions.ts'
import { findAssessments } from '../../../domain/assessments/assessments.ts'
import { readCautions } from '../../../domain/assessments/cautions.ts'
import { isEmailAddress } from '../../../domain/checking/email-address.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { completeTerms } from '../../../domain/invites/assessment-terms.ts'
import { assignGrader, tagInvite, untagInvite } from '../../../domain/invites/change-invite.ts'
import { changeExpiry, correctInvite, replaceInvite } from '../../../domain/invites/correct-invite.ts'
import { createInvite } from '../../../domain/invites/create-invite.ts'
import { listInviteEmails } from '../../../domain/invites/emails.ts'
import {
  listAssessmentChoices,
  listChoices,
  listClientAssessments,
  listGraderChoices,
  listTagChoices,
  type Named,
} from '../../../domain/invites/form-options.ts'
import { getInvitationLink } from '../../../domain/invites/invitation-link.ts'
import { getInvite, INVITE_STATUSES, wholeInvite } from '../../../domain/invites/invites.ts'
import { listInviteTags } from '../../../domain/invites/list-invite-tags.ts'
import type { InviteFilter } from '../../../domain/invites/listing/filter.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { reactivateInvite, resendInvite, revokeInvite } from '../../../domain/invites/operations.ts'
import { findRetake, retakeInvite } from '../../../domain/invites/retake-invite.ts'
import { readTimeline } from '../../../domain/invites/timeline.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import type { Asked } from '../../../domain/lists/filters.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { listRequirements } from '../../../domain/submissions/reading/submission.ts'
import { waiveRequirement } from '../../../domain/submissions/reading/waive-requirement.ts'
import { defined } from '../../../domain/values/defined.ts'
import { isUuid } from '../../../domain/values/uuid.ts'
import { cautionsShown } from '../assessments/cautions.ts'
import { readNamed } from '../kit/choices.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readPage } from '../kit/paging.ts'
import { invitePage } from './invite.page.ts'
import { invitesPage, orders } from './invites.page.ts'
import { chosenIn, newInvitePage, readNumber, readTerms } from './new-invite.page.ts'

type InviteRoute = { Params: { inviteId: string } }
type Work = (ctx: Context, values: URLSearchParams) => Promise<unknown>

export function invitesRoutes(app: FastifyInstance): void {
  app.get('/invites', async (request, reply) => showList(request, reply))

  app.get('/invites/new', async (request, reply) => show(request, reply, await newPage(request, emptyForm)))

  app.post('/invites', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => newPage(request, form),
      async work(ctx, values) {
        const { recipientEmail, recipientName, assessmentId } = readFields(
          values,
          'recipientEmail',
          'recipientName',
          'assessmentId',
        )
        const recipient = { recipientEmail: recipientEmail.trim(), recipientName: recipientName.trim() || null }
        const terms = await completeTerms(ctx, assessmentId, readTerms(values))
        const { id } = await createInvite(ctx, { assessmentId, ...recipient, ...terms }).catch(sayInForm)
        return `${pathOf(ctx, `invites/${id}`)}?done=invited`
      },
    }),
  )

  app.get<InviteRoute & { Querystring: { done?: string } }>('/invites/:inviteId', async (request, reply) =>
    show(request, reply, await onePage(request, request.params.inviteId, emptyForm, request.query.done)),
  )

  changingRoutes(app)
  belongingsRoutes(app)
}

/** Does something with an invite, and shows it. */
const answer = (request: FastifyRequest<InviteRoute>, reply: FastifyReply, done: string, work: Work) =>
  submitOnce(request, reply, {
    page: (form) => onePage(request, request.params.inviteId, form),
    async work(ctx, values) {
      await work(ctx, values)
      return `${pathOf(ctx, `invites/${request.params.inviteId}`)}?done=${done}`
    },
  })

/** What moves an invite, or changes what it says. */
function changingRoutes(app: FastifyInstance): void {
  app.post<InviteRoute>('/invites/:inviteId/resend', (request, reply) =>
    answer(request, reply, 'resend', (ctx) => resendInvite(ctx, request.params.inviteId)),
  )

  app.post<InviteRoute>('/invites/:inviteId/extend', (request, reply) =>
    answer(request, reply, 'extend', (ctx, values) =>
      changeExpiry(ctx, request.params.inviteId, { expiresInDays: readDays(values) ?? -1 }),
    ),
  )

  app.post<InviteRoute>('/invites/:inviteId/correct', (request, reply) =>
    answer(request, reply, 'correct', (ctx, values) => {
      const given = readFields(values, 'recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit')
      return correctInvite(ctx, request.params.inviteId, {
        recipientName: given.recipientName.trim() || null,
        customMessage: given.customMessage,
        questionReplayLimit: readNumber(given.questionReplayLimit),
        answerRecordLimit: readNumber(given.answerRecordLimit),
      })
    }),
  )

  app.post<InviteRoute>('/invites/:inviteId/replace', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, request.params.inviteId, form),
      async work(ctx, values) {
        const { recipientEmail } = readFields(values, 'recipientEmail')
        const id = await replaceInvite(ctx, request.params.inviteId, recipientEmail.trim()).catch(sayInForm)
        return `${pathOf(ctx, `invites/${id}`)}?done=replaced`
      },
    }),
  )

  app.post<InviteRoute>('/invites/:inviteId/retake', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, request.params.inviteId, form),
      async work(ctx, values) {
        const { id } = await retakeInvite(ctx, request.params.inviteId, { expiresInDays: readDays(values) }).catch(sayInForm)
        return `${pathOf(ctx, `invites/${id}`)}?done=invited`
      },
    }),
  )

  app.post<InviteRoute>('/invites/:inviteId/revoke', (request, reply) =>
    answer(request, reply, 'revoke', (ctx) => revokeInvite(ctx, request.params.inviteId)),
  )

  app.post<InviteRoute>('/invites/:inviteId/reactivate', (request, reply) =>
    answer(request, reply, 'reactivate', (ctx, values) =>
      reactivateInvite(ctx, request.params.inviteId, {
        expiresInDays: readDays(values),
        afterDecline: values.get('afterDecline') === 'yes',
      }),
    ),
  )
}

/** What belongs to an invite: who grades it, what is waived, its tags. */
function belongingsRoutes(app: FastifyInstance): void {
  app.post<InviteRoute>('/invites/:inviteId/grader', (request, reply) =>
    answer(request, reply, 'grader', (ctx, values) => {
      const { assignedGraderId } = readFields(values, 'assignedGraderId')
      return assignGrader(ctx, request.params.inviteId, assignedGraderId || null)
    }),
  )

  app.post<InviteRoute>('/invites/:inviteId/waive', (request, reply) =>
    answer(request, reply, 'waive', (ctx, values) =>
      waiveRequirement(ctx, request.params.inviteId, readFields(values, 'requirement').requirement),
    ),
  )

  app.post<InviteRoute>('/invites/:inviteId/tags', (request, reply) =>
    answer(request, reply, 'tags', (ctx, values) => tagInvite(ctx, request.params.inviteId, readFields(values, 'tagIds').tagIds)),
  )

  app.post<{ Params: { inviteId: string; tagId: string } }>('/invites/:inviteId/tags/:tagId/remove', (request, reply) =>
    answer(request, reply, 'tags', (ctx) => untagInvite(ctx, request.params.inviteId, request.params.tagId)),
  )
}

const readDays = (values: URLSearchParams) => readNumber(readFields(values, 'expiresInDays').expiresInDays)

/** Who is invited already is a mistake in the form, at the address. */
function sayInForm(error: unknown): never {
  if (!(error instanceof DomainError)) throw error
  if (error.kind === 'assessment_not_found') throw new DomainError('invalid', { issues: error.issues })
  if (error.kind !== 'duplicate_invite') throw error
  throw new DomainError('invalid', { issues: [{ field: 'recipientEmail', rule: 'account', problem: 'invited' }] })
}

/** For the assessment that was chosen, or that the address asks for. */
async function newPage(request: FastifyRequest, form: Form) {
  const { ctx } = request
  authorize(ctx, 'invite')
  const query = queryOf(request)
  const named = readNamed(query)
  const assessmentId = query.get('assessment') ?? ''
  const choices = await listChoices(ctx, { named, chosenIds: [...chosenIn(form.values), assessmentId] })
  const [assessment] = await findAssessments(ctx, [assessmentId])
  const cautions =
    assessment !== undefined && cautionsShown({ ...(await readCautions(ctx, assessment)), open: 0 }, assessment.questionCount)
  return newInvitePage(form, { ctx, choices, named, assessmentId, cautions })
}

async function showList(request: FastifyRequest, reply: FastifyReply) {
  const { ctx } = request
  const values = queryOf(request)
  const { assessments, tags } = await findFilterChoices(ctx, values)
  const { sort } = readFields(values, 'sort')
  const { order } = (Object.hasOwn(orders, sort) ? orders[sort] : undefined) ?? orders.sent!
  const filter = readInviteFilter(ctx, values, assessments)
  try {
    const list = filter && (await listInvites(ctx, wholeInvite, filter, order, readPage(values, DEFAULT_PAGE_SIZE)))
    return show(request, reply, invitesPage({ values, issues: [] }, { ctx, assessments, tags, list }))
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
    const issues = error.issues.map((issue) => (issue.field === 'recipient' ? { ...issue, field: 'search' } : issue))
    return show(request, reply, invitesPage({ values, issues }, { ctx, assessments, tags, list: null }), 422)
  }
}

/** What the list can be filtered by. */
export async function findFilterChoices(ctx: Context, values: URLSearchParams): Promise<{ assessments: Named[]; tags: Named[] }> {
  const { assessment, tag } = readFields(values, 'assessment', 'tag')
  const wanted = { named: readNamed(values), chosenIds: [assessment, tag] }
  if (!may(ctx, 'read'))
    return { assessments: may(ctx, 'read_as_client') ? await listClientAssessments(ctx, wanted) : [], tags: [] }
  const [assessments, tags] = await Promise.all([listAssessmentChoices(ctx, wanted), listTagChoices(ctx, wanted)])
  return { assessments, tags }
}

/**
 * What the list's form asks for; what it can't ask for is left out. Of those who may not read everything a grader looks at what is
 * assigned to them, and a client at one assessment at a time, so that their lists are as cheap as everybody's.
 *
 * @returns null when there is nothing that they could look at.
 * @throws DomainError not_permitted for who is neither.
 */
export function readInviteFilter(ctx: Context, values: URLSearchParams, assessments: Named[]): InviteFilter | null {
  const filter = readFilter(values)
  if (may(ctx, 'read') || filter.assessmentId !== undefined) return filter
  if (ctx.actor.kind === 'member' && may(ctx, 'read_as_grader')) return { ...filter, assignedGraderId: ctx.actor.id }
  authorize(ctx, 'read_as_client')
  return assessments[0] ? { ...filter, assessmentId: assessments[0].id } : null
}

function readFilter(values: URLSearchParams): InviteFilter {
  const { state, assessment, tag, search } = readFields(values, 'state', 'assessment', 'tag', 'search')
  const typed = search.trim()
  const isAddress = isEmailAddress(typed)
  const asked: Asked<InviteFilter> = {
    status: INVITE_STATUSES.find((status) => status === state),
    assessmentId: isUuid(assessment) ? assessment : undefined,
    tagId: isUuid(tag) ? tag : undefined,
    recipientEmail: isAddress ? typed : undefined,
    recipient: isAddress ? undefined : typed,
    search: undefined,
    assignedGraderId: undefined,
    externalId: undefined,
    statuses: undefined,
    sentFrom: undefined,
    sentTo: undefined,
    expiresFrom: undefined,
    expiresTo: undefined,
    updatedSince: undefined,
  }
  return defined(asked)
}

async function onePage(request: FastifyRequest, id: string, form: Form, done?: string) {
  const { ctx } = request
  const named = readNamed(queryOf(request))
  const invite = await getInvite(ctx, id)
  const all = { number: 1, size: MAX_PAGE_SIZE }
  const emails = await listInviteEmails(ctx, id, { field: 'createdAt', direction: 'desc' }, all)
  const timeline = await readTimeline(ctx, id)
  const tags = await listInviteTags(ctx, id, { field: 'position', direction: 'asc' }, all)
  const [createdBy] = invite.createdById === null ? [] : await findMembers(ctx, [invite.createdById])
  const retake = invite.status === 'completed' ? await findRetake(ctx, invite) : null
  const operations = may(ctx, 'operate_invites')
    ? {
        ...(await getInvitationLink(ctx, id)),
        named,
        tagChoices: await listTagChoices(ctx, { named }),
        graders: await listGraderChoices(ctx, { named }),
        requirements: await listRequirements(ctx, invite),
      }
    : null
  return invitePage(form, { ctx, invite, createdBy, retake, tags: tags.items, emails: emails.items, timeline, operations, done })
}
