import type { FastifyInstance, FastifyRequest } from 'fastify'
import { findWorkingKeysOf } from '../../../domain/api-keys/manage-keys.ts'
import { authorize, may, PORTAL_ROLES } from '../../../domain/authorization/permissions.ts'
import { type Context, inMode } from '../../../domain/context.ts'
import { omitUndefined } from '../../../domain/fields/omit-undefined.ts'
import { listAssessmentChoices, listTagChoices } from '../../../domain/invites/form-options.ts'
import { changeClientAssessments, listClientAssessmentIds } from '../../../domain/members/client-assessments.ts'
import { inviteMember, resendJoinLink } from '../../../domain/members/invite-member.ts'
import { changeMember, deactivateMember, listLanguages, reactivateMember } from '../../../domain/members/manage-members.ts'
import {
  getMember,
  listMembers,
  MEMBER_ROLES,
  type Member,
  type MemberFilter,
  type MemberRole,
  wholeMember,
} from '../../../domain/members/members.ts'
import { findMemberFactors } from '../../../domain/members/members-factors.ts'
import { listMemberSessions } from '../../../domain/members/members-sessions.ts'
import { claimOwnership, endOwnership, hasNamedOwner } from '../../../domain/members/owners.ts'
import { findOwnershipOffer, offerOwnership, withdrawOwnershipOffer } from '../../../domain/members/ownership-offers.ts'
import { resetMemberFactors } from '../../../domain/members/reset-factors.ts'
import { ASSIGNABLE_PORTAL_ROLES } from '../../../domain/members/role-changes.ts'
import { listMemberIdentities } from '../../../domain/single-sign-on/identities.ts'
import { throwIfIssues } from '../../../domain/validation/throw-if-issues.ts'
import { html } from '../../../html/html.ts'
import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { readNameFilter } from '../kit/choices.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList, readSort } from '../kit/paging.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { memberLinks } from '../sign-in/linked.page.ts'
import { inviteMemberPage, joinLinkPage, MEMBER_ORDERS, memberPage, membersPage } from './members.page.ts'

type MemberRoute = { Params: { memberId: string } }

export function membersRoutes(app: FastifyInstance): void {
  addSharing(app)
  app.get('/members', async (request, reply) => {
    authorize(request.ctx, 'manage_members')
    return show(request, reply, await listPage(request))
  })

  app.get('/members/invite', async (request, reply) => {
    authorize(request.ctx, 'manage_members')
    return show(request, reply, await invitePage(request, emptyForm))
  })

  app.post('/members/invite', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => invitePage(request, form),
      async work(ctx, values) {
        const email = readFields(values, 'email').email.trim()
        const reactivates = values.getAll('reactivate').includes(email)
        const assessmentIds = values.getAll('assessments')
        const link = await inviteMember(ctx, { email, ...readRoles(values), assessmentIds, mails: true, reactivates })
        return joinLinkPage(ctx, { email, ...link })
      },
    }),
  )

  app.post('/members/become-owner', RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => listPage(request, form),
      async work() {
        return `${pathOf(request.ctx, `members/${await claimOwnership(request.ctx)}`)}?done=owner`
      },
    }),
  )

  app.get<MemberRoute>('/members/:memberId', async (request, reply) =>
    show(request, reply, await onePage(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post<MemberRoute>('/members/:memberId', RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { memberId } = request.params
        const change = {
          department: readFields(values, 'department').department,
          ...readRoles(values),
          tagIds: values.getAll('tags'),
          languageIds: values.getAll('languages'),
          canViewTranscription: values.get('canViewTranscription') === 'yes',
        }
        const isClient = await hasRole(request.ctx, memberId, 'client')
        await changeMember(request.ctx, memberId, change, findSeen(values))
        return addressAfter(request.ctx, memberId, !isClient && change.roles.includes('client') ? 'client' : 'saved')
      },
    }),
  )

  const changes: [action: string, done: string, change: (ctx: Context, id: string, values: URLSearchParams) => Promise<void>][] =
    [
      ['deactivate', 'deactivated', (ctx, id, values) => deactivateMember(ctx, id, { revokesKeys: values.has('revokesKeys') })],
      ['reactivate', 'reactivated', reactivate],
      ['offer-ownership', 'offered', offerOwnership],
      ['withdraw-ownership', 'withdrawn', withdrawOwnershipOffer],
      ['end-ownership', 'no-owner', endOwnership],
    ]
  for (const [action, done, change] of changes)
    app.post<MemberRoute>(`/members/:memberId/${action}`, RECENT_AUTHENTICATION, (request, reply) =>
      submit(request, reply, {
        page: (form) => onePage(request, form),
        async work(values) {
          await change(request.ctx, request.params.memberId, values)
          return addressAfter(request.ctx, request.params.memberId, done)
        },
      }),
    )

  app.post<MemberRoute>('/members/:memberId/reset-factors', RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { memberId } = request.params
        await resetMemberFactors(request.ctx, memberId, readFields(values, 'reason').reason)
        return addressAfter(request.ctx, memberId, 'factors')
      },
    }),
  )

  app.post<MemberRoute>('/members/:memberId/link', RECENT_AUTHENTICATION, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => onePage(request, form),
      async work(ctx) {
        const { email } = await getMember(ctx, request.params.memberId)
        return joinLinkPage(ctx, { email, ...(await resendJoinLink(ctx, request.params.memberId)) })
      },
    }),
  )
}

