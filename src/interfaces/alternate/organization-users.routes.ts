import type { Static } from '@sinclair/typebox'
import type { Context } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { getMember, listMembers, type Member, type MemberFilter } from '../../domain/members/members.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { nestObjects } from './depth.ts'
import { BooleanFilter, SearchFilter, TextFilter, UuidFilter, UuidListFilter } from './filters.ts'
import { Envelope, IdParameter, ItemQuery, LIST_ORDER, ListQuery, presentPage } from './list.ts'
import { organizationUserView } from './organization-users.view.ts'

const Query = ListQuery({
  organization: UuidFilter('Organization'),
  tags: UuidListFilter('Ids of tags'),
  is_admin: BooleanFilter('true: users with the admin role; false: those without'),
  is_grader: BooleanFilter('true: users with the grader role; false: those without'),
  is_client: BooleanFilter('true: users with the client role; false: those without'),
  first_name: TextFilter('The full first name, in any case'),
  last_name: TextFilter('The full last name, in any case'),
  email: TextFilter('The full address, in any case'),
  search: SearchFilter('Free text in name or email'),
})
const tags = ['Organization users']

const toMemberFilter = (query: Static<typeof Query>): MemberFilter =>
  omitUndefined({
    status: 'active' as const,
    roles: omitUndefined({ admin: query.is_admin, grader: query.is_grader, client: query.is_client }),
    tagIds: query.tags,
    firstName: query.first_name,
    lastName: query.last_name,
    email: query.email,
    search: query.search,
  })

/** alternate.md, GET /organization_users and GET /organization_users/{id}: active users only. */
export function organizationUserRoutes(app: TypedApp): void {
  app.get(
    '/organization_users',
    {
      schema: {
        tags,
        operationId: 'listOrganizationUsers',
        scope: 'members:read',
        summary: 'List active users of the organization',
        description: 'Oldest first.',
        querystring: Query,
        response: { 200: Envelope(organizationUserView.schema) },
        errors: ['page_not_found'],
      },
    },
    async (request, reply) => {
      const filter = toMemberFilter(request.query)
      const page = await presentPage(
        request,
        (ctx, page) => listMembers(ctx, organizationUserView.shown, filter, LIST_ORDER, page),
        organizationUserView.present,
      )
      return nestObjects(request, reply, 'organization_user', page)
    },
  )

  app.get(
    '/organization_users/:id',
    {
      schema: {
        tags,
        operationId: 'getOrganizationUser',
        scope: 'members:read',
        summary: 'Get an organization user',
        description: 'One active user of the organization.',
        params: IdParameter,
        querystring: ItemQuery,
        response: { 200: organizationUserView.schema },
        hasEtag: true,
        errors: ['member_not_found'],
      },
    },
    async (request, reply) =>
      nestObjects(
        request,
        reply,
        'organization_user',
        organizationUserView.present(await getActiveMember(request.ctx, request.params.id)),
      ),
  )
}

/** This interface hides inactive members. @throws DomainError member_not_found. */
async function getActiveMember(ctx: Context, id: string): Promise<Member> {
  const member = await getMember(ctx, id)
  if (member.status !== 'active') throw new DomainError('member_not_found')
  return member
}
