import { parse } from 'csv-parse/sync'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createResetLink } from '../../../src/domain/members/invite-member.ts'
import { isBrowserInstalled, startBrowser, watch } from '../../support/browser.ts'
import { DAY_MS } from '../../support/factories.ts'
import { makeReopened } from '../../support/grading.ts'
import { asOperator, joinPath, signInAs, visit } from '../../support/portal.ts'
import { listPortalRoutes } from '../../support/portal-routes.ts'
import {
  createSampleOrganization,
  makeArchiveRow,
  makeAskedVersion,
  makeAtsOrder,
  makeBulkChange,
  makeErasure,
  makeLibrary,
  makeShareLink,
  makeSsoRows,
} from '../../support/sample-organization.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeStructure } from '../../support/structure.ts'
import { submitRows } from '../../support/submissions.ts'

/** Ends any attribute, element, comment, and script around it. After one of BEGINNINGS, it is a spreadsheet formula. */
const HOSTILE = `HYPERLINK("https://evil.example","x")'"><x-hostile data-hostile="1" onclick=alert(1)></textarea></title></option></script><script>document.title='taken'</script><img src=x onerror=alert(1)>--><!--&lt;\u202egnp.{{7*7}}`
/** Characters that begin a formula in a spreadsheet. */
const BEGINNINGS = ['=', '+', '-', '@', '\t', '\r']

