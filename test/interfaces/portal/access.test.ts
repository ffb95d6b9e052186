import { describe, expect, it } from 'vitest'
import { beginMedium } from '../../../src/domain/assets/upload-medium.ts'
import { unknownId } from '../../support/factories.ts'
import { makeAskedVersion, makeAtsOrder, makeBulkChange, makeLibrary, makeWebhook } from '../../support/furnish.ts'
import { makeReopened } from '../../support/grading.ts'
import { makePicture } from '../../support/pictures.ts'
import { asOperator, signInAs, type Visitor, visit } from '../../support/portal.ts'
import { listPortalRoutes } from '../../support/portal-routes.ts'
import { startServiceForFile } from '../../support/service.ts'
import { jpeg } from '../../support/submissions.ts'

const ROLES = ['admin', 'grader', 'client'] as const
type Role = (typeof ROLES)[number]

/** What a page or form of an organization is about, by the names in its address. */
type Rows = {
  keyId: string
  sessionId: string
  memberId: string
  tagId: string
  assessmentId: string
  questionId: string
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
}

/**
 * Every page and form of an organization, and the roles that may see and send it. A new one needs its line here; then it is held to all
 * that follows.
 */
const everybody = [...ROLES]
const allowed: Record<string, readonly Role[]> = {
  'GET /': everybody,
  'POST /confirm': everybody,
  'GET /assessments': ['admin'],
  'GET /assessments/new': ['admin'],
  'POST /assessments': ['admin'],
  'GET /assessments/:assessmentId/invites': ['admin'],
  'GET /assessments/:assessmentId/results': ['admin'],
  'GET /assessments/:assessmentId': ['admin'],
  'GET /assessments/:assessmentId/edit': ['admin'],
  'POST /assessments/:assessmentId/edit': ['admin'],
  'POST /assessments/:assessmentId/duplicate': ['admin'],
  'POST /assessments/:assessmentId/archive': ['admin'],
  'POST /assessments/:assessmentId/unarchive': ['admin'],
  'POST /assessments/:assessmentId/delete': ['admin'],
  'GET /assessments/:assessmentId/preview': ['admin'],
  'GET /assessments/:assessmentId/questions/new': ['admin'],
  'POST /assessments/:assessmentId/questions': ['admin'],
  'GET /assessments/:assessmentId/questions/:questionId': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/move': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/duplicate': ['admin'],
  'POST /assessments/:assessmentId/order': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/delete': ['admin'],
  'GET /keys/:versionId': ['admin'],
  'POST /keys/:versionId': ['admin'],
  'POST /keys/:versionId/preview': ['admin'],
  'POST /keys/:versionId/resume': ['admin'],
  'GET /account': everybody,
  'POST /account/name': everybody,
  'POST /account/preferences': everybody,
  'POST /account/password': everybody,
  'POST /account/sessions/:sessionId/end': everybody,
  'POST /account/sessions/end-others': everybody,
  'GET /settings/integrations': ['admin'],
  'POST /settings/integrations': ['admin'],
  'GET /settings/integrations/:keyId': ['admin'],
  'POST /settings/integrations/:keyId/rights': ['admin'],
  'POST /settings/integrations/:keyId/limit': ['admin'],
  'POST /settings/integrations/:keyId/rotate': ['admin'],
  'POST /settings/integrations/:keyId/revoke': ['admin'],
  'GET /settings/webhooks': ['admin'],
  'POST /settings/webhooks': ['admin'],
  'GET /settings/webhooks/:webhookId': ['admin'],
  'POST /settings/webhooks/:webhookId': ['admin'],
  'POST /settings/webhooks/:webhookId/enable': ['admin'],
  'POST /settings/webhooks/:webhookId/disable': ['admin'],
  'POST /settings/webhooks/:webhookId/replay': ['admin'],
  'POST /settings/webhooks/:webhookId/rotate-secret': ['admin'],
  'POST /settings/webhooks/:webhookId/test': ['admin'],
  'POST /settings/webhooks/:webhookId/delete': ['admin'],
  'GET /settings/webhooks/:webhookId/deliveries': ['admin'],
  'GET /settings/webhooks/:webhookId/deliveries/:deliveryId': ['admin'],
  'POST /settings/webhooks/:webhookId/deliveries/:deliveryId/replay': ['admin'],
  'GET /settings/ats': ['admin'],
  'POST /settings/ats/:ats/keys': ['admin'],
  'POST /settings/ats/:ats/their-key': ['admin'],
  'POST /settings/ats/keys/:atsKeyId/revoke': ['admin'],
  'GET /settings/ats/connections/:connectionId': ['admin'],
  'POST /settings/ats/connections/:connectionId/test': ['admin'],
  'POST /settings/ats/orders/:orderId/report': ['admin'],
  'GET /members': ['admin'],
  'POST /members/export': ['admin'],
  'GET /members/invite': ['admin'],
  'POST /members/invite': ['admin'],
  'GET /members/:memberId': ['admin'],
  'POST /members/:memberId': ['admin'],
  'POST /members/:memberId/deactivate': ['admin'],
  'POST /members/:memberId/reactivate': ['admin'],
  'POST /members/:memberId/link': ['admin'],
  'GET /settings/organization': ['admin'],
  'POST /settings/organization': ['admin'],
  'GET /settings/audit-log': ['admin'],
  'POST /settings/audit-log/export': ['admin'],
  'GET /tags': ['admin'],
  'POST /tags': ['admin'],
  'GET /tags/:tagId': ['admin'],
  'POST /tags/:tagId': ['admin'],
  'POST /tags/:tagId/delete': ['admin'],
  'GET /invites': everybody,
  'POST /invites/export': everybody,
  'GET /invites/new': ['admin'],
  'POST /invites': ['admin'],
  'GET /invites/:inviteId': everybody,
  'POST /invites/:inviteId/resend': ['admin'],
  'POST /invites/:inviteId/extend': ['admin'],
  'POST /invites/:inviteId/correct': ['admin'],
  'POST /invites/:inviteId/replace': ['admin'],
  'POST /invites/:inviteId/retake': ['admin'],
  'POST /invites/:inviteId/revoke': ['admin'],
  'POST /invites/:inviteId/reactivate': ['admin'],
  'POST /invites/:inviteId/grader': ['admin'],
  'POST /invites/:inviteId/extra-time': ['admin'],
  'POST /invites/:inviteId/waive': ['admin'],
  'GET /invites/:inviteId/submission': ['admin', 'grader'],
  'POST /invites/:inviteId/submission/delete': ['admin'],
  'POST /invites/:inviteId/tags': ['admin'],
  'POST /invites/:inviteId/tags/:tagId/remove': ['admin'],
  'GET /media/:mediaId': ['admin', 'grader'],
  'GET /pictures/:pictureId': ['admin', 'grader'],
  'POST /question-media': ['admin'],
  'GET /question-media/:mediumId': ['admin'],
  'POST /question-media/:mediumId/complete': ['admin'],
  'POST /question-media/:mediumId/parts/:segment/:number': ['admin'],
  'GET /questions': ['admin', 'grader'],
  'GET /questions/:libraryId': ['admin', 'grader'],
  'POST /questions/:libraryId': ['admin'],
  'POST /questions/:libraryId/try': ['admin', 'grader'],
  'POST /questions/:libraryId/retire': ['admin'],
  'POST /questions/:libraryId/restore': ['admin'],
  'POST /questions/:libraryId/add': ['admin'],
  'GET /assessments/:assessmentId/questions/:questionId/library/difference': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/library/save': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/library/version': ['admin'],
  'POST /assessments/:assessmentId/questions/:questionId/library/take': ['admin'],
  'GET /questions/imports/new': ['admin'],
  'POST /questions/imports': ['admin'],
  'GET /questions/imports/:importId': ['admin'],
  'POST /questions/imports/:importId/start': ['admin'],
  'POST /questions/imports/:importId/undo': ['admin'],
  'GET /questions/template.csv': ['admin'],
  'GET /questions/template.xlsx': ['admin'],
  'POST /questions/export': ['admin'],
  'GET /grading': ['admin', 'grader'],
  'GET /grading/:submissionId': ['admin', 'grader'],
  'GET /grading/:submissionId/questions/:number': ['admin', 'grader'],
  'POST /grading/:submissionId/questions/:number': ['admin', 'grader'],
  'POST /grading/:submissionId/questions/:number/save': ['admin', 'grader'],
  'POST /grading/:submissionId/viewers': ['admin', 'grader'],
  'POST /grading/:submissionId/take-over': ['admin', 'grader'],
  'POST /grading/:submissionId/hand-on/:place': ['admin', 'grader'],
  'GET /grading/:submissionId/release': ['admin', 'grader'],
  'POST /grading/:submissionId/release': ['admin', 'grader'],
  'POST /grading/:submissionId/reopen': ['admin', 'grader'],
  'GET /results': ['admin', 'client'],
  'GET /results/assessments/:assessmentId': ['admin', 'client'],
  'POST /results/assessments/:assessmentId/export': ['admin'],
  'GET /results/:submissionId': ['admin', 'client'],
  'GET /results/:submissionId/report': ['admin', 'client'],
  'GET /invites/batches': ['admin'],
  'POST /invites/batches': ['admin'],
  'GET /invites/batches/:batchId': ['admin'],
  'POST /invites/batches/:batchId/start': ['admin'],
  'POST /invites/batches/:batchId/stop': ['admin'],
  'POST /invites/batches/:batchId/resume': ['admin'],
  'POST /invites/batches/:batchId/discard': ['admin'],
  'POST /invites/batches/:batchId/export': ['admin'],
  'POST /invites/changes/:changeId/export': ['admin'],
  'POST /invites/filters': everybody,
  'POST /invites/filters/:filterId/delete': everybody,
  'GET /candidates': ['admin'],
  'GET /candidates/:inviteId': ['admin'],
  'GET /invites/changes': ['admin'],
  'GET /invites/changes/new': ['admin'],
  'POST /invites/changes': ['admin'],
  'GET /invites/changes/:changeId': ['admin'],
  'POST /invites/changes/:changeId/stop': ['admin'],
  'POST /invites/changes/:changeId/resume': ['admin'],
  'POST /test-data/delete': ['admin'],
}

