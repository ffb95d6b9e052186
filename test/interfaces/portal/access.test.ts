import { hash } from 'node:crypto'
import type { Response } from 'supertest'
import { beforeAll, describe, expect, it } from 'vitest'
import { beginMedium } from '../../../src/domain/assets/upload-medium.ts'
import type { SessionAccess } from '../../../src/domain/sign-in/session-access.ts'
import { unknownId } from '../../support/factories.ts'
import { makeReopened } from '../../support/grading.ts'
import { makePicture } from '../../support/pictures.ts'
import { asOperator, signInAs, type Visitor, visit } from '../../support/portal.ts'
import { listByFreshness, listPortalRoutes } from '../../support/portal-routes.ts'
import {
  makeArchiveRow,
  makeAskedVersion,
  makeAtsOrder,
  makeBulkChange,
  makeErasure,
  makeLibrary,
  makeShareLink,
  makeSsoRows,
  makeWebhook,
} from '../../support/sample-organization.ts'
import { LONG } from '../../support/scale.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeStructure } from '../../support/structure.ts'
import { jpeg } from '../../support/submissions.ts'

/** Roles, each with its member roles and portal roles. An owner is named, because admins count as owners otherwise. */
const ROLES = ['owner', 'admin', 'manager', 'author', 'grader', 'client'] as const
type Role = (typeof ROLES)[number]
const rolesOf: Record<Role, { roles: string[]; portalRoles: string[] }> = {
  owner: { roles: ['admin'], portalRoles: ['owner'] },
  admin: { roles: ['admin'], portalRoles: [] },
  manager: { roles: [], portalRoles: ['manager'] },
  author: { roles: [], portalRoles: ['author'] },
  grader: { roles: ['grader'], portalRoles: [] },
  client: { roles: ['client'], portalRoles: [] },
}

/** Ids of the rows that an address refers to, by parameter name. */
type Rows = {
  keyId: string
  sessionId: string
  deviceId: string
  memberId: string
  tagId: string
  suppressionId: string
  erasureId: string
  archiveId: string
  providerId: string
  domainId: string
  identityId: string
  assessmentId: string
  questionId: string
  sectionId: string
  poolId: string
  inviteId: string
  mediaId: string
  pictureId: string
  mediumId: string
  segment: string
  submissionId: string
  number: string
  place: string
  batchId: string
  changeId: string
  shareId: string
  filterId: string
  webhookId: string
  deliveryId: string
  ats: string
  connectionId: string
  atsKeyId: string
  orderId: string
  libraryId: string
  importId: string
  versionId: string
  wording: string
  noteId: string
}

