import type { FastifyInstance } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { DomainError } from '../../../domain/errors.ts'
import { getMember } from '../../../domain/members/members.ts'
import { mayChangeAccount, unlinkMemberIdentity, unlinkOwnIdentity } from '../../../domain/single-sign-on/identities.ts'
import { findProvider, getProvider } from '../../../domain/single-sign-on/providers.ts'
import { pathOf, show } from '../kit/layout.ts'
import { RECENT_AUTHENTICATION } from '../kit/recent-authentication.ts'
import { isFromElsewhere } from '../kit/same-origin.ts'
import { SSO_SETTINGS } from '../single-sign-on/addresses.ts'
import { accountNotOwnedPage, confirmLinkPage, lastSignInMethodPage } from './linked.page.ts'
import { signedInOf } from './session.ts'
import type { Portal } from './settings.ts'
import { redirectToProvider } from './single-sign-on.routes.ts'
import { verifyAddress } from './verify.page.ts'

type Route = { Params: { providerId: string } }
type IdentityRoute = { Params: { identityId: string } }
type MemberRoute = { Params: { memberId: string; identityId: string } }

/** Links accounts of identity providers from an organization's pages. */
export const linkedRoutes =
  (portal: Portal) =>
  (app: FastifyInstance): void => {
    app.get<Route>(`/${SSO_SETTINGS}/providers/:providerId/try`, async (request, reply) => {
      const { ctx } = request
      const { id } = await getProvider(ctx, request.params.providerId)
      const memberId = ctx.actor.kind === 'member' ? ctx.actor.id : ''
      return redirectToProvider(portal, request, reply, { kind: 'try', memberId }, pathOf(ctx, `${SSO_SETTINGS}/providers/${id}`))
    })

    app.get<Route>('/account/link/:providerId', RECENT_AUTHENTICATION, async (request, reply) => {
      const signedIn = signedInOf(request)
      const { providerId } = request.params
      const provider = await findProvider(portal.system, providerId)
      const isInbound = provider && [null, request.ctx.organization.id].includes(provider.organizationId)
      if (!isInbound) throw new DomainError('sign_in_setting_not_found')
      if (!(await mayChangeAccount(portal.system, signedIn))) return show(request, reply, accountNotOwnedPage, 403)
      if (!signedIn.credential.emailVerifiedAt) return reply.redirect(verifyAddress(pathOf(request.ctx, 'account')), 303)
      // Another site could send the browser here while its own account is signed in at the provider.
      if (isFromElsewhere(request)) return show(request, reply, confirmLinkPage(provider.name, request.originalUrl))
      const purpose = { kind: 'link', credentialId: signedIn.credential.id } as const
      return redirectToProvider(portal, request, reply, purpose, `${pathOf(request.ctx, 'account')}?done=linked`)
    })

    app.post<IdentityRoute>('/account/identities/:identityId/remove', RECENT_AUTHENTICATION, async (request, reply) => {
      const signedIn = signedInOf(request)
      if (!(await mayChangeAccount(portal.system, signedIn))) return show(request, reply, accountNotOwnedPage, 403)
      const isGone = await unlinkOwnIdentity(request.ctx, signedIn, request.params.identityId)
      if (!isGone) return show(request, reply, lastSignInMethodPage(signedIn.credential.email), 422)
      return reply.redirect(`${pathOf(request.ctx, 'account')}?done=unlinked`, 303)
    })

    app.post<MemberRoute>('/members/:memberId/identities/:identityId/remove', RECENT_AUTHENTICATION, async (request, reply) => {
      authorize(request.ctx, 'manage_members')
      const { memberId, identityId } = request.params
      await getMember(request.ctx, memberId)
      await unlinkMemberIdentity(request.ctx, memberId, identityId)
      return reply.redirect(pathOf(request.ctx, `members/${memberId}`), 303)
    })
  }