/** Of these, those whose rows are looked up: another organization's are not found. Everything else does nothing to them. */
const FINDS: (keyof Rows)[] = [
  'keyId',
  'memberId',
  'assessmentId',
  'questionId',
  'inviteId',
  'mediaId',
  'pictureId',
  'mediumId',
  'submissionId',
  'batchId',
  'changeId',
  'webhookId',
  'deliveryId',
  'connectionId',
  'atsKeyId',
  'orderId',
  'libraryId',
  'importId',
  'versionId',
]

// Without the sweep: it changes rows by itself.
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
  const { id: sessionId } = await service.db.session.findFirstOrThrow({ where: { credentialId: credentialId! } })
  const { id: tagId } = await service.make.tag(organizationId)
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
    memberId: member.id,
    tagId,
    assessmentId,
    questionId,
    inviteId,
    mediaId,
    pictureId: await makePicture(service, organizationId),
    mediumId: await beginMedium(asOperator(service, { id: organizationId, name: '' }), 'audio'),
    segment: '0',
    batchId,
    changeId,
    filterId,
    submissionId,
    versionId,
  }
  return { ...own, ...atsRows, ...library, number: '1', place: 'first', webhookId: webhook.id, deliveryId: delivery.id }
}

/** Of an invite's candidate, who is preparing. */
async function makePhoto(of: { organizationId: string; assessmentId: string; inviteId: string }): Promise<string> {
  const { newId, media } = service.deps
  const [id, submissionId, createdAt] = [newId(), newId(), service.clock.now()]
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  await service.db.submission.create({ data: { ...of, ...limits, id: submissionId, createdAt, updatedAt: createdAt } })
  const { organizationId } = of
  const key = `${organizationId}/${id}`
  await media.put(`${key}/file`, jpeg())
  const photo = { kind: 'id_photo', state: 'ready', contentType: 'image/jpeg', bytes: jpeg().length } as const
  await service.db.media.create({ data: { ...photo, id, key, organizationId, submissionId, createdAt } })
  return id
}