const everybody = [...ROLES]
const owners: readonly Role[] = ['owner']
const admins: readonly Role[] = ['owner', 'admin']
const recruiters: readonly Role[] = [...admins, 'manager']
/** Only the uploader sees a file: see imports/check-columns.test.ts. */
const uploader: Role[] = []
const authors: readonly Role[] = [...admins, 'author']
const graders: readonly Role[] = [...admins, 'grader']
const questioners: readonly Role[] = [...authors, 'grader']
const readers: readonly Role[] = [...recruiters, 'grader']
const inviters: readonly Role[] = [...recruiters, 'grader', 'client']
const viewers: readonly Role[] = [...recruiters, 'client']
const all: readonly Role[] = [...recruiters, 'author']
/** Pages and forms of an organization, with the roles that may see or send each. All tests below apply to every line. */
const allowed: Record<string, readonly Role[]> = {
  'GET /': everybody,
  'POST /confirm': everybody,
  'GET /assessments': all,
  'GET /assessments/new': authors,
  'POST /assessments': authors,
  'GET /assessments/templates': authors,
  'POST /assessments/templates': authors,
  'POST /assessments/:assessmentId/save-template': authors,
  'POST /assessments/:assessmentId/remove-template': authors,
  'GET /assessments/:assessmentId/invites': recruiters,
  'GET /assessments/:assessmentId/results': recruiters,
  'GET /assessments/:assessmentId/statistics': recruiters,
  'POST /assessments/:assessmentId/statistics/export': recruiters,
  'POST /assessments/:assessmentId/statistics/selection-rates': recruiters,
  'GET /assessments/:assessmentId': all,
  'GET /assessments/:assessmentId/edit': authors,
  'POST /assessments/:assessmentId/edit': authors,
  'POST /assessments/:assessmentId/duplicate': authors,
  'POST /assessments/:assessmentId/archive': authors,
  'POST /assessments/:assessmentId/unarchive': authors,
  'POST /assessments/:assessmentId/delete': authors,
  'GET /assessments/:assessmentId/preview': all,
  'GET /assessments/:assessmentId/open-link': all,
  'POST /assessments/:assessmentId/open-link': authors,
  'POST /assessments/:assessmentId/open-link/on': authors,
  'POST /assessments/:assessmentId/open-link/off': authors,
  'POST /assessments/:assessmentId/open-link/replace': authors,
  'GET /assessments/:assessmentId/questions/new': authors,
  'POST /assessments/:assessmentId/questions': authors,
  'GET /assessments/:assessmentId/questions/:questionId': authors,
  'POST /assessments/:assessmentId/questions/:questionId': authors,
  'POST /assessments/:assessmentId/questions/:questionId/move': authors,
  'POST /assessments/:assessmentId/questions/:questionId/duplicate': authors,
  'POST /assessments/:assessmentId/order': authors,
  'POST /assessments/:assessmentId/questions/:questionId/section': authors,
  'GET /assessments/:assessmentId/sections/new': authors,
  'POST /assessments/:assessmentId/sections': authors,
  'GET /assessments/:assessmentId/sections/:sectionId': authors,
  'POST /assessments/:assessmentId/sections/:sectionId': authors,
  'POST /assessments/:assessmentId/sections/:sectionId/move': authors,
  'POST /assessments/:assessmentId/sections/:sectionId/delete': authors,
  'GET /assessments/:assessmentId/pools/new': authors,
  'POST /assessments/:assessmentId/pools': authors,
  'GET /assessments/:assessmentId/pools/:poolId': authors,
  'POST /assessments/:assessmentId/pools/:poolId': authors,
  'POST /assessments/:assessmentId/pools/:poolId/delete': authors,
  'POST /assessments/:assessmentId/questions/:questionId/delete': authors,
  'GET /keys/:versionId': admins,
  'POST /keys/:versionId': admins,
  'POST /keys/:versionId/preview': admins,
  'POST /keys/:versionId/resume': admins,
  'GET /account': everybody,
  'POST /account/name': everybody,
  'POST /account/preferences': everybody,
  'POST /account/password': everybody,
  'POST /account/ownership': everybody,
  'POST /account/sessions/:sessionId/end': everybody,
  'POST /account/sessions/end-others': everybody,
  'POST /account/browsers/:deviceId/forget': everybody,
  'GET /settings/integrations': admins,
  'POST /settings/integrations': admins,
  'GET /settings/integrations/:keyId': admins,
  'POST /settings/integrations/:keyId/rights': admins,
  'POST /settings/integrations/:keyId/limit': admins,
  'POST /settings/integrations/:keyId/rotate': admins,
  'POST /settings/integrations/:keyId/revoke': admins,
  'GET /settings/webhooks': admins,
  'POST /settings/webhooks': admins,
  'GET /settings/webhooks/:webhookId': admins,
  'POST /settings/webhooks/:webhookId': admins,
  'POST /settings/webhooks/:webhookId/enable': admins,
  'POST /settings/webhooks/:webhookId/disable': admins,
  'POST /settings/webhooks/:webhookId/replay': admins,
  'POST /settings/webhooks/:webhookId/rotate-secret': admins,
  'POST /settings/webhooks/:webhookId/test': admins,
  'POST /settings/webhooks/:webhookId/delete': admins,
  'GET /settings/webhooks/:webhookId/deliveries': admins,
  'GET /settings/webhooks/:webhookId/deliveries/:deliveryId': admins,
  'POST /settings/webhooks/:webhookId/deliveries/:deliveryId/replay': admins,
  'GET /settings/ats': admins,
  'POST /settings/ats/:ats/keys': admins,
  'POST /settings/ats/:ats/their-key': admins,
  'POST /settings/ats/keys/:atsKeyId/revoke': admins,
  'GET /settings/ats/connections/:connectionId': admins,
  'POST /settings/ats/connections/:connectionId/test': admins,
  'POST /settings/ats/orders/:orderId/report': admins,
  'GET /members': admins,
  'POST /members/export': admins,
  'GET /members/invite': admins,
  'POST /members/invite': admins,
  'GET /members/:memberId': admins,
  'POST /members/:memberId': admins,
  'POST /members/:memberId/assessments': admins,
  'POST /members/:memberId/deactivate': admins,
  'POST /members/:memberId/reactivate': admins,
  'POST /members/:memberId/link': admins,
  'POST /members/become-owner': owners,
  'POST /members/:memberId/end-ownership': owners,
  'POST /members/:memberId/offer-ownership': owners,
  'POST /members/:memberId/withdraw-ownership': owners,
  'POST /members/:memberId/reset-factors': admins,
  'POST /members/:memberId/sessions/:sessionId/end': admins,
  'POST /members/:memberId/sessions/end-all': admins,
  'GET /settings': recruiters,
  'GET /settings/organization': admins,
  'POST /settings/organization': admins,
  'GET /settings/reminders': admins,
  'POST /settings/reminders': admins,
  'POST /settings/reminders/notices': admins,
  'GET /settings/reminders/open': admins,
  'POST /settings/reminders/open': admins,
  'GET /assessments/:assessmentId/reminders': admins,
  'POST /assessments/:assessmentId/reminders': admins,
  'POST /assessments/:assessmentId/reminders/notices': admins,
  'POST /assessments/:assessmentId/reminders/drop': admins,
  'GET /assessments/:assessmentId/reminders/open': admins,
  'POST /assessments/:assessmentId/reminders/open': admins,
  'GET /settings/suppressions': recruiters,
  'POST /settings/suppressions': recruiters,
  'GET /settings/suppressions/:suppressionId': recruiters,
  'POST /settings/suppressions/:suppressionId/lift': recruiters,
  'GET /settings/languages': admins,
  'POST /settings/languages': admins,
  'GET /settings/security': owners,
  'POST /settings/security': owners,
  'GET /settings/sign-in': owners,
  'GET /settings/sign-in/new': owners,
  'POST /settings/sign-in/providers': owners,
  'GET /settings/sign-in/providers/:providerId': owners,
  'POST /settings/sign-in/providers/:providerId': owners,
  'GET /settings/sign-in/providers/:providerId/try': owners,
  'POST /settings/sign-in/providers/:providerId/discard': owners,
  'POST /settings/sign-in/providers/:providerId/relink': owners,
  'POST /settings/sign-in/providers/:providerId/remove': owners,
  'POST /settings/sign-in/enforce': owners,
  'POST /settings/sign-in/allow': owners,
  'POST /settings/sign-in/own-ways': owners,
  'POST /settings/sign-in/own-ways/:memberId/end': owners,
  'POST /settings/sign-in/domains': owners,
  'POST /settings/sign-in/domains/:domainId/verify': owners,
  'POST /settings/sign-in/domains/:domainId/remove': owners,
  'GET /account/link/:providerId': everybody,
  'POST /account/identities/:identityId/remove': everybody,
  'POST /members/:memberId/identities/:identityId/remove': admins,
  'GET /settings/brand': admins,
  'POST /settings/brand': admins,
  'GET /settings/brand/preview': admins,
  'POST /settings/brand/logo': admins,
  'POST /settings/brand/logo/remove': admins,
  'GET /settings/links': admins,
  'POST /settings/links': admins,
  'GET /settings/words': admins,
  'POST /settings/words': admins,
  'GET /settings/words/preview': admins,
  'POST /settings/words/preview': admins,
  'POST /settings/words/main': admins,
  'POST /settings/words/test': admins,
  'GET /assessments/:assessmentId/words': admins,
  'POST /assessments/:assessmentId/words': admins,
  'GET /assessments/:assessmentId/words/preview': admins,
  'POST /assessments/:assessmentId/words/preview': admins,
  'POST /assessments/:assessmentId/words/test': admins,
  'GET /settings/audit-log': admins,
  'POST /settings/audit-log/export': admins,
  'GET /tags': recruiters,
  'POST /tags': recruiters,
  'GET /tags/:tagId': recruiters,
  'POST /tags/:tagId': recruiters,
  'POST /tags/:tagId/delete': recruiters,
  'GET /invites': inviters,
  'POST /invites/export': inviters,
  'GET /invites/new': recruiters,
  'POST /invites': recruiters,
  'GET /invites/:inviteId': inviters,
  'POST /invites/:inviteId/resend': recruiters,
  'POST /invites/:inviteId/extend': recruiters,
  'POST /invites/:inviteId/correct': recruiters,
  'POST /invites/:inviteId/replace': recruiters,
  'POST /invites/:inviteId/retake': recruiters,
  'POST /invites/:inviteId/revoke': recruiters,
  'POST /invites/:inviteId/reactivate': recruiters,
  'POST /invites/:inviteId/grader': recruiters,
  'POST /invites/:inviteId/extra-time': recruiters,
  'POST /invites/:inviteId/waive': recruiters,
  'POST /invites/:inviteId/reminders-off': recruiters,
  'POST /invites/:inviteId/reminders-on': recruiters,
  'GET /invites/:inviteId/submission': readers,
  'POST /invites/:inviteId/submission/delete': recruiters,
  'POST /invites/:inviteId/tags': recruiters,
  'POST /invites/:inviteId/tags/:tagId/remove': recruiters,
  'GET /media/:mediaId': readers,
  // Only members who may read transcripts: see test/interfaces/transcripts.test.ts.
  'GET /media/:mediaId/transcript': [],
  'GET /media/:mediaId/transcript.vtt': [],
  'POST /media/:mediaId/transcript': [],
  'GET /grading/assessments/:assessmentId/search': [],
  'GET /pictures/:pictureId': [...all, 'grader'],
  'POST /question-media': authors,
  // Only for files that are ready: see test/interfaces/portal/assessments/captions.test.ts.
  'GET /question-media/:mediumId/captions': [],
  'POST /question-media/:mediumId/captions': [],
  'POST /question-media/:mediumId/captions/request': [],
  'POST /question-media/:mediumId/captions/delete': [],
  'GET /question-media/:mediumId': authors,
  'POST /question-media/:mediumId/complete': authors,
  'POST /question-media/:mediumId/parts/:segment/:number': authors,
  'GET /questions': questioners,
  'GET /questions/:libraryId': questioners,
  'POST /questions/:libraryId': authors,
  'POST /questions/:libraryId/try': questioners,
  'POST /questions/:libraryId/retire': authors,
  'POST /questions/:libraryId/restore': authors,
  'POST /questions/:libraryId/add': authors,
  'GET /assessments/:assessmentId/questions/:questionId/library/difference': authors,
  'GET /assessments/:assessmentId/library': authors,
  'POST /assessments/:assessmentId/library': authors,
  'POST /assessments/:assessmentId/questions/:questionId/library/save': authors,
  'POST /assessments/:assessmentId/questions/:questionId/library/version': authors,
  'POST /assessments/:assessmentId/questions/:questionId/library/take': authors,
  'GET /questions/imports/new': authors,
  'GET /imports/:fileId': uploader,
  'POST /imports/:fileId': uploader,
  'POST /questions/imports': authors,
  'GET /questions/imports/:importId': authors,
  'POST /questions/imports/:importId/start': authors,
  'POST /questions/imports/:importId/report': authors,
  'POST /questions/imports/:importId/undo': authors,
  'GET /questions/template.csv': authors,
  'GET /questions/template.xlsx': authors,
  'GET /questions/export': authors,
  'POST /questions/export': authors,
  'GET /grading': readers,
  'GET /grading/release-many': recruiters,
  'POST /grading/release-many': recruiters,
  'GET /grading/by-question/:assessmentId': graders,
  'GET /grading/by-question/:assessmentId/:questionId/:wording': graders,
  'GET /grading/by-question/:assessmentId/:questionId/:wording/:submissionId': graders,
  'POST /grading/by-question/:assessmentId/:questionId/:wording/:submissionId': graders,
  'GET /grading/by-question/:assessmentId/:questionId/:wording/:submissionId/equal': graders,
  'POST /grading/by-question/:assessmentId/:questionId/:wording/:submissionId/equal': graders,
  'GET /grading/:submissionId': graders,
  'GET /grading/:submissionId/questions/:number': graders,
  'POST /grading/:submissionId/questions/:number': graders,
  'POST /grading/:submissionId/questions/:number/save': graders,
  // Only for recorded answers: see test/interfaces/notes.test.ts.
  'POST /grading/:submissionId/notes': [],
  'POST /grading/:submissionId/notes/save': [],
  'POST /grading/:submissionId/notes/:noteId/delete': graders,
  'POST /grading/:submissionId/viewers': graders,
  'POST /grading/:submissionId/take-over': graders,
  'POST /grading/:submissionId/hand-on/:place': readers,
  'GET /grading/:submissionId/release': readers,
  'POST /grading/:submissionId/release': readers,
  'POST /grading/:submissionId/reopen': readers,
  'GET /results': viewers,
  'GET /results/assessments/:assessmentId': viewers,
  'POST /results/export': recruiters,
  'GET /results/assessments/:assessmentId/graders': recruiters,
  'POST /results/assessments/:assessmentId/export': recruiters,
  'POST /results/assessments/:assessmentId/notes/export': recruiters,
  'GET /results/compare': recruiters,
  'POST /results/compare/export': recruiters,
  'GET /results/:submissionId': viewers,
  'GET /results/:submissionId/report': viewers,
  // Only clients to whom their assessment shows recordings: see test/interfaces/shared.
  'GET /results/:submissionId/media/:mediaId': [],
  'POST /results/:submissionId/decision': recruiters,
  'POST /invites/:inviteId/submission/decision': recruiters,
  'GET /assessments/:assessmentId/bands': authors,
  'POST /assessments/:assessmentId/bands': authors,
  'GET /settings/selection-rates': admins,
  'POST /settings/selection-rates': admins,
  'GET /settings/sharing': admins,
  'POST /settings/sharing': admins,
  'GET /assessments/:assessmentId/client-view': recruiters,
  'POST /assessments/:assessmentId/client-view': recruiters,
  'GET /shares': recruiters,
  'GET /shares/new': recruiters,
  'POST /shares': recruiters,
  'GET /shares/:shareId': recruiters,
  'POST /shares/:shareId/revoke': recruiters,
  'GET /settings/decisions': admins,
  'POST /settings/decisions': admins,
  'GET /invites/batches': recruiters,
  'POST /invites/batches': recruiters,
  'GET /invites/batches/:batchId': recruiters,
  'POST /invites/batches/:batchId/start': recruiters,
  'POST /invites/batches/:batchId/stop': recruiters,
  'POST /invites/batches/:batchId/resume': recruiters,
  'POST /invites/batches/:batchId/discard': recruiters,
  'POST /invites/batches/:batchId/export': recruiters,
  'POST /invites/changes/:changeId/export': recruiters,
  'POST /invites/filters': inviters,
  'POST /invites/filters/:filterId/delete': inviters,
  'GET /candidates': recruiters,
  'GET /candidates/:inviteId': recruiters,
  'GET /candidates/erase': owners,
  'POST /candidates/erase': owners,
  'GET /candidates/:inviteId/erase': owners,
  'POST /candidates/:inviteId/erase': owners,
  'GET /candidates/:inviteId/archive': owners,
  'POST /candidates/:inviteId/archive': owners,
  'GET /members/:memberId/archive': owners,
  'POST /members/:memberId/archive': owners,
  'GET /account/archive': everybody,
  'POST /account/archive': everybody,
  'GET /archives': owners,
  'GET /archives/:archiveId': owners,
  'POST /archives/:archiveId/file': owners,
  'GET /settings/export': owners,
  'POST /settings/export': owners,
  'GET /settings/erasures': owners,
  'GET /settings/erasures/:erasureId': owners,
  'GET /settings/erase-organization': owners,
  'POST /settings/erase-organization': owners,
  'POST /hold/keep': owners,
  'GET /settings/notes': admins,
  'POST /settings/notes': admins,
  'GET /settings/transcripts': admins,
  'POST /settings/transcripts': admins,
  'GET /settings/retention': owners,
  'GET /members/:memberId/erase': owners,
  'POST /members/:memberId/erase': owners,
  'POST /settings/retention': owners,
  'GET /invites/changes': recruiters,
  'GET /invites/changes/new': recruiters,
  'POST /invites/changes': recruiters,
  'GET /invites/changes/:changeId': recruiters,
  'POST /invites/changes/:changeId/stop': recruiters,
  'POST /invites/changes/:changeId/resume': recruiters,
  'POST /test-data/delete': admins,
}

