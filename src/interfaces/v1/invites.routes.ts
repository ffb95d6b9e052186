import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { createInvite } from '../../domain/invites/create-invite.ts'
import { getInvite } from '../../domain/invites/invites.ts'
import type { InviteFilter } from '../../domain/invites/listing/invite-filter.ts'
import { listInvites } from '../../domain/invites/listing/list-invites.ts'
import { MAX_FILTER_LENGTH, MAX_FILTER_VALUES } from '../../domain/limits.ts'
import type { FilterInput } from '../../domain/lists/filters.ts'
import { onReplica } from '../../domain/lists/on-replica.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { DateTime, Email, InviteStatus, NonBlankText, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { withMailDelay } from '../../http/sending/with-mail-delay.ts'
import { inviteDetailView, inviteView, NewInviteBody, toNewInvite } from './invites.view.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'

const sortWords = { sent_at: 'sentAt', status: 'status', expires_at: 'expiresAt' } as const
const Time = (description: string) => Type.Optional(DateTime(description))
const toTime = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text))
const filters = {
  assessmentId: Type.Optional(Uuid('Only invites to this assessment')),
  assessment_id: Type.Optional(Uuid('The same as assessmentId')),
  status: Type.Optional({ ...InviteStatus, description: 'Only invites of this status' }),
  recipientEmail: Type.Optional(Email('Only invites to this address, in upper or lower case.')),
  recipient: Type.Optional(
    Type.String({
      maxLength: MAX_FILTER_LENGTH,
      description: 'Only invites with each of these words in the recipient’s name or address, in upper or lower case.',
    }),
  ),
  tagId: Type.Optional(Uuid('Only invites with this tag.')),
  externalId: Type.Optional(
    NonBlankText({
      maxLength: MAX_FILTER_LENGTH,
      description: 'Only invites with exactly this externalId.',
    }),
  ),
  statuses: Type.Optional(
    Type.Array(InviteStatus, {
      maxItems: MAX_FILTER_VALUES,
      description: 'Only invites of any of these statuses.',
    }),
  ),
  sentFrom: Time('Only invites sent at this time or later.'),
  sentTo: Time('Only invites sent before this time.'),
  expiresFrom: Time('Only invites that expire at this time or later.'),
  expiresTo: Time('Only invites that expire before this time.'),
  updatedSince: Time(
    'Only invites changed at this time or later. Changes can become visible late: subtract five minutes from the time at which you last began to read. The feed of events is exact.',
  ),
} satisfies { [Name in keyof InviteFilter | 'assessment_id']?: TSchema }
const Query = ListQuery(sortWords, filters)

const toInviteFilter = (query: Static<typeof Query>): FilterInput<InviteFilter> => ({
  assessmentId: query.assessmentId ?? query.assessment_id,
  status: query.status,
  recipientEmail: query.recipientEmail,
  recipient: query.recipient,
  tagId: query.tagId,
  externalId: query.externalId,
  search: undefined,
  assignedGraderId: undefined,
  statuses: query.statuses?.length === 0 ? undefined : query.statuses,
  sentFrom: toTime(query.sentFrom),
  sentTo: toTime(query.sentTo),
  expiresFrom: toTime(query.expiresFrom),
  expiresTo: toTime(query.expiresTo),
  updatedSince: toTime(query.updatedSince),
  source: undefined,
  isUndelivered: undefined,
  list: undefined,
})

const params = Type.Object({ inviteId: Type.String({ format: 'uuid', description: 'Id of the invite' }) })
export const NewInviteView = Type.Object({ invite: inviteView.schema }, { [NAME]: 'OneInvite', description: 'The invite' })
const tags = ['Invites']

/** v1.md, Invites. */
export function inviteRoutes(app: TypedApp): void {
  app.get(
    '/invites',
    {
      schema: {
        tags,
        operationId: 'listInvites',
        scope: 'invites:read',
        summary: 'List invites',
        description: 'The invites of the organization, by default the last sent first.',
        querystring: Query,
        response: { 200: ListOf('invites', inviteView.schema) },
        errors: ['too_many_searches'],
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const filter = omitUndefined(toInviteFilter(query))
      const list = await onReplica(ctx, (ctx) =>
        listInvites(ctx, inviteView.shown, filter, toOrder(sortWords, query), toPage(query)),
      )
      return answerList(request, reply, 'invites', list, inviteView.present)
    },
  )

  app.get(
    '/invites/:inviteId',
    {
      schema: {
        tags,
        operationId: 'getInvite',
        scope: 'invites:read',
        summary: 'Get an invite',
        description: 'One invite with all its settings.',
        params,
        response: { 200: inviteDetailView.schema },
        hasEtag: true,
        errors: ['invite_not_found'],
      },
    },
    async ({ ctx, params }) => inviteDetailView.present(await getInvite(ctx, params.inviteId)),
  )

  app.post(
    '/invites',
    {
      schema: {
        tags,
        operationId: 'createInvite',
        scope: 'invites:write',
        summary: 'Invite a candidate',
        description:
          'Creates one invite and mails it to the candidate, unless `sendEmail` is false. If a daily limit delays the mail by more than an hour, the header `Mail-Delayed-Until` has the time at which it will be sent.',
        headers: IdempotencyHeaders,
        body: NewInviteBody,
        response: { 201: NewInviteView },
        errors: ['assessment_not_found', 'duplicate_invite'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => {
          const create = () => createInvite(ctx, toNewInvite(request.body))
          const invite = request.body.sendEmail === false ? await create() : await withMailDelay(ctx, reply, create)
          return { status: 201, body: { invite: inviteView.present(invite) } }
        },
        ({ invite }) => `${app.prefix}/invites/${invite.id}`,
      ),
  )
}
