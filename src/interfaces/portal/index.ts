import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { PORTAL_PREFIX } from '../../http/addresses/links.ts'
import { answerErrors } from '../../http/errors/envelope.ts'
import { serveAssets } from '../../http/pages/assets.ts'
import { archivesRoutes } from './archives/archives.routes.ts'
import { assessmentsRoutes } from './assessments/assessments.routes.ts'
import { bandsRoutes } from './assessments/bands.routes.ts'
import { captionsRoutes } from './assessments/captions.routes.ts'
import { openLinkRoutes } from './assessments/open-link.routes.ts'
import { picturesRoutes } from './assessments/pictures.routes.ts'
import { questionMediaRoutes } from './assessments/question-media.routes.ts'
import { questionsRoutes } from './assessments/questions.routes.ts'
import { selectionSettingsRoutes } from './assessments/selection-rates-settings.ts'
import { statisticsRoutes } from './assessments/statistics.routes.ts'
import { structureRoutes } from './assessments/structure.routes.ts'
import { templatesRoutes } from './assessments/templates.routes.ts'
import { candidatesRoutes } from './candidates/candidates.routes.ts'
import { erasePeopleRoutes } from './candidates/erase-people.routes.ts'
import { eraseMemberRoutes } from './erasure/erase-member.routes.ts'
import { erasureRoutes } from './erasure/erasure.routes.ts'
import { organizationErasureRoutes } from './erasure/organization.routes.ts'
import { retentionRoutes } from './erasure/retention.routes.ts'
import { exportsRoutes } from './exports/exports.routes.ts'
import { byQuestionRoutes } from './grading/by-question.routes.ts'
import { gradingRoutes } from './grading/grading.routes.ts'
import { notesRoutes } from './grading/notes.routes.ts'
import { releaseManyRoutes } from './grading/release-many.routes.ts'
import { gradingScriptRoutes } from './grading/script.routes.ts'
import { homeRoutes } from './home/home.routes.ts'
import { checkColumnsRoutes } from './imports/check-columns.routes.ts'
import { atsRoutes } from './integrations/ats.routes.ts'
import { integrationsRoutes } from './integrations/integrations.routes.ts'
import { webhookDeliveriesRoutes } from './integrations/webhook-deliveries.routes.ts'
import { webhooksRoutes } from './integrations/webhooks.routes.ts'
import { bulkRoutes } from './invites/bulk.routes.ts'
import { inviteRoutes } from './invites/invite.routes.ts'
import { importCandidateFile, inviteBatchesRoutes } from './invites/invite-batches.routes.ts'
import { invitesRoutes } from './invites/invites.routes.ts'
import { keysRoutes } from './keys/keys.routes.ts'
import { assets } from './kit/assets.ts'
import { confirmRoutes } from './kit/confirm.ts'
import { portalEnvelope } from './kit/errors.ts'
import { readForms } from './kit/forms.ts'
import { portalHeaders } from './kit/headers.ts'
import { refuseForeignForms } from './kit/same-origin.ts'
import { addToAssessmentRoutes } from './library/add-to-assessment.routes.ts'
import { exportRoutes } from './library/export.routes.ts'
import { importQuestionFile, importsRoutes } from './library/imports.routes.ts'
import { libraryRoutes } from './library/library.routes.ts'
import { auditLogRoutes } from './organization/audit-log.routes.ts'
import { brandRoutes } from './organization/brand.routes.ts'
import { decisionNamesRoutes } from './organization/decision-names.routes.ts'
import { emailTemplateRoutes, type MailTextSource } from './organization/email-templates.routes.ts'
import { languageSettingsRoutes } from './organization/languages.routes.ts'
import { memberSessionsRoutes } from './organization/member-sessions.routes.ts'
import { membersRoutes } from './organization/members.routes.ts'
import { noteCategoriesRoutes } from './organization/note-categories.routes.ts'
import { pageTextsRoutes } from './organization/page-texts.routes.ts'
import { securityRoutes } from './organization/security.routes.ts'
import { organizationSettingsRoutes } from './organization/settings.routes.ts'
import { suppressionsRoutes } from './organization/suppressions.routes.ts'
import { tagsRoutes } from './organization/tags.routes.ts'
import { transcriptionSettingsRoutes } from './organization/transcription.routes.ts'
import { remindersRoutes } from './reminders/reminders.routes.ts'
import { sharesRoutes } from './sharing/shares.routes.ts'
import { sharingSettingsRoutes } from './sharing/sharing-settings.routes.ts'
import { accountRoutes } from './sign-in/account.routes.ts'
import { authenticateRoutes } from './sign-in/authenticate.routes.ts'
import { factorsRoutes } from './sign-in/factors.routes.ts'
import { ORGANIZATION_PREFIX, refuseUnlistedRoutes } from './sign-in/free-routes.ts'
import { joinRoutes } from './sign-in/join.routes.ts'
import { linkedRoutes } from './sign-in/linked.routes.ts'
import { organizationsRoutes } from './sign-in/organizations.routes.ts'
import { guardAccountRoutes } from './sign-in/own-account.ts'
import { passwordRoutes } from './sign-in/password.routes.ts'
import { requireRecentAuthentication } from './sign-in/recent-authentication.ts'
import { secondStepRoutes } from './sign-in/second-step.routes.ts'
import { requireMember, useSessions } from './sign-in/session.ts'
import type { PortalSettings } from './sign-in/settings.ts'
import { signInRoutes } from './sign-in/sign-in.routes.ts'
import { singleSignOnRoutes } from './sign-in/single-sign-on.routes.ts'
import { saveUnsentForms } from './sign-in/unsent-forms.ts'
import { verifyRoutes } from './sign-in/verify.routes.ts'
import { singleSignOnSettingsRoutes } from './single-sign-on/single-sign-on.routes.ts'
import { compareRoutes } from './submissions/compare.routes.ts'
import { mediaRoutes } from './submissions/media.routes.ts'
import { resultsRoutes } from './submissions/results.routes.ts'
import { submissionRoutes } from './submissions/submission.routes.ts'
import { transcriptRoutes } from './submissions/transcript.routes.ts'
import { searchRoutes } from './submissions/transcript-search.routes.ts'
import { testDataRoutes } from './test-data/test-data.routes.ts'