/** Parameters whose rows are looked up, so another organization's row is not found. The others do not affect its rows. */
const FINDS: (keyof Rows)[] = [
  'keyId',
  'memberId',
  'assessmentId',
  'questionId',
  'sectionId',
  'poolId',
  'inviteId',
  'mediaId',
  'pictureId',
  'mediumId',
  'submissionId',
  'batchId',
  'erasureId',
  'archiveId',
  'changeId',
  'shareId',
  'webhookId',
  'deliveryId',
  'connectionId',
  'atsKeyId',
  'orderId',
  'libraryId',
  'importId',
  'versionId',
  'providerId',
  'domainId',
]

const HOUR_MS = 3_600_000

// Without the sweep, which changes rows by itself.
const service = await startServiceForFile({ ROLE: 'api', ATS_GREENHOUSE: 'on' })

const routes = Object.entries(allowed).map(([name, roles]) => {
  const [method, path] = name.split(' ') as ['GET' | 'POST', string]
  return { name, method, path, roles }
})
type Route = (typeof routes)[number]

async function makeRows(organizationId: string): Promise<Rows> {
  const { id: keyId } = await service.db.apiKey.findFirstOrThrow({ where: { organizationId } })
  const { member } = await signInAs(service, organizationId, ['admin'])
  const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: member.id } })
  const { id: sessionId, deviceId } = await service.db.session.findFirstOrThrow({ where: { credentialId: credentialId! } })
  const { id: tagId } = await service.make.tag(organizationId)
  const { id: suppressionId } = await service.db.suppression.create({
    data: {
      ...{ id: service.deps.newId(), organizationId },
      mode: 'live',
      address: 'a@example.com',
      reason: 'bounce',
      since: service.clock.now(),
    },
  })
  const ssoRows = await makeSsoRows(service, { organizationId, memberId: member.id, credentialId: credentialId! })
  const assessment = await service.make.assessment(organizationId)
  const { id: assessmentId } = assessment
  const { id: questionId } = await service.make.question(assessment)
  const { id: inviteId } = await service.make.invite(assessment)
  const { id: batchId } = await service.db.inviteBatch.create({
    data: {
      id: service.deps.newId(),
      organizationId,
      assessmentId,
      createdById: member.id,
      terms: {},
      createdAt: service.clock.now(),
    },
  })
  const filterId = service.deps.newId()
  await service.db.savedFilter.create({
    data: {
      id: filterId,
      organizationId,
      memberId: member.id,
      name: 'Any',
      query: 'state=pending',
      isShared: true,
      createdAt: service.clock.now(),
    },
  })
  const library = await makeLibrary(service, { organizationId, questionId, memberId: member.id })
  const versionId = await makeAskedVersion(service, organizationId)
  const changeId = await makeBulkChange(service, { organizationId, inviteId, memberId: member.id })
  const { webhook, delivery } = await makeWebhook(service, organizationId, 'Any')
  const atsRows = await makeAtsOrder(service, inviteId)
  const mediaId = await makePhoto({ organizationId, assessmentId, inviteId })
  const submissionId = await makeReopened(service, { organizationId, assessmentId, inviteId, memberId: member.id })
  const own = {
    keyId,
    sessionId,
    deviceId: deviceId!,
    memberId: member.id,
    tagId,
    suppressionId,
    erasureId: await makeErasure(service, organizationId),
    archiveId: await makeArchiveRow(service, organizationId),
    assessmentId,
    questionId,
    ...(await makeStructure(service, { organizationId, assessmentId, questionId })),
    inviteId,
    mediaId,
    pictureId: await makePicture(service, organizationId),
    mediumId: await beginMedium(asOperator(service, { id: organizationId, name: '' }), 'audio'),
    segment: '0',
    batchId,
    changeId,
    shareId: await makeShareLink(service, { organizationId, assessmentId, createdById: member.id }, submissionId),
    filterId,
    submissionId,
    noteId: service.deps.newId(),
    versionId,
    wording: await makeAnswer({ organizationId, submissionId, questionId }),
  }
  return {
    ...own,
    ...ssoRows,
    ...atsRows,
    ...library,
    number: '1',
    place: 'first',
    webhookId: webhook.id,
    deliveryId: delivery.id,
  }
}

