import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, may } from '../../../domain/access/permissions.ts'
import { findAssessments } from '../../../domain/assessments/assessments.ts'
import { readCautions } from '../../../domain/assessments/cautions.ts'
import type { Context } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { completeTerms } from '../../../domain/invites/assessment-terms.ts'
import { assignGrader, tagInvite, untagInvite } from '../../../domain/invites/change-invite.ts'
import { changeExpiry, correctInvite, replaceInvite } from '../../../domain/invites/correct-invite.ts'
import { createInvite } from '../../../domain/invites/create-invite.ts'
import { listInviteEmails } from '../../../domain/invites/emails.ts'
import { listChoices, listGraderChoices, listTagChoices } from '../../../domain/invites/form-options.ts'
import { getInvitationLink } from '../../../domain/invites/invitation-link.ts'
import { getInvite, wholeInvite } from '../../../domain/invites/invites.ts'
import { listInviteTags } from '../../../domain/invites/list-invite-tags.ts'
import type { InviteFilter } from '../../../domain/invites/listing/filter.ts'
import { listInvites } from '../../../domain/invites/listing/list-invites.ts'
import { reactivateInvite, resendInvite, revokeInvite } from '../../../domain/invites/operations.ts'
import { readStates, type StateCounts } from '../../../domain/invites/overview/count-states.ts'
import { findRetake, retakeInvite } from '../../../domain/invites/retake-invite.ts'
import { deleteSavedFilter, listSavedFilters, saveFilter } from '../../../domain/invites/saved-filters.ts'
import { readTimeline } from '../../../domain/invites/timeline.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { listRequirements } from '../../../domain/submissions/reading/submission.ts'
import { waiveRequirement } from '../../../domain/submissions/reading/waive-requirement.ts'
import { giveExtraTime } from '../../../domain/submissions/taking/give-extra-time.ts'
import { defined } from '../../../domain/values/defined.ts'
import { cautionsShown } from '../assessments/cautions.ts'
import { readNamed } from '../kit/choices.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { pageSizeOf, queryOf, readPage, readSort } from '../kit/paging.ts'
import { mayReadInvites } from '../kit/sidebar.ts'
import { invitePage } from './invite.page.ts'
import { invitesPage, orders } from './invites.page.ts'
import { chosenIn, newInvitePage, readNumber, readTerms } from './new-invite.page.ts'
import { findFilterChoices, readInviteFilter } from './read-filter.ts'
import { keptQuery } from './saved-filters.ts'

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
  savedFilterRoutes(app)
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

  app.post<InviteRoute>('/invites/:inviteId/extra-time', (request, reply) =>
    answer(request, reply, 'extra-time', (ctx, values) =>
      giveExtraTime(ctx, request.params.inviteId, readNumber(readFields(values, 'extraTimePercent').extraTimePercent) ?? 0),
    ),
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
  const values = queryOf(request)
  const page = await listPage(request, { values, issues: [] })
  return show(request, reply, page, page.isRefused ? 422 : 200)
}

/** @param saving what was typed to keep the filter. */
async function listPage(request: FastifyRequest, form: Form, saving: Form = emptyForm) {
  const { ctx } = request
  const { values } = form
  const { assessments, tags } = await findFilterChoices(ctx, values)
  const filter = readInviteFilter(ctx, values, assessments)
  const counts = filter && (await countTabs(ctx, filter))
  const facts = { ctx, assessments, tags, counts, saved: await listSavedFilters(ctx), saving }
  try {
    const order = orders[readSort(values, orders)]!
    const list = filter && (await listInvites(ctx, wholeInvite, filter, order, readPage(values, pageSizeOf(request))))
    return { ...invitesPage(form, { ...facts, list }), isRefused: false }
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== 'invalid') throw error
    const issues = error.issues.map((issue) => (issue.field === 'recipient' ? { ...issue, field: 'search' } : issue))
    return { ...invitesPage({ values, issues }, { ...facts, list: null }), isRefused: true }
  }
}

/** What narrows the list, kept under a name. */
function savedFilterRoutes(app: FastifyInstance): void {
  app.post('/invites/filters', (request, reply) => {
    if (!mayReadInvites(request.ctx)) throw new DomainError('not_permitted')
    const asked = (values: URLSearchParams) => new URLSearchParams(readFields(values, 'query').query)
    return submitOnce(request, reply, {
      page: (form) => listPage(request, { values: asked(form.values), issues: [] }, form),
      async work(ctx, values) {
        const query = keptQuery(asked(values))
        const name = readFields(values, 'filterName').filterName
        await saveFilter(ctx, { name, query, isShared: values.get('shared') === 'yes' })
        return `${pathOf(ctx, 'invites')}?${query}`
      },
    })
  })

  app.post<{ Params: { filterId: string } }>('/invites/filters/:filterId/delete', async (request, reply) => {
    if (!mayReadInvites(request.ctx)) throw new DomainError('not_permitted')
    await deleteSavedFilter(request.ctx, request.params.filterId)
    return reply.redirect(pathOf(request.ctx, 'invites'), 303)
  })
}

/** How many invites each tab has, where that is kept: under no other filter than an assessment's. */
async function countTabs(ctx: Context, { status: _, assessmentId, ...others }: InviteFilter): Promise<StateCounts | null> {
  return Object.keys(others).length === 0 ? readStates(ctx, defined({ assessmentId })) : null
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
