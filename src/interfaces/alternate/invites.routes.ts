import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Context } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { createInvite, resolveInviteReferences } from '../../domain/invites/create-invite.ts'
import { getInvite } from '../../domain/invites/invites.ts'
import type { InviteFilter } from '../../domain/invites/listing/invite-filter.ts'
import { listInvites } from '../../domain/invites/listing/list-invites.ts'
import type { FilterInput } from '../../domain/lists/filters.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { withMailDelay } from '../../http/sending/with-mail-delay.ts'
import { nestObjects } from './depth.ts'
import { readFields } from './fields.ts'
import { SearchFilter, TextFilter, UuidFilter } from './filters.ts'
import { inviteView, NewInviteBody, presentNewInvite, toNewInvite } from './invites.view.ts'
import { Envelope, IdParameter, ItemQuery, LIST_ORDER, ListQuery, presentPage } from './list.ts'
import type { SnakeCase } from './names.ts'
import type { AlternateSettings } from './settings.ts'

const filters = {
  search: SearchFilter('Free text in email or name of the assessment'),
  external_id: TextFilter('external_id, exact, case-sensitive'),
} satisfies { [Name in SnakeCase<keyof InviteFilter>]?: TSchema }
const Query = ListQuery({ organization: UuidFilter('Organization'), ...filters })

const toInviteFilter = (query: Static<typeof Query>): FilterInput<InviteFilter> => ({
  search: query.search,
  externalId: query.external_id,
  assessmentId: undefined,
  status: undefined,
  recipientEmail: undefined,
  recipient: undefined,
  tagId: undefined,
  assignedGraderId: undefined,
  statuses: undefined,
  sentFrom: undefined,
  sentTo: undefined,
  expiresFrom: undefined,
  expiresTo: undefined,
  updatedSince: undefined,
  source: undefined,
  isUndelivered: undefined,
  list: undefined,
})

const InOrganization = Type.Object({
  organization_id: Type.String({ format: 'uuid', description: "Id of the key's organization" }),
})
const IdInOrganization = Type.Object({ ...InOrganization.properties, ...IdParameter.properties })
const tags = ['Assessment invites']

/** alternate.md, GET and POST /assessment_invites, GET /assessment_invites/{id}. */
export function inviteRoutes(
  app: TypedApp,
  { prefix, expiresInDays, graderRequired }: AlternateSettings,
  variant: '' | 'OfOrganization',
): void {
  const isScoped = variant !== ''
  const ofOrganization = isScoped ? { params: InOrganization } : {}
  const scopeErrors = isScoped ? (['organization_forbidden'] as const) : []
  app.get(
    '/assessment_invites',
    {
      schema: {
        tags,
        operationId: `listAssessmentInvites${variant}`,
        scope: 'invites:read',
        summary: 'List invites of the organization',
        description: 'Oldest first.',
        ...ofOrganization,
        querystring: Query,
        response: { 200: Envelope(inviteView.schema) },
        errors: ['page_not_found', 'too_many_searches', ...scopeErrors],
      },
    },
    async (request, reply) => {
      const filter = omitUndefined(toInviteFilter(request.query))
      const page = await presentPage(
        request,
        (ctx, page) => listInvites(ctx, inviteView.shown, filter, LIST_ORDER, page),
        inviteView.present,
      )
      return nestObjects(request, reply, 'invite', page)
    },
  )

  const Body = NewInviteBody({ graderRequired })
  app.post(
    '/assessment_invites',
    {
      attachValidation: true,
      schema: {
        tags,
        operationId: `createAssessmentInvite${variant}`,
        scope: 'invites:write',
        summary: 'Create an invite',
        description:
          'Creates one invite and mails it to the candidate. If a daily limit delays the mail by more than an hour, the header `Mail-Delayed-Until` has the time at which it will be sent.',
        ...ofOrganization,
        headers: IdempotencyHeaders,
        body: Body,
        response: { 201: inviteView.schema },
        errors: ['duplicate_invite', ...scopeErrors],
      },
    },
    async (request, reply) => {
      const { body, validationError } = request
      if (validationError) throw await withUnknownIds(request.ctx, Body, body, validationError)
      return answerIdempotently(
        request,
        reply,
        async (ctx) => {
          const invite = await withMailDelay(ctx, reply, () => createInvite(ctx, toNewInvite(body, expiresInDays)))
          return { status: 201, body: presentNewInvite(invite) }
        },
        ({ id }) => `${prefix}/assessment_invites/${id}`,
      )
    },
  )

  app.get(
    '/assessment_invites/:id',
    {
      schema: {
        tags,
        operationId: `getAssessmentInvite${variant}`,
        scope: 'invites:read',
        summary: 'Get an invite',
        description: 'One invite of the organization.',
        params: isScoped ? IdInOrganization : IdParameter,
        querystring: ItemQuery,
        response: { 200: inviteView.schema },
        hasEtag: true,
        errors: ['invite_not_found', ...scopeErrors],
      },
    },
    async (request, reply) =>
      nestObjects(request, reply, 'invite', inviteView.present(await getInvite(request.ctx, request.params.id))),
  )
}

/** Adds unknown ids to the errors of a body, so that one response has all errors. */
async function withUnknownIds(ctx: Context, schema: TObject, body: unknown, error: Error): Promise<Error> {
  if (!(error instanceof DomainError)) return error
  const { value, issues } = readFields(schema, body)
  const { assessment, assigned_grader, tags = [] } = value as Partial<Static<ReturnType<typeof NewInviteBody>>>
  const references = await resolveInviteReferences(ctx, {
    ...(assessment && { assessmentId: assessment }),
    assignedGraderId: assigned_grader,
    tagIds: tags,
  })
  return new DomainError('invalid', { issues: [...issues, ...references.issues] })
}