/** Creates an answer to the only question of a submission. @returns the digest of the question, see by-question.ts. */
async function makeAnswer(of: { organizationId: string; submissionId: string; questionId: string }): Promise<string> {
  const { questionId, ...own } = of
  const { script, points } = await service.db.submissionQuestion.findFirstOrThrow({ where: own })
  await service.db.submissionQuestion.updateMany({ where: own, data: { questionId } })
  const times = { createdAt: service.clock.now(), completedAt: service.clock.now() }
  const attempt = { kind: 'text', state: 'complete', text: 'An answer' } as const
  await service.db.answerAttempt.create({ data: { id: service.deps.newId(), ...own, ...attempt, ...times, questionNumber: 1 } })
  return hash('md5', `${script}\n${points}`, 'hex').slice(0, 12)
}

/** Creates a photo of a candidate who is preparing. */
async function makePhoto(of: { organizationId: string; assessmentId: string; inviteId: string }): Promise<string> {
  const { newId, media } = service.deps
  const [id, submissionId, createdAt] = [newId(), newId(), service.clock.now()]
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  await service.db.submission.create({ data: { ...of, ...limits, id: submissionId, createdAt, updatedAt: createdAt } })
  const { organizationId } = of
  const key = `${organizationId}/${id}`
  await media.put(`${key}/file`, jpeg())
  const photo = { kind: 'id_photo', state: 'ready', contentType: 'image/jpeg', bytes: jpeg().length } as const
  await service.db.mediaFile.create({ data: { ...photo, id, key, organizationId, submissionId, createdAt } })
  return id
}