const addressOf = ({ path }: Route, organizationId: string, rows: Rows): string =>
  `/portal/${organizationId}${path.replace(/:(\w+)/g, (_all, name: keyof Rows) => rows[name])}`

const send = (person: Visitor, route: Route, address: string) =>
  route.method === 'GET' ? person.get(address) : person.post(address)

/** All that a refused request must leave as it was. */
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
      omit: { lastSeenAt: true, expiresAt: true },
      orderBy: { id: 'asc' },
    }),
    assessments: await assessment.findMany({ where, orderBy: { id: 'asc' } }),
    questions: await question.findMany({ where, orderBy: { id: 'asc' } }),
    answerKeys: await service.db.questionKey.count({ where }),
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
    audit: await auditEntry.count({ where }),
  }
}

/** An organization with its rows and somebody of each role: the client's assessment, and the invite that the grader was assigned. */
async function furnish() {
  const { id } = await service.make.organization()
  const rows = await makeRows(id)
  const [admin, grader, client] = [
    await signInAs(service, id, ['admin']),
    await signInAs(service, id, ['grader']),
    await signInAs(service, id, ['client']),
  ]
  const of = { organizationId: id, assessmentId: rows.assessmentId, memberId: client.member.id, position: 0 }
  await service.db.assessmentClient.create({ data: of })
  await service.db.invite.update({ where: { id: rows.inviteId }, data: { assignedGraderId: grader.member.id } })
  return { id, rows, people: { admin, grader, client } }
}

