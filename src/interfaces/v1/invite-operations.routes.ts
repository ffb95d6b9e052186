import { Type } from '@sinclair/typebox'
import { editInvite } from '../../domain/invites/correct-invite.ts'
import { listInviteEmails } from '../../domain/invites/emails.ts'
import { getInvitationLink } from '../../domain/invites/invitation-link.ts'
import { getInvite, type InviteDetail } from '../../domain/invites/invites.ts'
import { listInviteTags } from '../../domain/invites/list-invite-tags.ts'
import { extendInvite, reactivateInvite, resendInvite, revokeInvite } from '../../domain/invites/operate-invite.ts'
import { planReminders } from '../../domain/invites/reminders/plan-reminders.ts'
import { retakeInvite } from '../../domain/invites/retake-invite.ts'
import { MAX_RESENDS } from '../../domain/limits.ts'
import { grantExtraTime } from '../../domain/submissions/taking/grant-extra-time.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { StringEnum } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { withMailDelay } from '../../http/sending/with-mail-delay.ts'
import {
  AccommodationsBody,
  ExtensionBody,
  InviteChangeBody,
  InviteEmailView,
  InviteLinkView,
  InviteMessageView,
  PlannedReminderView,
  presentAccommodations,
  presentInviteEmail,
  presentInviteLink,
  presentInviteMessage,
  presentPlannedReminder,
  ReactivationBody,
  RetakeBody,
  toEdits,
} from './invite-operations.view.ts'
import { NewInviteView } from './invites.routes.ts'
import { inviteDetailView, inviteView } from './invites.view.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { tagSortWords } from './tags.routes.ts'
import { tagView } from './tags.view.ts'

const emailSortWords = { created_at: 'createdAt' } as const
const inviteTagSortWords = { position: 'position', ...tagSortWords } as const
const inviteTagOrder = Type.Optional(
  StringEnum(['asc', 'desc'], { description: 'Direction; default: asc for position, otherwise desc' }),
)
export const InviteParams = Type.Object({ inviteId: Type.String({ format: 'uuid', description: 'Id of the invite' }) })
export const MovedInviteView = Type.Object(
  { invite: inviteDetailView.schema },
  { [NAME]: 'OneInviteDetail', description: 'The invite as it is now' },
)
const ChangedInviteView = Type.Object(
  { invite: inviteDetailView.schema },
  { [NAME]: 'ChangedInvite', description: 'The invite as it is now' },
)
const tags = ['Invite operations']

const operation = (operationId: string, summary: string, description: string) => ({
  tags,
  operationId,
  scope: 'invites:write' as const,
  summary,
  description,
  params: InviteParams,
  headers: IdempotencyHeaders,
  response: { 200: MovedInviteView },
  errors: ['invite_not_found', 'move_not_allowed'] as const,
})

/** Response with the changed invite. */
export const answerInvite = async (invite: Promise<InviteDetail>) => ({
  status: 200,
  body: { invite: inviteDetailView.present(await invite) },
})

/** Beyond v1.md: changes, resends, extends, revokes, and reactivates an invite, and reads its mails, link, and tags. */
export function inviteOperationRoutes(app: TypedApp): void {
  changingRoute(app)
  movingRoutes(app)
  retakeRoute(app)
  accommodationRoutes(app)
  belongingsRoutes(app)
}

function changingRoute(app: TypedApp): void {
  app.patch(
    '/invites/:inviteId',
    {
      schema: {
        tags,
        operationId: 'changeInvite',
        scope: 'invites:write',
        summary: 'Change an invite',
        description:
          'Changes tags, grader, expiry and, while the invite is pending, name, message, and limits: all of them, or none. A field that has its value already is not a change. Sent mails stay as they are.',
        params: InviteParams,
        body: InviteChangeBody,
        response: { 200: ChangedInviteView },
        errors: ['invite_not_found', 'move_not_allowed'],
      },
    },
    async ({ ctx, params, body }) => ({
      invite: inviteDetailView.present(await editInvite(ctx, params.inviteId, toEdits(body))),
    }),
  )
}