const addressOf = ({ path }: Route, organizationId: string, rows: Rows): string =>
  `/portal/${organizationId}${path.replace(/:(\w+)/g, (_all, name: keyof Rows) => rows[name])}`

/** Required fields of forms, by the end of the path. */
const NEEDED: Record<string, Record<string, string>> = {
  'hand-on/:place': { assignedGraderId: '', secondGraderId: '' },
}
const send = (person: Visitor, route: Route, address: string) => {
  const needed = Object.entries(NEEDED).find(([end]) => route.path.endsWith(end))?.[1]
  return route.method === 'GET' ? person.get(address) : person.post(address, needed)
}

/** Everything that a rejected request must leave unchanged. */
async function contents(organizationId: string) {
  const { organization, apiKey, member, user, session, tag, assessment, question } = service.db
  const { invite, inviteTag, inviteEmail, inviteBatch, auditEntry, webhookEndpoint, webhookDelivery, event } = service.db
  const { submission, grade, release, atsConnection, atsKey, atsOrder, atsReport } = service.db
  const where = { organizationId }
  return {
    organization: await organization.findUnique({ where: { id: organizationId } }),
    keys: await apiKey.findMany({ where, omit: { lastUsedAt: true, lastUsedFrom: true }, orderBy: { id: 'asc' } }),
    members: await member.findMany({ where, orderBy: { id: 'asc' } }),
    users: await user.findMany({ where: { memberships: { some: where } }, orderBy: { id: 'asc' } }),
    sessions: await session.findMany({
      where: { credential: { memberships: { some: where } } },
      omit: { lastSeenAt: true, expiresAt: true, closedOrganizationIds: true },
      orderBy: { id: 'asc' },
    }),
    assessments: await assessment.findMany({ where, orderBy: { id: 'asc' } }),
    questions: await question.findMany({ where, orderBy: { id: 'asc' } }),
    answerKeys: await service.db.answerKey.count({ where }),
    tags: await tag.findMany({ where, orderBy: { id: 'asc' } }),
    invites: await invite.findMany({ where, orderBy: { id: 'asc' } }),
    batches: await inviteBatch.findMany({ where }),
    savedFilters: await service.db.savedFilter.findMany({ where, orderBy: { id: 'asc' } }),
    bulkChanges: await service.db.bulkChange.findMany({ where }),
    inviteTags: await inviteTag.count({ where }),
    inviteEmails: await inviteEmail.count({ where }),
    webhooks: await webhookEndpoint.findMany({ where, orderBy: { id: 'asc' } }),
    deliveries: await webhookDelivery.findMany({ where }),
    submissions: await submission.findMany({ where, orderBy: { id: 'asc' } }),
    grades: await grade.count({ where }),
    releases: await release.count({ where }),
    events: await event.count({ where }),
    atsConnections: await atsConnection.findMany({ where }),
    atsKeys: await atsKey.findMany({ where }),
    atsOrders: await atsOrder.findMany({ where }),
    atsReports: await atsReport.findMany({ where }),
    // Rejections are recorded once an hour.
    audit: await auditEntry.count({ where: { ...where, action: { not: 'refused' } } }),
  }
}

