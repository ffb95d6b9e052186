import { Type } from '@sinclair/typebox'
import type { Context } from '../../domain/context.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { inviteMember } from '../../domain/members/invite-member.ts'
import { changeMemberAndStatus } from '../../domain/members/manage-members.ts'
import { getMember } from '../../domain/members/members.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { managing } from './assessment-settings.routes.ts'
import { reportConflicts } from './conflicts.ts'
import { MemberChangeBody, NewMemberBody, OneMember } from './member-editing.view.ts'
import { memberView } from './members.view.ts'

const params = Type.Object({ memberId: Type.String({ format: 'uuid', description: 'Id of the member' }) })
const tags = ['Members']

const read = async (ctx: Context, id: string) => ({ member: memberView.present(await getMember(ctx, id)) })

/** Beyond v1.md: reads a member; invites and changes members except admins, for keys with the right to manage. */
export function memberEditingRoutes(app: TypedApp): void {
  app.get(
    '/members/:memberId',
    {
      schema: {
        tags,
        operationId: 'getMember',
        scope: 'members:read',
        summary: 'Get a member',
        description: 'One member of the organization, active or not.',
        params,
        response: { 200: OneMember },
        hasEtag: true,
        errors: ['member_not_found'],
      },
    },
    async ({ ctx, params }) => read(ctx, params.memberId),
  )

  app.post(
    '/members',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'inviteMember',
        scope: 'members:write',
        summary: 'Invite a member',
        description:
          'Mails a link to join the portal. The answer does not contain the link. If the address is a member’s, another link is mailed, and the roles are added.',
        headers: IdempotencyHeaders,
        body: NewMemberBody,
        response: { 201: OneMember },
        errors: ['admin_refused', 'state_conflict'],
      },
    },
    async (request, reply) => {
      const { email, firstName = '', lastName = '', roles, reactivate: reactivates = false } = request.body
      const invitation = { email, firstName, lastName, roles, mails: true, reactivates }
      return answerIdempotently(
        request,
        reply,
        async (ctx) => {
          const { memberId } = await reportConflicts(inviteMember(ctx, invitation))
          return { status: 201, body: await read(ctx, memberId) }
        },
        ({ member }) => `${app.prefix}/members/${member.id}`,
      )
    },
  )

  app.patch(
    '/members/:memberId',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'updateMember',
        scope: 'members:write',
        summary: 'Change a member',
        description: 'Omitted fields stay. Members with the role admin can be changed in the portal only (403).',
        params,
        body: MemberChangeBody,
        response: { 200: OneMember },
        errors: ['member_not_found', 'admin_refused'],
      },
    },
    async ({ ctx, params, body }) => {
      const { roles, department, active } = body
      await changeMemberAndStatus(ctx, params.memberId, omitUndefined({ roles, department, isActive: active }))
      return read(ctx, params.memberId)
    },
  )
}
