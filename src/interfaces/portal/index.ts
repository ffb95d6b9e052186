import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { PORTAL_PREFIX } from '../../domain/secrets/account-tokens.ts'
import { serveAssets } from '../../http/assets.ts'
import { answerFailures } from '../../http/envelope.ts'
import { accountRoutes } from './account.routes.ts'
import { assessmentsRoutes } from './assessments.routes.ts'
import { assets } from './assets.ts'
import { auditLogRoutes } from './audit-log.routes.ts'
import { portalEnvelope } from './errors.ts'
import { exportsRoutes } from './exports.routes.ts'
import { readForms } from './forms.ts'
import { gradingRoutes } from './grading.routes.ts'
import { gradingScriptRoutes } from './grading-script.routes.ts'
import { portalHeaders } from './headers.ts'
import { homeRoutes } from './home.routes.ts'
import { integrationsRoutes } from './integrations.routes.ts'
import { inviteBatchesRoutes } from './invite-batches.routes.ts'
import { invitesRoutes } from './invites.routes.ts'
import { joinRoutes } from './join.routes.ts'
import { mediaRoutes } from './media.routes.ts'
import { membersRoutes } from './members.routes.ts'
import { organizationSettingsRoutes } from './organization-settings.routes.ts'
import { organizationsRoutes } from './organizations.routes.ts'
import { passwordRoutes } from './password.routes.ts'
import type { PortalSettings } from './portal.ts'
import { questionsRoutes } from './questions.routes.ts'
import { resultsRoutes } from './results.routes.ts'
import { refuseForeignForms } from './same-origin.ts'
import { requireMember, useSessions } from './session.ts'
import { signInRoutes } from './sign-in.routes.ts'
import { submissionRoutes } from './submission.routes.ts'
import { tagsRoutes } from './tags.routes.ts'
import { webhookDeliveriesRoutes } from './webhook-deliveries.routes.ts'
import { webhooksRoutes } from './webhooks.routes.ts'

/** Pages for somebody who is not signed in, or has not chosen an organization. */
const publicPages = [signInRoutes, joinRoutes, passwordRoutes, organizationsRoutes]
/** Pages of one organization, for its members: with `request.ctx`. Each is a file of routes and a file of what it says. */
const organizationPages = [
  homeRoutes,
  assessmentsRoutes,
  questionsRoutes,
  accountRoutes,
  integrationsRoutes,
  webhooksRoutes,
  webhookDeliveriesRoutes,
  membersRoutes,
  tagsRoutes,
  organizationSettingsRoutes,
  auditLogRoutes,
  invitesRoutes,
  mediaRoutes,
  inviteBatchesRoutes,
  exportsRoutes,
  submissionRoutes,
  gradingRoutes,
  gradingScriptRoutes,
  resultsRoutes,
]

/** The pages where an organization's members work. They say and do nothing that the domain does not decide. */
export async function portalPages(
  app: FastifyInstance,
  { system, settings }: { system: ServiceContext; settings: PortalSettings },
): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(portalHeaders)
  })
  answerFailures(app, () => portalEnvelope)
  refuseForeignForms(app, () => settings.publicUrl)
  readForms(app)
  serveAssets(app, PORTAL_PREFIX, assets)
  const cookie = await useSessions(app, system, settings.publicUrl.startsWith('https:'))
  for (const addRoutes of publicPages) addRoutes(app, { system, settings, cookie })
  await app.register(
    async (organization) => {
      answerFailures(organization, () => portalEnvelope) // again, so that unknown addresses below are this scope's, with its viewer
      requireMember(organization, system)
      for (const addRoutes of organizationPages) addRoutes(organization)
    },
    { prefix: '/:organizationId' },
  )
}