/** Creates an organization with rows, and a member of each role: the client of the assessment, the grader of the invite. */
async function setUp(wanted: readonly Role[] = ROLES) {
  const { id } = await service.make.organization()
  const rows = await makeRows(id)
  await service.db.organization.update({ where: { id }, data: { ownerNamedAt: service.clock.now(), selectionRates: true } })
  const people = new Map<Role, Awaited<ReturnType<typeof signInAs>>>()
  for (const role of wanted) people.set(role, await signInAs(service, id, rolesOf[role].roles, rolesOf[role].portalRoles))
  const [client, grader] = [people.get('client'), people.get('grader')]
  const of = { organizationId: id, assessmentId: rows.assessmentId, position: 0 }
  if (client) await service.db.assessmentClient.create({ data: { ...of, memberId: client.member.id } })
  if (grader) await service.db.invite.update({ where: { id: rows.inviteId }, data: { assignedGraderId: grader.member.id } })
  return { id, rows, people }
}

/** The organization that no test may change. */
const untouched = await setUp()
const before = await contents(untouched.id)
/** For each role, the page of an unknown address and the home page. */
const shown = new Map<Role, { nowhere: string; home: string }>()
for (const [role, person] of untouched.people) {
  const [nowhere, home] = [await person.get(`/portal/${untouched.id}/nowhere`), await person.get(person.home)]
  shown.set(role, { nowhere: nowhere.text, home: home.text })
}

/** An admin of another organization. */
const elsewhere = await service.make.organization()
const foreigner = await signInAs(service, elsewhere.id, ['admin'])
const nowhere = (await foreigner.get('/portal/x/nowhere')).text
const nowhereElsewhere = (await foreigner.get(`${foreigner.home}nowhere`)).text

it('covers every page and form of an organization', async () => {
  expect(await listPortalRoutes(service.system)).toEqual(Object.keys(allowed).sort())
})