const service = await startServiceForFile({ ATS_GREENHOUSE: 'on' })
let origin: string
let browser: Browser
beforeAll(async () => {
  if (!isBrowserInstalled) return
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(() => browser?.close())

/** Creates an organization with one row of each kind, its admin, and the ids for the addresses of its pages. */
async function makeOrganization() {
  const { db, deps, clock } = service
  const rows = await createSampleOrganization(service, 'words')
  const organizationId = rows.id
  const admin = await signInAs(service, organizationId, ['admin', 'grader', 'client'])
  const other = await service.make.organization()
  const { credentialId } = await db.member.findUniqueOrThrow({ where: { id: admin.member.id } })
  await service.make.member(other.id, { credentialId, roles: ['client'] }) // shows the choice of organizations
  await db.assessmentClient.create({
    data: { organizationId, assessmentId: rows.assessment.id, memberId: admin.member.id, position: 9 },
  })
  const soon = new Date(clock.now().getTime() + DAY_MS)
  await db.invite.update({
    where: { id: rows.invite.id },
    data: { expiresAt: soon, createdById: admin.member.id, createdByKeyId: null },
  })
  const kept = { id: deps.newId(), organizationId, memberId: admin.member.id, createdAt: clock.now() }
  await db.savedFilter.create({ data: { ...kept, name: 'words', query: 'words', isShared: true } })
  await db.inviteEmail.updateMany({ data: { state: 'failed', reason: 'words' } })
  const of = { organizationId, assessmentId: rows.assessment.id, createdById: admin.member.id, createdAt: clock.now() }
  const batch = await db.inviteBatch.create({ data: { id: deps.newId(), ...of, terms: {}, unusedColumns: [] } })
  const row = { organizationId, batchId: batch.id, email: 'words', name: 'words', terms: {} }
  await db.inviteBatchRow.createMany({
    data: [
      { ...row, number: 1, state: 'invalid' },
      { ...row, number: 2, state: 'already', inviteId: rows.invite.id },
    ],
  })
  await submitRows(service, { organizationId, inviteId: rows.invite.id, assessmentId: rows.assessment.id }, 'words')
  const { id: sessionId } = await db.session.findFirstOrThrow({ where: { credentialId: credentialId! } })
  const { id: keyId } = await db.apiKey.findFirstOrThrow({ where: { organizationId } })
  const { id: suppressionId } = await db.suppression.create({
    data: { id: deps.newId(), organizationId, mode: 'live', address: 'words@example.com', reason: 'bounce', since: clock.now() },
  })
  const submissionId = await makeReopened(service, {
    organizationId,
    assessmentId: rows.assessment.id,
    inviteId: rows.invite.id,
    memberId: rows.member.id,
  })
  await db.member.updateMany({ where: { id: admin.member.id }, data: { canViewTranscription: true } })
  const shared = { organizationId, assessmentId: rows.assessment.id, createdById: admin.member.id }
  const ids: Record<string, string> = {
    suppressionId,
    shareId: await makeShareLink(service, shared, submissionId),
    erasureId: await makeErasure(service, organizationId),
    archiveId: await makeArchiveRow(service, organizationId, { finishedAt: service.clock.now() }), // otherwise its page reloads itself
    ...(await makeAtsOrder(service, rows.invite.id)),
    ...(await makeSsoRows(service, { organizationId, memberId: admin.member.id, credentialId: credentialId! })),
    versionId: await makeAskedVersion(service, organizationId),
    ...(await makeLibrary(service, { organizationId, questionId: rows.question.id, memberId: admin.member.id })),
    sessionId,
    keyId,
    memberId: rows.member.id,
    tagId: rows.tag.id,
    assessmentId: rows.assessment.id,
    questionId: rows.question.id,
    ...(await makeStructure(service, {
      organizationId,
      assessmentId: rows.assessment.id,
      questionId: rows.question.id,
    })),
    inviteId: rows.invite.id,
    batchId: batch.id,
    changeId: await makeBulkChange(service, { organizationId, inviteId: rows.invite.id, memberId: admin.member.id }),
    webhookId: rows.webhook.id,
    deliveryId: rows.delivery.id,
    eventId: rows.delivery.id,
    number: '1',
    submissionId,
  }
  return { organizationId, admin, ids }
}

type Column = { table: string; column: string; type: string }

/**
 * Finds every column with text. The query excludes copies of other columns, addresses that the service sends to, and names that nobody can
 * edit: of an ATS, of sign-in methods, and of time zones.
 */
const findTexts = () => service.db.$queryRaw<Column[]>`
  SELECT c.table_name AS table, c.column_name AS column, c.data_type AS type
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
  WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.table_name <> '_prisma_migrations'
    AND (c.data_type IN ('text', 'character varying') OR c.udt_name IN ('_text', '_varchar')) AND (c.table_name, c.column_name) NOT IN (('webhook_endpoints', 'url'), ('ats_connections', 'ats'), ('session_authentications', 'kind'),
      ('sign_in_providers', 'second_factor'), ('sign_in_providers', 'client_auth'), ('identities', 'linked_by'),
      ('organizations', 'time_zone'), ('invites', 'time_zone'))
    AND NOT EXISTS (
      SELECT FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey)
      WHERE f.contype = 'f' AND f.conrelid = format('public.%I', c.table_name)::regclass AND a.attname = c.column_name)
  ORDER BY 1, 2`

/** Replaces every text in the database with a hostile one that begins differently in each turn. @returns the number of columns. */
async function poison(turn: number): Promise<number> {
  const { db } = service
  const columns = await findTexts()
  for (const [i, { table, column, type }] of columns.entries()) {
    const beginning = column.endsWith('_url') ? 'javascript:' : BEGINNINGS[(i + turn) % BEGINNINGS.length]
    const text = type === 'ARRAY' ? `array_append("${column}", $1)` : `$1 || gen_random_uuid()`
    await db.$executeRawUnsafe(`UPDATE "${table}" SET "${column}" = ${text}`, `${beginning}${HOSTILE}`)
  }
  await db.auditEntry.updateMany({ data: { details: { [HOSTILE]: [HOSTILE], changed: { before: HOSTILE, after: HOSTILE } } } })
  const issues = [{ field: 'tagIds', rule: 'reference', value: HOSTILE }]
  await db.inviteBatchRow.updateMany({ where: { state: 'invalid' }, data: { issues } })
  await db.bulkChangeRow.updateMany({ data: { issues } })
  return columns.length
}

/** Query parameters of pages. */
const QUERY_PARAMETERS = [
  'search',
  'who',
  'action',
  'done',
  'state',
  'status',
  'role',
  'sort',
  'assessment',
  'tag',
  'before',
  'named',
  'next',
  'page',
  'primaryColor',
]
const query = `?${new URLSearchParams(Object.fromEntries(QUERY_PARAMETERS.map((name) => [name, `=${HOSTILE}`])))}`

/** Routes that are not pages with texts, such as files, redirects, and PDFs. The tests in test/reports cover texts in PDFs. */
const FILES = [
  'GET /media/:mediaId',
  'GET /pictures/:pictureId',
  'GET /question-media/:mediumId',
  'GET /results/:submissionId/report',
  // Previews of mails, whose texts the tests in test/mail cover, and of the header of a candidate's page.
  'GET /settings/brand/preview',
  'GET /settings/words/preview',
  'GET /assessments/:assessmentId/words/preview',
  // Redirects to other websites.
  'GET /account/link/:providerId',
  'GET /settings/sign-in/providers/:providerId/try',
  // A recording, and pages that need a transcript, a stored file, or the digest of a text.
  'GET /results/:submissionId/media/:mediaId',
  'GET /media/:mediaId/transcript',
  'GET /media/:mediaId/transcript.vtt',
  'GET /question-media/:mediumId/captions',
  'GET /imports/:fileId',
  'GET /grading/by-question/:assessmentId/:questionId/:wording',
  'GET /grading/by-question/:assessmentId/:questionId/:wording/:submissionId',
  'GET /grading/by-question/:assessmentId/:questionId/:wording/:submissionId/equal',
  'GET /questions/template.csv',
  'GET /questions/template.xlsx',
]

/** Exports that are empty for this organization, because it has no statistics and no notes on recordings. */
const WITHOUT_ROWS = /\/(?:statistics|notes)\/export$/

/** Reads elements and text from the page in the browser. */
const look = (page: Page) =>
  page.evaluate(`({
    made: document.querySelectorAll('x-hostile, [data-hostile], [onclick], [onerror], img, script:not([src])').length,
    leads: [...document.querySelectorAll('[href], [src], [action], [formaction]')].map((element) =>
      element.getAttribute('href') ?? element.getAttribute('src') ?? element.getAttribute('action')).filter((address) => /^\\s*(javascript|data):/i.test(address)),
    text: document.title + document.documentElement.textContent,
  })`) as Promise<{ made: number; leads: string[]; text: string }>

it.skipIf(!isBrowserInstalled)(
  'escapes scripts and quotes on every page, and formulas in every file (skipped where no chromium is installed)',
  async () => {
    const { organizationId, admin, ids } = await makeOrganization()
    const organization = { id: organizationId, name: 'words' }
    const join = await joinPath(service, organization, 'joins@example.com')
    const { email } = await service.db.credential.findFirstOrThrow()
    const reset = new URL((await createResetLink(asOperator(service, organization), email, { mails: false }))!.url).pathname
    expect(await poison(0)).toBeGreaterThan(50)

    const [name, value] = admin.cookie()!.split('=') as [string, string]
    const context = await browser.newContext()
    await context.addCookies([{ name, value, url: origin }])
    const page = await context.newPage()
    const complaints = watch(page)
    const expectText = async (address: string, isNamed: boolean) => {
      const response = (await page.goto(origin + address))!
      expect([address, response.status()]).toEqual([address, expect.toBeOneOf([200, 422])])
      const { made, leads, text } = await look(page)
      expect([address, made, leads, complaints.filter((line) => !/status of 422/.test(line))]).toEqual([address, 0, [], []])
      if (isNamed) expect(text, address).toContain(HOSTILE)
    }

    const addressOf = (route: string): string => {
      const path = route.replace(/^\w+ /, '').replace(/:(\w+)/g, (_all, parameter: string) => {
        if (!ids[parameter]) throw new Error(`${route} needs an id for ${parameter} here`)
        return ids[parameter]
      })
      return `/portal/${organizationId}${path}`
    }
    const routes = await listPortalRoutes(service.system)
    const pages = routes.filter((known) => known.startsWith('GET ') && !FILES.includes(known))
    for (const address of pages.map(addressOf)) for (const asked of ['', query]) await expectText(address + asked, true)
    await expectText('/portal', true)
    await context.clearCookies()
    for (const address of [join, reset]) expect((await visit(service).get(address)).text).toContain('&lt;x-hostile')
    for (const address of [join, reset, '/portal/sign-in', '/portal/forgot'])
      for (const asked of ['', query]) await expectText(address + asked, false)

    // A comparison needs two results: see compare.test.ts.
    const files = routes.filter((known) => /^POST .*\/export$/.test(known) && !known.includes('/compare/')).map(addressOf)
    expect(files.length).toBeGreaterThan(0)
    for (const turn of BEGINNINGS.keys()) {
      await poison(turn)
      for (const address of files) {
        const cells = (parse((await admin.post(address)).text, { bom: true }) as string[][]).flat()
        expect(cells.filter((cell) => /^[=+\-@\t\r\n]/.test(cell))).toEqual([])
        if (!WITHOUT_ROWS.test(address)) expect(cells.join()).toContain(HOSTILE)
      }
    }
  },
)
