import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import { findOtherInvites } from '../../../domain/candidates/read-candidate.ts'
import type { Context } from '../../../domain/context.ts'
import { assignGrader, tagInvite, untagInvite } from '../../../domain/invites/change-invite.ts'
import { changeExpiry, correctInvite, type NewExpiry, replaceInvite } from '../../../domain/invites/correct-invite.ts'
import { listInviteEmails } from '../../../domain/invites/emails.ts'
import { listGraderChoices, listTagChoices } from '../../../domain/invites/form-options.ts'
import { getInvitationLink } from '../../../domain/invites/invitation-link.ts'
import { getInvite, type InviteDetail } from '../../../domain/invites/invites.ts'
import { listInviteTags } from '../../../domain/invites/list-invite-tags.ts'
import { findUndelivered } from '../../../domain/invites/listing/row-extras.ts'
import { reactivateInvite, resendInvite, revokeInvite } from '../../../domain/invites/operate-invite.ts'
import { planReminders, switchReminders } from '../../../domain/invites/reminders/plan-reminders.ts'
import { findRetake, retakeInvite } from '../../../domain/invites/retake-invite.ts'
import { readTimeline } from '../../../domain/invites/timeline.ts'
import { MAX_PAGE_SIZE } from '../../../domain/limits.ts'
import { findMembers } from '../../../domain/members/members.ts'
import { findQueuedSubmission } from '../../../domain/submissions/grading/queue.ts'
import { findResult } from '../../../domain/submissions/grading/results.ts'
import { listRequirements } from '../../../domain/submissions/reading/submission.ts'
import { waiveRequirement } from '../../../domain/submissions/reading/waive-requirement.ts'
import { grantExtraTime } from '../../../domain/submissions/taking/grant-extra-time.ts'
import { readText } from '../../../http/forms/read-form.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, readFields } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { rethrowAsFormIssue } from './form-issues.ts'
import { invitePage } from './invite.page.ts'
import { readNumber } from './new-invite.page.ts'

type InviteRoute = { Params: { inviteId: string } }
type Change = (ctx: Context, id: string, values: URLSearchParams) => Promise<unknown>
/** @property work returns the id of the invite to show next: a new one if the action replaces the invite. */
type Operation = { done: string; work: (ctx: Context, id: string, values: URLSearchParams) => Promise<string> }

/** An action that changes the invite itself. */
const inPlace = (done: string, change: Change): Operation => ({
  done,
  async work(ctx, id, values) {
    await change(ctx, id, values)
    return id
  },
})

/** Actions on one invite, by the last segment of the address. */
const OPERATIONS: Record<string, Operation> = {
  resend: inPlace('resend', (ctx, id, values) =>
    resendInvite(ctx, id, { message: values.has('customMessage') ? readText(values, 'customMessage') : undefined }),
  ),
  extend: inPlace('extend', (ctx, id, values) => changeExpiry(ctx, id, readExpiry(values))),
  correct: inPlace('correct', (ctx, id, values) => correctInvite(ctx, id, readCorrection(values))),
  revoke: inPlace('revoke', (ctx, id) => revokeInvite(ctx, id)),
  reactivate: inPlace('reactivate', (ctx, id, values) =>
    reactivateInvite(ctx, id, { expiresInDays: readDays(values), afterDecline: values.get('afterDecline') === 'yes' }),
  ),
  replace: {
    done: 'replaced',
    work: (ctx, id, values) => replaceInvite(ctx, id, readFields(values, 'recipientEmail').recipientEmail.trim()),
  },
  retake: {
    done: 'invited',
    work: async (ctx, id, values) => (await retakeInvite(ctx, id, { expiresInDays: readDays(values) })).id,
  },
  grader: inPlace('grader', (ctx, id, values) =>
    assignGrader(ctx, id, readFields(values, 'assignedGraderId').assignedGraderId || null),
  ),
  'extra-time': inPlace('extra-time', (ctx, id, values) =>
    grantExtraTime(ctx, id, readNumber(readFields(values, 'extraTimePercent').extraTimePercent) ?? 0),
  ),
  waive: inPlace('waive', (ctx, id, values) => waiveRequirement(ctx, id, readFields(values, 'requirement').requirement)),
  'reminders-off': inPlace('reminders-off', (ctx, id) => switchReminders(ctx, id, false)),
  'reminders-on': inPlace('reminders-on', (ctx, id) => switchReminders(ctx, id, true)),
  tags: inPlace('tags', (ctx, id, values) => tagInvite(ctx, id, readFields(values, 'tagIds').tagIds)),
}