/** An organization of its own for a member of each role, to send permitted forms. */
const senders = new Map<Role, ReturnType<typeof setUp>>()
/** Sends a permitted form with existing rows. A form that changes rows uses up its organization. */
async function sendPermitted(route: Route, role: Role): Promise<Response> {
  const sender = senders.get(role) ?? setUp([role])
  senders.set(role, sender)
  const { id, rows, people } = await sender
  const answer = await send(people.get(role)!, route, addressOf(route, id, rows))
  if (answer.status === 303) senders.delete(role)
  return answer
}

/** Picks one item per route in turn, or all of them in the long run. */
const some = <T>(all: T[], index: number): T[] => (LONG ? all : [all[index % all.length]!])

describe.each(routes.map((route, index) => ({ ...route, index })))('$name', ({ index, ...route }) => {
  // Unless it is the long run, one of the permitted roles opens each page. Sending permitted forms is left to the tests of the forms.
  const permitted = route.method === 'GET' ? some([...route.roles], index) : []
  const tried = LONG ? ROLES : ROLES.filter((role) => permitted.includes(role) || !route.roles.includes(role))
  it.each(tried)('is accessible only to the permitted roles: %s', async (role) => {
    const may = route.roles.includes(role)
    if (may && route.method === 'POST') {
      expect([200, 303, 422]).toContain((await sendPermitted(route, role)).status)
      return
    }
    const { id, rows, people } = untouched
    const answer = await send(people.get(role)!, route, addressOf(route, id, rows))
    if (may) {
      expect([200, 303, 422]).toContain(answer.status)
      return
    }
    const { nowhere: nowhereFor, home } = shown.get(role)!
    expect([answer.status, answer.text]).toEqual([404, nowhereFor])
    if (route.method === 'GET') expect(home).not.toContain(`href="/portal/${id}${route.path}"`)
  })

  it('answers 404 in another organization, with ids of either, or in an unknown organization', async () => {
    const { id, rows } = untouched
    const organizationIds = [id, ...some([unknownId, 'x', "'", '..%2F..', id.toUpperCase()], index)]
    const addresses = organizationIds.map((organizationId) => addressOf(route, organizationId, rows))
    for (const address of addresses) {
      const answer = await send(foreigner, route, address)
      expect([address, answer.status, answer.text]).toEqual([address, 404, nowhere])
    }
    if (!FINDS.some((name) => route.path.includes(`:${name}`))) return
    // The member's own organization, with ids of the other one.
    const foreign = await send(foreigner, route, addressOf(route, elsewhere.id, rows))
    expect([foreign.status, foreign.text]).toEqual([404, nowhereElsewhere])
  })

  it('leads to sign-in without a session, and changes nothing', async () => {
    const answer = await send(visit(service), route, addressOf(route, untouched.id, untouched.rows))
    expect([answer.status, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/portal\/sign-in/)])
  })

  it.runIf(route.path.includes(':'))('answers malformed ids without an internal error', async () => {
    for (const value of [unknownId, ...some(['x', '%00', "'", '%F0%9F%8E%93'], index)]) {
      const address = `/portal/${elsewhere.id}${route.path.replace(/:\w+/g, value)}`
      expect((await send(foreigner, route, address)).status).toBeLessThan(500)
    }
  })

  it.runIf(route.method === 'POST')('rejects requests from other sites or without an origin', async () => {
    const { id, rows, people } = untouched
    const admin = people.get('owner')!
    const strange: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:3000' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:3000.evil.example' },
    ]
    for (const headers of [{}, ...some(strange, index)]) {
      const address = addressOf(route, id, rows)
      const answer = await service.http().post(address).set('cookie', admin.cookie()!).set(headers).type('form').send('')
      expect([headers, answer.status]).toEqual([headers, 400])
    }
  })
})

it('changes nothing if a form is rejected', async () => {
  expect(await contents(untouched.id)).toEqual(before)
})

const ago = (hours: number) => new Date(service.clock.now().getTime() - hours * HOUR_MS)
type Missing = { rules: object; session?: object; proof?: object; status: 303 | 403; leads?: RegExp }
const missing: Record<Exclude<SessionAccess, 'open'>, () => Missing> = {
  network: () => ({ rules: { networks: ['198.51.100.0/24', '2001:db8::/32'] }, status: 403 }),
  sso: () => ({ rules: { ssoEnforcedAt: ago(1) }, status: 403 }),
  proof: () => ({ rules: {}, proof: { kind: 'totp' }, status: 303 }),
  factor: () => ({ rules: { secondFactorFrom: ago(1) }, status: 303, leads: /^\/portal\/factors/ }),
  idle: () => ({ rules: { idleMinutes: 15 }, session: { lastSeenAt: ago(0.25) }, status: 303 }),
  age: () => ({ rules: { sessionHours: 1 }, session: { createdAt: ago(1) }, status: 303 }),
  signIn: () => ({ rules: {}, session: { closedOrganizationIds: [] }, status: 303 }),
}

const requirements = Object.entries(missing).map(([name, make], place) => ({ name, make, place }))