/** For all that must leave it as it is. */
const untouched = await furnish()
const before = await contents(untouched.id)
const expectUntouched = async () => expect(await contents(untouched.id)).toEqual(before)

it('lists every page and form of an organization', async () => {
  expect(await listPortalRoutes(service.system)).toEqual(Object.keys(allowed).sort())
})

describe.each(routes)('$name', (route) => {
  it.each(ROLES)('is for the roles that may, and nowhere to be found for the others: %s', async (role) => {
    const may = route.roles.includes(role)
    const { id, rows, people } = may && route.method === 'POST' ? await furnish() : untouched
    const person = people[role]
    const answer = await send(person, route, addressOf(route, id, rows))
    if (may) {
      expect([200, 303, 422]).toContain(answer.status)
      return
    }
    const nowhere = await person.get(`/portal/${id}/nowhere`)
    expect([answer.status, answer.text]).toEqual([404, nowhere.text])
    await expectUntouched()
    if (route.method === 'GET') expect((await person.get(person.home)).text).not.toContain(`href="/portal/${id}${route.path}"`)
  })

  it("is nowhere to be found in another organization, with its ids, one's own, or an organization that is none", async () => {
    const { id, rows } = untouched
    const mine = await service.make.organization()
    const admin = await signInAs(service, mine.id, ['admin'])
    const nowhere = (await admin.get('/portal/x/nowhere')).text
    const nowhereHere = (await admin.get(`${admin.home}nowhere`)).text
    const elsewhere = [id, unknownId, 'x', "'", '..%2F..', id.toUpperCase()]
    const addresses = elsewhere.map((other) => addressOf(route, other, rows))
    for (const address of addresses) {
      const answer = await send(admin, route, address)
      expect([address, answer.status, answer.text]).toEqual([address, 404, nowhere])
    }
    // In one's own organization, with the other's ids.
    const foreign = await send(admin, route, addressOf(route, mine.id, rows))
    if (FINDS.some((name) => route.path.includes(`:${name}`))) expect([foreign.status, foreign.text]).toEqual([404, nowhereHere])
    await expectUntouched()
  })

  it('asks who is not signed in to do so, and does nothing', async () => {
    const answer = await send(visit(service), route, addressOf(route, untouched.id, untouched.rows))
    expect([answer.status, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/portal\/sign-in/)])
    await expectUntouched()
  })

  it.runIf(route.path.includes(':'))('takes no id that is none for one', async () => {
    const { id } = await service.make.organization()
    const admin = await signInAs(service, id, ['admin'])
    for (const value of ['x', '%00', "'", unknownId, '%F0%9F%8E%93']) {
      const address = `/portal/${id}${route.path.replace(/:\w+/g, value)}`
      expect((await send(admin, route, address)).status).toBeLessThan(500)
    }
  })

  it.runIf(route.method === 'POST')('takes nothing that comes from another site, or does not say from where', async () => {
    const { id, rows, people } = untouched
    const { admin } = people
    const strange: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:3000' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost:3000.evil.example' },
    ]
    for (const headers of strange) {
      const address = addressOf(route, id, rows)
      const answer = await service.http().post(address).set('cookie', admin.cookie()!).set(headers).type('form').send('')
      expect([headers, answer.status]).toEqual([headers, 400])
    }
    await expectUntouched()
  })
})

it('says that there is no such page within the frame of who is signed in to the organization', async () => {
  const { id } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  for (const path of ['nowhere', `invites/${unknownId}`, 'invites/x/y/z']) {
    const { status, text } = await admin.get(`${admin.home}${path}`)
    expect([path, status, text.includes(`href="${admin.home}invites"`)]).toEqual([path, 404, true])
  }
})

describe('a form', () => {
  it('is taken from where a browser without Sec-Fetch-Site says it is from: our own address', async () => {
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
    'of those who are not signed in is not taken from another site either: %s',
    async (path) => {
      expect((await service.http().post(path).set('sec-fetch-site', 'cross-site').type('form').send('')).status).toBe(400)
    },
  )

  it.each([
    ['application/json', '{"firstName":"Grace","lastName":"Hopper"}'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="firstName"\r\n\r\nGrace\r\n--x--\r\n'],
    ['text/plain', 'firstName=Grace&lastName=Hopper'],
  ])('is nothing but a form: %s', async (type, body) => {
    const { id } = await service.make.organization()
    const { cookie, home } = await signInAs(service, id, ['admin'])
    const own = { cookie: cookie()!, 'sec-fetch-site': 'same-origin', 'content-type': type }
    expect((await service.http().post(`${home}account/name`).set(own).send(body)).status).toBe(400)
  })
})

it('has strict headers on every page, and none is kept by caches but what has its content in its name', async () => {
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