export function inviteRoutes(app: FastifyInstance): void {
  app.get<InviteRoute & { Querystring: { done?: string } }>('/invites/:inviteId', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm, { done: request.query.done })),
  )

  for (const [name, operation] of Object.entries(OPERATIONS))
    app.post<InviteRoute>(`/invites/:inviteId/${name}`, (request, reply) => runOperation(request, reply, operation, name))

  app.post<{ Params: { inviteId: string; tagId: string } }>('/invites/:inviteId/tags/:tagId/remove', (request, reply) =>
    runOperation(
      request,
      reply,
      inPlace('tags', (ctx, id) => untagInvite(ctx, id, request.params.tagId)),
    ),
  )
}

/** @param sent name of the form. */
const runOperation = (request: FastifyRequest<InviteRoute>, reply: FastifyReply, { done, work }: Operation, sent?: string) =>
  submitOnce(request, reply, {
    page: (form) => onePage(request, form, { sent }),
    work: async (ctx, values) =>
      `${pathOf(ctx, `invites/${await work(ctx, request.params.inviteId, values).catch(rethrowAsFormIssue)}`)}?done=${done}`,
  })

function readExpiry(values: URLSearchParams): NewExpiry {
  if (values.get('by') === 'date') return { expiresOn: readFields(values, 'expiresOn').expiresOn }
  return { expiresInDays: readDays(values) ?? -1 }
}

const readDays = (values: URLSearchParams) => readNumber(readFields(values, 'expiresInDays').expiresInDays)

function readCorrection(values: URLSearchParams) {
  const fields = readFields(values, 'recipientName', 'customMessage', 'questionReplayLimit', 'answerRecordLimit')
  return {
    recipientName: fields.recipientName.trim() || null,
    customMessage: fields.customMessage,
    questionReplayLimit: readNumber(fields.questionReplayLimit),
    answerRecordLimit: readNumber(fields.answerRecordLimit),
  }
}

async function onePage(
  request: FastifyRequest<InviteRoute>,
  form: Form,
  { done, sent }: { done?: string | undefined; sent?: string | undefined },
) {
  const { ctx } = request
  const id = request.params.inviteId
  const invite = await getInvite(ctx, id)
  const firstPage = { number: 1, size: MAX_PAGE_SIZE }
  const emails = await listInviteEmails(ctx, id, { field: 'createdAt', direction: 'desc' }, firstPage)
  const tags = await listInviteTags(ctx, id, { field: 'position', direction: 'asc' }, firstPage)
  const [createdBy] = invite.createdById === null ? [] : await findMembers(ctx, [invite.createdById])
  const isSubmitted = invite.status === 'completed'
  return invitePage(form, {
    ctx,
    invite,
    createdBy,
    retake: isSubmitted ? await findRetake(ctx, invite) : null,
    tags: tags.items,
    emails: emails.items,
    isUndelivered: (await findUndelivered(ctx, [invite])).has(invite.id),
    reminders: await planReminders(ctx, id),
    timeline: await readTimeline(ctx, id),
    queued: isSubmitted ? await findQueuedSubmission(ctx, id) : null,
    released: isSubmitted ? await findResult(ctx, id) : null,
    siblingInvites: await findOtherInvites(ctx, invite),
    operations: may(ctx, 'operate_invites') ? await readOperations(ctx, invite, readNameFilter(queryOf(request))) : null,
    done,
    sent,
  })
}

const readOperations = async (ctx: Context, invite: InviteDetail, named: string) => ({
  ...(await getInvitationLink(ctx, invite.id)),
  named,
  tagChoices: await listTagChoices(ctx, { named }),
  graders: await listGraderChoices(ctx, { named }),
  requirements: await listRequirements(ctx, invite),
})