describe.each(requirements)('a session with an unmet requirement ($name)', ({ name, make, place }) => {
  // One hook checks all requirements, so each route is tried with one of them, and with all in the long run.
  const tried = routes.filter((_, index) => LONG || index % requirements.length === place)
  let locked: { id: string; rows: Rows; admin: Visitor; status: number; leads: RegExp }
  beforeAll(async () => {
    const { id, rows } = await setUp([])
    const admin = await signInAs(service, id, ['admin'])
    const other = await service.make.organization()
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: admin.member.id } })
    await service.make.member(other.id, { credentialId })
    const { rules, session, proof, status, leads = /^\/portal\/sign-in/ } = make()
    const { id: sessionId } = await service.db.session.findFirstOrThrow({ where: { credentialId: credentialId! } })
    await service.db.organizationSecurity.create({ data: { organizationId: id, updatedAt: service.clock.now(), ...rules } })
    if (session)
      await service.db.session.update({
        where: { id: sessionId },
        data: { ...session, ...(name === 'signIn' && { closedOrganizationIds: [id] }) },
      })
    if (proof) await service.db.sessionAuthentication.updateMany({ where: { sessionId }, data: proof })
    locked = { id, rows, admin, status, leads }
  })

  it('opens no page, form, recording, or script of the organization, and changes nothing', async () => {
    const { id, rows, admin, status, leads } = locked
    const { name: organization } = await service.db.organization.findUniqueOrThrow({ where: { id } })
    const was = await contents(id)
    for (const route of [...tried, { name: 'GET /nowhere', method: 'GET', path: '/nowhere', roles: [] } as const]) {
      const answer = await send(admin, route, addressOf(route, id, rows))
      // With single sign-on, a page responds in place, but a form is saved first and then redirects.
      const isKept = name === 'sso' && route.method !== 'GET'
      expect([route.name, answer.status]).toEqual([route.name, isKept ? 303 : status])
      if (answer.status === 303) expect(answer.headers.location).toMatch(leads)
      expect(answer.text).not.toContain(organization)
    }
    const preview = await admin.get(`/i/preview/${id}/${rows.assessmentId}/start`)
    expect([preview.status, preview.text.includes(organization)]).toEqual([404, false])
    expect(await contents(id)).toEqual(was)
  })
})

/** Forms that need recent authentication, from the list above. */
const fresh = (await listByFreshness()).fresh.map((name) => name.replace(' /:organizationId', ' '))

it('requires recent authentication again after a quarter of an hour', async () => {
  const { id, rows } = await setUp()
  const admin = await signInAs(service, id, ['admin'], ['owner'])
  await service.db.sessionAuthentication.updateMany({
    where: { session: { credential: { memberships: { some: { id: admin.member.id } } } } },
    data: { at: ago(0.25) },
  })
  const was = await contents(id)
  const asked = routes.filter(({ name }) => fresh.includes(name))
  expect(asked.length).toBeGreaterThan(15)
  for (const route of asked) {
    const answer = await send(admin, route, addressOf(route, id, rows))
    expect([route.name, answer.status, answer.headers.location]).toEqual([
      route.name,
      303,
      expect.stringMatching(/^\/portal\/prove(\?next=|$)/),
    ])
  }
  expect(await contents(id)).toEqual(was)
})

it('shows the not-found page in the layout of a signed-in member', async () => {
  const { id } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  for (const path of ['nowhere', `invites/${unknownId}`, 'invites/x/y/z']) {
    const { status, text } = await admin.get(`${admin.home}${path}`)
    expect([path, status, text.includes(`href="${admin.home}invites"`)]).toEqual([path, 404, true])
  }
})

describe('a form', () => {
  it("is accepted from the service's own origin in browsers without Sec-Fetch-Site", async () => {
    const { id } = await service.make.organization()
    const { cookie, home } = await signInAs(service, id, ['admin'])
    const name = { firstName: 'Grace', lastName: 'Hopper' }
    const answer = await service
      .http()
      .post(`${home}account/name`)
      .set({ cookie: cookie()!, origin: 'http://localhost:3000' })
      .type('form')
      .send(name)
    expect(answer.status).toBe(303)
  })

  it.each(['/portal/sign-in', '/portal/sign-out', '/portal/forgot', '/portal/join/x', '/portal/reset/x'])(
    'is rejected from another site before sign-in, too: %s',
    async (path) => {
      expect((await service.http().post(path).set('sec-fetch-site', 'cross-site').type('form').send('')).status).toBe(400)
    },
  )

  it.each([
    ['application/json', '{"firstName":"Grace","lastName":"Hopper"}'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="firstName"\r\n\r\nGrace\r\n--x--\r\n'],
    ['text/plain', 'firstName=Grace&lastName=Hopper'],
  ])('is rejected with the content type %s', async (type, body) => {
    const { id } = await service.make.organization()
    const { cookie, home } = await signInAs(service, id, ['admin'])
    const own = { cookie: cookie()!, 'sec-fetch-site': 'same-origin', 'content-type': type }
    expect((await service.http().post(`${home}account/name`).set(own).send(body)).status).toBe(400)
  })
})

it('sends strict headers on every page, and allows caching only of files with a content hash', async () => {
  const { id } = await service.make.organization()
  const person = await signInAs(service, id, ['admin'])
  const pages = ['/portal', '/portal/sign-in', '/portal/forgot', '/portal/join/x', '/portal/nowhere', '/portal/%zz', person.home]
  for (const path of pages) {
    const { headers } = await person.get(path)
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect([headers['cache-control'], headers['x-robots-tag']]).toEqual(['no-store', 'noindex, nofollow'])
  }
  const { text } = await person.get(person.home)
  const assets = [...text.matchAll(/"(\/portal\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  expect(assets).toHaveLength(3)
  for (const path of assets) {
    const { status, headers } = await service.http().get(path)
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable'])
  }
})
