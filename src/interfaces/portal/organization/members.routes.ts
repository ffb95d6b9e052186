import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { listTagChoices } from '../../../domain/invites/form-options.ts'
import { inviteMember, resendJoinLink } from '../../../domain/members/invite-member.ts'
import { changeMember, deactivateMember, listLanguages, reactivateMember } from '../../../domain/members/manage-members.ts'
import { getMember, listMembers, MEMBER_ROLES, type MemberFilter, wholeMember } from '../../../domain/members/members.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { readNamed } from '../kit/choices.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList, readSort } from '../kit/paging.ts'
import { inviteMemberPage, joinLinkPage, MEMBER_ORDERS, memberPage, membersPage } from './members.page.ts'

type MemberRoute = { Params: { memberId: string } }

export function membersRoutes(app: FastifyInstance): void {
  app.get('/members', async (request, reply) => {
    const { ctx } = request
    authorize(ctx, 'manage_members')
    const query = queryOf(request)
    const order = MEMBER_ORDERS[readSort(query, MEMBER_ORDERS)]
    const found = await readList(request, (page) => listMembers(ctx, wholeMember, readMemberFilter(query), order, page))
    return show(request, reply, membersPage(ctx, found))
  })

  app.get('/members/invite', async (request, reply) => {
    authorize(request.ctx, 'manage_members')
    return show(request, reply, inviteMemberPage(request.ctx, emptyForm))
  })

  app.post('/members/invite', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => inviteMemberPage(request.ctx, form),
      async work(ctx, values) {
        const email = readFields(values, 'email').email.trim()
        const reactivates = values.getAll('reactivate').includes(email)
        const link = await inviteMember(ctx, { email, roles: readRoles(values), mails: true, reactivates })
        return joinLinkPage(ctx, { email, ...link })
      },
    }),
  )

  app.get<MemberRoute>('/members/:memberId', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post<MemberRoute>('/members/:memberId', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { memberId } = request.params
        const { department } = readFields(values, 'department')
        const change = {
          department,
          roles: readRoles(values),
          tagIds: values.getAll('tags'),
          languageIds: values.getAll('languages'),
        }
        await changeMember(request.ctx, memberId, change, findSeen(values))
        return addressAfter(request.ctx, memberId, 'saved')
      },
    }),
  )

  for (const [action, done, change] of [
    ['deactivate', 'deactivated', deactivateMember],
    ['reactivate', 'reactivated', reactivateMember],
  ] as const)
    app.post<MemberRoute>(`/members/:memberId/${action}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form),
        async work() {
          await change(request.ctx, request.params.memberId)
          return addressAfter(request.ctx, request.params.memberId, done)
        },
      }),
    )

  app.post<MemberRoute>('/members/:memberId/link', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, form),
      async work(ctx) {
        const { email } = await getMember(ctx, request.params.memberId)
        return joinLinkPage(ctx, { email, ...(await resendJoinLink(ctx, request.params.memberId)) })
      },
    }),
  )
}

async function onePage(request: FastifyRequest<MemberRoute>, form: Form, done = '') {
  const { ctx, params } = request
  const named = readNamed(queryOf(request))
  authorize(ctx, 'manage_members')
  const member = await getMember(ctx, params.memberId)
  const tags = await listTagChoices(ctx, { named, chosenIds: [...member.tagIds, ...form.values.getAll('tags')] })
  return memberPage(form, { ctx, member, tags, named, languages: await listLanguages(ctx), done })
}

/** Who has changed what they are themselves may not see the page any more. */
const addressAfter = (ctx: Context, memberId: string, done: string): string =>
  ctx.actor.kind === 'member' && ctx.actor.id === memberId ? PORTAL_PREFIX : `${pathOf(ctx, `members/${memberId}`)}?done=${done}`

const readRoles = (values: URLSearchParams) => MEMBER_ROLES.filter((role) => values.getAll('roles').includes(role))

/** What the address of the list asks for. */
export function readMemberFilter(values: URLSearchParams): MemberFilter {
  const { status, role, search } = readFields(values, 'status', 'role', 'search')
  return {
    search,
    ...((status === 'active' || status === 'inactive') && { status }),
    ...(MEMBER_ROLES.some((known) => known === role) && { roles: { [role]: true } }),
  }
}