/** Pages for somebody who is not signed in, or has not chosen an organization. */
const publicPages = [
  signInRoutes,
  singleSignOnRoutes,
  secondStepRoutes,
  authenticateRoutes,
  factorsRoutes,
  verifyRoutes,
  joinRoutes,
  passwordRoutes,
  organizationsRoutes,
]
/** Pages of one organization, for its members, with `request.ctx`. */
const organizationPages = [
  homeRoutes,
  confirmRoutes,
  assessmentsRoutes,
  templatesRoutes,
  statisticsRoutes,
  selectionSettingsRoutes,
  openLinkRoutes,
  questionsRoutes,
  structureRoutes,
  keysRoutes,
  picturesRoutes,
  questionMediaRoutes,
  captionsRoutes,
  exportRoutes,
  importsRoutes,
  checkColumnsRoutes({ questions: importQuestionFile, candidates: importCandidateFile }),
  libraryRoutes,
  addToAssessmentRoutes,
  accountRoutes,
  integrationsRoutes,
  webhooksRoutes,
  webhookDeliveriesRoutes,
  atsRoutes,
  membersRoutes,
  memberSessionsRoutes,
  tagsRoutes,
  organizationSettingsRoutes,
  remindersRoutes,
  suppressionsRoutes,
  languageSettingsRoutes,
  securityRoutes,
  singleSignOnSettingsRoutes,
  auditLogRoutes,
  invitesRoutes,
  inviteRoutes,
  mediaRoutes,
  transcriptRoutes,
  inviteBatchesRoutes,
  bulkRoutes,
  candidatesRoutes,
  erasePeopleRoutes,
  erasureRoutes,
  organizationErasureRoutes,
  archivesRoutes,
  eraseMemberRoutes,
  retentionRoutes,
  transcriptionSettingsRoutes,
  decisionNamesRoutes,
  bandsRoutes,
  compareRoutes,
  sharesRoutes,
  sharingSettingsRoutes,
  exportsRoutes,
  submissionRoutes,
  gradingRoutes,
  releaseManyRoutes,
  gradingScriptRoutes,
  notesRoutes,
  searchRoutes,
  noteCategoriesRoutes,
  byQuestionRoutes,
  resultsRoutes,
  testDataRoutes,
]

/** The portal, where members of organizations work. All rules are in the domain. */
export async function portalPages(
  app: FastifyInstance,
  { system, settings, mailTexts }: { system: ServiceContext; settings: PortalSettings; mailTexts: MailTextSource },
): Promise<void> {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(portalHeaders)
  })
  answerErrors(app, () => portalEnvelope)
  refuseUnlistedRoutes(app)
  refuseForeignForms(app, () => settings.publicUrl)
  readForms(app)
  serveAssets(app, PORTAL_PREFIX, assets)
  saveUnsentForms(app, system)
  requireRecentAuthentication(app, system)
  const cookie = await useSessions(app, system, settings.publicUrl.startsWith('https:'))
  guardAccountRoutes(app, system)
  for (const addRoutes of publicPages) addRoutes(app, { system, settings, cookie })
  await app.register(
    async (organization) => {
      answerErrors(organization, () => portalEnvelope) // again, so that unknown paths in this scope get pages with the member's menu
      requireMember(organization, system)
      for (const addRoutes of organizationPages) addRoutes(organization)
      emailTemplateRoutes(organization, mailTexts)
      brandRoutes(organization, mailTexts.previewText)
      pageTextsRoutes(organization)
      linkedRoutes({ system, settings, cookie })(organization)
    },
    { prefix: ORGANIZATION_PREFIX },
  )
}
