import { expect, it } from 'vitest'
import { makeSubmitted } from '../../../support/grading.ts'
import { signInAs, type Visitor } from '../../../support/portal.ts'
import { listPortalRoutes } from '../../../support/portal-routes.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { jpeg } from '../../../support/submissions.ts'

const service = await startServiceForFile()

/** Texts that identify the candidate. */
const TRACES = ['Zebulon Quick', 'zebulon@example.net']

/** Creates a blind-graded submission with photos and recordings. Its grader is also a client of the assessment. */
async function setUp() {
  const made = await makeSubmitted(service, { recipientName: TRACES[0]!, recipientEmail: TRACES[1]! })
  const { organization, assessment, invite, submissionId, assign } = made
  await service.db.assessment.update({ where: { id: assessment.id }, data: { blindGrading: true } })
  const grader = await signInAs(service, organization.id, ['grader', 'client'])
  await assign(grader.member.id)
  const of = { organizationId: organization.id, assessmentId: assessment.id }
  await service.db.assessmentClient.create({ data: { ...of, memberId: grader.member.id, position: 0 } })
  const media: Record<string, string> = {}
  for (const kind of ['id_photo', 'face_photo', 'webcam_still', 'webcam', 'screen', 'answer'] as const) {
    const [id, createdAt] = [service.deps.newId(), service.clock.now()]
    const key = `${organization.id}/${id}`
    await service.deps.media.put(`${key}/file`, jpeg())
    const stored = { kind, key, state: 'ready', contentType: 'image/jpeg', bytes: jpeg().length, createdAt } as const
    await service.db.mediaFile.create({ data: { id, organizationId: organization.id, submissionId, ...stored } })
    media[kind] = id
  }
  const rows: Record<string, string> = { ...of, inviteId: invite.id, submissionId, number: '1', place: 'first' }
  const opens = async (who: Visitor, path: string) => (await who.get(`/portal/${organization.id}/${path}`)).status === 200
  return { ...made, grader, media, rows, opens }
}
type SampleOrganization = Awaited<ReturnType<typeof setUp>>

/** Requests every page and export, and sends every form empty. @returns the routes that were shown, and those that named the candidate. */
async function walk({ organization, rows }: SampleOrganization, who: Visitor, routes: string[]) {
  const shown: string[] = []
  const named: string[] = []
  for (const route of routes) {
    const [method, path] = route.split(' ') as ['GET' | 'POST', string]
    const filled = path.replace(/:(\w+)/g, (_all, name: string) => rows[name] ?? service.deps.newId())
    const address = `/portal/${organization.id}${filled}`
    const queries = method === 'GET' ? ['', '?search=zebulon', '?search=zebulon@example.net', '?queue=nobody'] : ['']
    for (const query of queries) {
      const answer = await (method === 'GET' ? who.get(address + query) : who.post(address))
      if (answer.status === 200) shown.push(route)
      const shownText = (answer.text ?? '').replaceAll('value="zebulon@example.net"', '') // the value of the search field
      if (TRACES.some((trace) => shownText.includes(trace))) named.push(route)
    }
  }
  return { shown: new Set(shown), named: new Set(named) }
}

it("hides the candidate's name from graders on every page, and shows it to admins", async () => {
  const made = await setUp()
  const { grader, organization, submissionId } = made
  const all = await listPortalRoutes(service.system)
  const pages = all.filter((route) => route.startsWith('GET ') || route.endsWith('/export'))
  const admin = await signInAs(service, organization.id, ['admin'])
  const sheetOf = (who: typeof grader) => who.get(`${who.home}grading/${submissionId}`)
  const called = `Candidate ${submissionId.slice(-4).toUpperCase()}`
  expect((await sheetOf(grader)).text).toContain(`<h1>${called}</h1>`)
  expect((await grader.get(`${grader.home}grading`)).text).toContain(called)
  expect((await sheetOf(admin)).text).toContain(`<h1>${TRACES[0]}</h1>`)
  const before = await walk(made, grader, pages)
  expect([...before.named]).toEqual([])
  expect(before.shown).toContain('GET /grading/:submissionId/release')
  for (const number of ['1', '2']) {
    const grade = { points: '1', comment: '', seen: service.clock.now().toISOString() }
    await grader.post(`${grader.home}grading/${submissionId}/questions/${number}`, grade)
  }
  await grader.post(`${grader.home}grading/${submissionId}/release`, { comment: '', message: '' })
  const after = await walk(
    made,
    grader,
    all.filter((route) => !/\/account\//.test(route)),
  )
  expect([...after.named]).toEqual([])
  const theirs = await walk(made, admin, pages)
  expect([...theirs.named]).toEqual(
    expect.arrayContaining([
      'GET /grading/:submissionId',
      'GET /invites',
      'GET /invites/:inviteId',
      'GET /invites/:inviteId/submission',
      'GET /results',
      'GET /results/:submissionId',
      'POST /invites/export',
    ]),
  )
})

it('shows graders only recordings that are answers', async () => {
  const { grader, media, opens, submissionId } = await setUp()
  const { text } = await grader.get(`${grader.home}grading/${submissionId}`)
  expect(text).not.toContain('/media/')
  const seen = await Promise.all(Object.entries(media).map(async ([kind, id]) => [kind, await opens(grader, `media/${id}`)]))
  expect(seen).toEqual(Object.keys(media).map((kind) => [kind, kind === 'answer']))
})

it('hides the invite from its grader, also in counts, until blind grading is off', async () => {
  const { grader, rows, opens, assessment } = await setUp()
  const visible = async () => [
    await opens(grader, `invites/${rows.inviteId}`),
    await opens(grader, `invites/${rows.inviteId}/submission`),
    await opens(grader, `invites?assessment=${assessment.id}`),
    (await grader.get(`${grader.home}invites`)).text.includes(TRACES[1]!),
    (await grader.get(grader.home)).text.includes('Completed</a>'),
  ]
  expect(await visible()).toEqual([false, false, false, false, false])
  await service.db.assessment.update({ where: { id: assessment.id }, data: { blindGrading: false } })
  expect(await visible()).toEqual([true, true, true, true, true])
})