function addSharing(app: FastifyInstance): void {
  app.post<MemberRoute>('/members/:memberId/assessments', RECENT_AUTHENTICATION, (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        const { memberId } = request.params
        const choice = { seenIds: values.getAll('shared'), wantedIds: values.getAll('assessments') }
        await changeClientAssessments(request.ctx, memberId, choice)
        return addressAfter(request.ctx, memberId, 'shared')
      },
    }),
  )
}

async function listPage(request: FastifyRequest, form?: Form) {
  const { ctx } = request
  const query = queryOf(request)
  const order = MEMBER_ORDERS[readSort(query, MEMBER_ORDERS)]
  const found = await readList(request, (page) => listMembers(ctx, wholeMember, readMemberFilter(query), order, page))
  return membersPage(ctx, { ...found, ...(form && { form }), isOwnerNamed: await hasNamedOwner(ctx) })
}

const hasRole = async (ctx: Context, memberId: string, role: MemberRole): Promise<boolean> =>
  (await getMember(ctx, memberId)).roles.includes(role)

async function invitePage(request: FastifyRequest, form: Form) {
  const named = readNameFilter(queryOf(request))
  const assessments = await listAssessmentChoices(request.ctx, { named, chosenIds: form.values.getAll('assessments') })
  return inviteMemberPage(request.ctx, form, { assessments, named })
}

async function onePage(request: FastifyRequest<MemberRoute>, form: Form, done = '') {
  const { ctx, params } = request
  const named = readNameFilter(queryOf(request))
  authorize(ctx, 'manage_members')
  const member = await getMember(ctx, params.memberId)
  const tags = await listTagChoices(inMode(ctx, 'live'), { named, chosenIds: [...member.tagIds, ...form.values.getAll('tags')] })
  const factors = await findMemberFactors(ctx, member)
  const sessions = await listMemberSessions(ctx, member)
  const owning = { isOwnerNamed: await hasNamedOwner(ctx), offer: await findOwnershipOffer(ctx, member.id) }
  const keys = may(ctx, 'manage_keys') ? await findWorkingKeysOf(ctx, member.id) : []
  const page = memberPage(form, {
    ctx,
    member,
    keys: keys.map(({ name }) => name),
    owning,
    factors,
    sessions,
    tags,
    named,
    sharing: await readSharing(ctx, member, named),
    languages: await listLanguages(ctx),
    done,
  })
  return { ...page, body: html`${page.body}${memberLinks(ctx, member.id, await listMemberIdentities(ctx, member.id))}` }
}

async function readSharing(ctx: Context, { id, roles }: Member, named: string) {
  if (!roles.includes('client')) return null
  const sharedIds = await listClientAssessmentIds(ctx, id)
  return { sharedIds, assessments: await listAssessmentChoices(ctx, { named, chosenIds: sharedIds }) }
}

/** Reads `defaultRoles` instead of `roles`, because the form beside it has a field of that name. */
async function reactivate(ctx: Context, id: string, values: URLSearchParams): Promise<void> {
  const roles = readRoles(values, 'defaultRoles')
  throwIfIssues(roles.roles.length + roles.portalRoles.length === 0 ? [{ field: 'defaultRoles', rule: 'required' }] : [])
  await reactivateMember(ctx, id, roles)
}

/** Members who changed their own roles may no longer see the page. */
const addressAfter = (ctx: Context, memberId: string, done: string): string =>
  ctx.actor.kind === 'member' && ctx.actor.id === memberId ? PORTAL_PREFIX : `${pathOf(ctx, `members/${memberId}`)}?done=${done}`

const readRoles = (values: URLSearchParams, name = 'roles') => ({
  roles: MEMBER_ROLES.filter((role) => values.getAll(name).includes(role)),
  portalRoles: ASSIGNABLE_PORTAL_ROLES.filter((portalRole) => values.getAll(name).includes(portalRole)),
})

export function readMemberFilter(values: URLSearchParams): MemberFilter {
  const { status, role, search, department } = readFields(values, 'status', 'role', 'search', 'department')
  return {
    search,
    ...(department && { department }),
    ...((status === 'active' || status === 'inactive') && { status }),
    ...(MEMBER_ROLES.some((known) => known === role) && { roles: { [role]: true } }),
    ...omitUndefined({ portalRole: PORTAL_ROLES.find((known) => known === role) }),
  }
}