function movingRoutes(app: TypedApp): void {
  app.post(
    '/invites/:inviteId/resend',
    {
      schema: {
        ...operation(
          'resendInvite',
          'Resend the invitation',
          `A new message with the same link, to an invite that is pending, accepted or started. Once a minute, five times a day, and ${MAX_RESENDS} times in all, reactivations included.`,
        ),
        errors: ['invite_not_found', 'move_not_allowed', 'too_many_mails'],
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, (ctx) =>
        answerInvite(withMailDelay(ctx, reply, () => resendInvite(ctx, request.params.inviteId))),
      ),
  )

  app.post(
    '/invites/:inviteId/extend',
    {
      schema: {
        ...operation('extendInvite', 'Move the expiry', 'Moves the expiry of a pending or accepted invite to a later time.'),
        body: ExtensionBody,
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, (ctx) => answerInvite(extendInvite(ctx, request.params.inviteId, request.body))),
  )

  app.post(
    '/invites/:inviteId/revoke',
    {
      schema: operation(
        'revokeInvite',
        'Revoke an invite',
        'Revokes a pending, accepted, or started invite: its link stops working.',
      ),
    },
    async (request, reply) =>
      answerIdempotently(request, reply, (ctx) => answerInvite(revokeInvite(ctx, request.params.inviteId))),
  )

  app.post(
    '/invites/:inviteId/reactivate',
    {
      schema: {
        ...operation(
          'reactivateInvite',
          'Reactivate an invite',
          'Makes an expired or revoked invite pending again and mails a new link; earlier links stop working. The limits of resending apply. A declined invite needs `afterDecline: true`.',
        ),
        errors: ['invite_not_found', 'move_not_allowed', 'invite_declined', 'too_many_mails'],
        body: ReactivationBody,
      },
    },
    async (request, reply) =>
      answerIdempotently(request, reply, (ctx) =>
        answerInvite(withMailDelay(ctx, reply, () => reactivateInvite(ctx, request.params.inviteId, request.body))),
      ),
  )
}

/** Invites a candidate who has completed the assessment to another attempt. */
function retakeRoute(app: TypedApp): void {
  app.post(
    '/invites/:inviteId/retake',
    {
      schema: {
        tags,
        operationId: 'retakeInvite',
        scope: 'invites:write',
        summary: 'Invite a candidate to another attempt',
        description:
          'Invites the candidate of a completed invite to the same assessment once more, with the same settings. The new invite names the completed one in `retakeOf`. Each invite has one retake: a second request is a 409 that links the first’s.',
        params: InviteParams,
        headers: IdempotencyHeaders,
        body: RetakeBody,
        response: { 201: NewInviteView },
        errors: ['invite_not_found', 'move_not_allowed', 'duplicate_invite'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => {
          const retake = await withMailDelay(ctx, reply, () => retakeInvite(ctx, request.params.inviteId, request.body))
          return { status: 201, body: { invite: inviteView.present(retake) } }
        },
        ({ invite }) => `${app.prefix}/invites/${invite.id}`,
      ),
  )
}

function accommodationRoutes(app: TypedApp): void {
  const common = { tags, params: InviteParams, response: { 200: AccommodationsBody } }

  app.get(
    '/invites/:inviteId/accommodations',
    {
      schema: {
        ...common,
        operationId: 'getInviteAccommodations',
        scope: 'invites:read',
        summary: "Read a candidate's accommodations",
        description: 'The candidate’s extra time.',
        hasEtag: true,
        errors: ['invite_not_found'],
      },
    },
    async ({ ctx, params }) => presentAccommodations(await getInvite(ctx, params.inviteId)),
  )

  app.put(
    '/invites/:inviteId/accommodations',
    {
      schema: {
        ...common,
        operationId: 'putInviteAccommodations',
        scope: 'invites:write',
        summary: 'Give a candidate extra time',
        description:
          'Extends the time for each question and for the whole assessment, for a pending, accepted, or started invite. After the start, running deadlines move at once and never to an earlier time, so the value can only be raised. No reason is stored, and graders do not see it.',
        body: AccommodationsBody,
        errors: ['invite_not_found', 'move_not_allowed'],
      },
    },
    async ({ ctx, params, body }) => {
      await grantExtraTime(ctx, params.inviteId, body.extraTimePercent)
      return presentAccommodations(await getInvite(ctx, params.inviteId))
    },
  )
}

function belongingsRoutes(app: TypedApp): void {
  app.get(
    '/invites/:inviteId/emails',
    {
      schema: {
        tags,
        operationId: 'listInviteEmails',
        scope: 'invites:read',
        summary: 'List the sendings of an invitation',
        description: 'Each sending of the invitation, with its state.',
        params: InviteParams,
        querystring: ListQuery(emailSortWords, {}),
        response: { 200: ListOf('emails', InviteEmailView) },
        errors: ['invite_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const order = toOrder(emailSortWords, query)
      const list = await listInviteEmails(ctx, params.inviteId, order, toPage(query), 'invitations')
      return answerList(request, reply, 'emails', list, (email) => presentInviteEmail(email, ctx.deps.clock()))
    },
  )

  app.get(
    '/invites/:inviteId/messages',
    {
      schema: {
        tags,
        operationId: 'listInviteMessages',
        scope: 'invites:read',
        summary: 'List all mails about an invite',
        description:
          'Each mail about the invite: invitations, reminders, and notices, with the reason if it bounced or was not sent, and the reminders that are planned or were skipped.',
        params: InviteParams,
        querystring: ListQuery(emailSortWords, {}),
        response: { 200: ListOf('messages', InviteMessageView, { reminders: Type.Array(PlannedReminderView) }) },
        errors: ['invite_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const list = await listInviteEmails(ctx, params.inviteId, toOrder(emailSortWords, query), toPage(query))
      const reminders = await planReminders(ctx, params.inviteId)
      const answer = answerList(request, reply, 'messages', list, (email) => presentInviteMessage(email, ctx.deps.clock()))
      return { ...answer, reminders: reminders.map(presentPlannedReminder) }
    },
  )

  app.get(
    '/invites/:inviteId/link',
    {
      schema: {
        tags,
        operationId: 'getInviteLink',
        scope: 'invites:write',
        summary: "Get the candidate's link",
        description:
          'For delivering the link yourself. Whoever has the link can act as the candidate. It is returned in any status; the link of a closed invite leads to a page that says so. Reactivating creates a new link. Never cached.',
        params: InviteParams,
        response: { 200: InviteLinkView },
        errors: ['invite_not_found'],
      },
    },
    async ({ ctx, params }, reply) => {
      reply.header('cache-control', 'no-store')
      return presentInviteLink(await getInvitationLink(ctx, params.inviteId))
    },
  )

  app.get(
    '/invites/:inviteId/tags',
    {
      schema: {
        tags,
        operationId: 'listInviteTags',
        scope: 'invites:read',
        summary: "List an invite's tags",
        description: 'By default in the order in which they were assigned.',
        params: InviteParams,
        querystring: ListQuery(inviteTagSortWords, { order: inviteTagOrder }),
        response: { 200: ListOf('tags', tagView.schema) },
        errors: ['invite_not_found'],
      },
    },
    async (request, reply) => {
      const { ctx, params, query } = request
      const direction = (query.sort ?? 'position') === 'position' ? 'asc' : 'desc'
      const order = toOrder(inviteTagSortWords, { order: direction, ...query })
      return answerList(request, reply, 'tags', await listInviteTags(ctx, params.inviteId, order, toPage(query)), tagView.present)
    },
  )
}
