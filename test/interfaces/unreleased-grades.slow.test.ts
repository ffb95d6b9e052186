import { describe, expect, it } from 'vitest'
import { takeGraderSlot } from '../../src/domain/submissions/grading/reassign-grader.ts'
import { reopenResult } from '../../src/domain/submissions/grading/release-result.ts'
import { collectRoutes } from '../support/app-routes.ts'
import { makeSubmitted } from '../support/grading.ts'
import { KEY_HEADERS, readOperations } from '../support/operations.ts'
import { signInAs } from '../support/portal.ts'
import { startReceiver } from '../support/receiver.ts'
import { makeWebhook } from '../support/sample-organization.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

const routes = collectRoutes()
const service = await startServiceForFile(TO_LOOPBACK)

const TRACES = ['Unreleased remark', '1234.5']
const traceIn = (text: string | undefined) => TRACES.find((trace) => text?.includes(trace))

/** Creates a submission that is graded completely, but not released. Its total is 1234.5. */
async function setUp({ wasReleased = false } = {}) {
  const made = await makeSubmitted(service, { questions: [{ points: 2_000 }, { points: 3 }] })
  const { organization, assessment, invite, join, grade, release, submissionId, assign, candidate } = made
  const grader = await signInAs(service, organization.id, ['grader'])
  await assign(grader.member.id)
  const admin = await join(['admin'])
  if (wasReleased) {
    await grade(admin.ctx, 1, 7)
    await grade(admin.ctx, 2, 3)
    await release(admin.ctx, { toCandidate: true, message: 'Released' })
    await reopenResult(admin.ctx, submissionId)
  }
  await grade(admin.ctx, 1, 1234.5, { comment: TRACES[0]! })
  await grade(admin.ctx, 2, 0)
  const client = await signInAs(service, organization.id, ['client'])
  const of = { organizationId: organization.id, assessmentId: assessment.id }
  await service.db.assessmentClient.create({ data: { ...of, memberId: client.member.id, position: 0 } })
  const { webhook, delivery } = await makeWebhook(service, organization.id, 'Any')
  const { id: tagId } = await service.make.tag(organization.id)
  const question = await service.db.question.findFirstOrThrow({ where: { assessmentId: assessment.id } })
  const rows: Record<string, string> = {
    ...of,
    organization_id: organization.id,
    inviteId: invite.id,
    submissionId,
    memberId: admin.member.id,
    tagId,
    questionId: question.id,
    webhookId: webhook.id,
    deliveryId: delivery.id,
    number: '1',
    place: 'first',
    token: candidate.token,
    // Values of the alternate interface's `id`, by the path segment before it.
    assessments: assessment.id,
    assessment_invites: invite.id,
    organization_users: admin.member.id,
    tags: tagId,
  }
  const cookies = {
    admin: (await signInAs(service, organization.id, ['admin'])).cookie(),
    grader: grader.cookie(),
    client: client.cookie(),
    outsider: (await signInAs(service, organization.id, ['grader'])).cookie(),
  }
  /** Headers of each kind of client. */
  const askers: Record<string, Record<string, string>> = {
    anybody: {},
    ...Object.fromEntries(Object.entries(cookies).map(([role, cookie]) => [role, { cookie: cookie! }])),
    ...Object.fromEntries(
      Object.entries(KEY_HEADERS).map(([name, header]) => [`key of ${name}`, { [header]: organization.key }]),
    ),
  }
  return { ...made, admin, rows, askers }
}

const fill = (path: string, rows: Record<string, string>) =>
  path.replace(/(\w+)\/(?::(\w+)|\{(\w+)\})/g, (_all, before: string, one?: string, other?: string) => {
    const name = one ?? other ?? ''
    return `${before}/${rows[name === 'id' ? before : name] ?? service.deps.newId()}`
  })

/** Requests a page or an API response, or sends the form of an export. */
function ask(route: string, rows: Record<string, string>, headers: Record<string, string>) {
  const [method, path] = route.split(' ') as ['GET' | 'POST', string]
  const address = fill(path, rows)
  if (method === 'GET') return service.http().get(address).set(headers)
  return service.http().post(address).set(headers).set('sec-fetch-site', 'same-origin').type('form').send({})
}

describe.each([{ wasReleased: false }, { wasReleased: true }])(
  'an unreleased grade (with an earlier released version: $wasReleased)',
  (state) => {
    it("appears only on the grading pages and in the admins' export of grades", async () => {
      const { rows, askers } = await setUp(state)
      const readings = [...routes].filter((route) => /^GET |^POST .*\/export$/.test(route)).sort()
      const answered: string[] = []
      const leaks: string[] = []
      for (const [asker, headers] of Object.entries(askers))
        for (const route of readings) {
          const { status, text } = await ask(route, rows, headers)
          if (status === 200) answered.push(`${asker} ${route}`)
          if (traceIn(text)) leaks.push(`${asker} ${route}`)
        }
      const portal = '/portal/:organizationId'
      expect(leaks.sort()).toEqual([
        `admin GET ${portal}/grading/:submissionId`,
        `admin GET ${portal}/grading/:submissionId/questions/:number`,
        `admin GET ${portal}/grading/:submissionId/release`,
        `admin GET ${portal}/grading/release-many`,
        `admin POST ${portal}/results/assessments/:assessmentId/export`,
        `grader GET ${portal}/grading/:submissionId`,
        `grader GET ${portal}/grading/:submissionId/questions/:number`,
        `grader GET ${portal}/grading/:submissionId/release`,
      ])
      expect(answered).toEqual(
        expect.arrayContaining([
          'anybody GET /i/:token',
          'anybody GET /i/:token/session',
          'key of v1 GET /api/v1/invites/:inviteId',
          'key of v1 GET /api/v1/invites/:inviteId/submission',
          'key of v1 GET /api/v1/invites',
          'key of v1 GET /api/v1/submissions',
          'key of v1 GET /api/v1/events',
          'key of alternate GET /api/alternate/assessment_invites',
          'key of alternate GET /api/alternate/assessment_invites/:id',
          `client GET ${portal}/invites/:inviteId`,
          `client GET ${portal}/results`,
          `client GET ${portal}/results/assessments/:assessmentId`,
          `admin POST ${portal}/invites/export`,
          `outsider GET ${portal}/grading`,
        ]),
      )
    })

    it('is in no response to a write operation of either API', async () => {
      const { organization, rows } = await setUp(state)
      const writings = (await readOperations(service)).filter(({ method }) => method !== 'get')
      for (const { id, interface: name, method, path, example } of writings) {
        const asked = service.http()[method as 'post'](fill(path, rows)).set(KEY_HEADERS[name], organization.key)
        const { text } = await asked.send(example ?? {})
        expect([id, traceIn(text)]).toEqual([id, undefined])
      }
      for (const query of ['?mode=all', '?status=completed']) {
        const v1 = await service.v1(organization.key).get(`/invites${query}`)
        const alternate = await service.alternate(organization.key).get(`/assessment_invites${query}`)
        expect([traceIn(v1.text), traceIn(alternate.text)]).toEqual([undefined, undefined])
      }
    })

    it('is in no event, log, or audit entry', async () => {
      const { organization } = await setUp(state)
      const where = { organizationId: organization.id }
      const kept = [
        await service.db.event.findMany({ where, omit: { position: true, sequence: true } }),
        await service.db.auditEntry.findMany({ where, omit: { position: true } }),
        await service.db.release.findMany({ where, omit: { ofPoints: true } }),
      ]
      expect(kept[0]!.length).toBeGreaterThan(0)
      expect(traceIn(JSON.stringify(kept))).toBeUndefined()
      expect(traceIn(service.logLines.join(''))).toBeUndefined()
    })
  },
)

it('sends webhooks no grades, not even on release, and shows the released result to permitted readers', async () => {
  const { organization, admin, invite, assessment, rows, askers, grade, release, submissionId } = await setUp()
  const receiver = await startReceiver()
  const client = service.v1(organization.key)
  await client.patch(`/webhooks/${rows.webhookId}`).send({ url: receiver.url })
  const { body } = await client.post('/webhooks').send({ url: receiver.url })
  await client.post(`/webhooks/${body.webhook.id}/test`).send({})
  await takeGraderSlot(admin.ctx, submissionId)
  await grade(admin.ctx, 2, 1)
  await client.post(`/invites/${invite.id}/resend`).send({})
  await release(admin.ctx)
  const released = () => receiver.received.find(({ body }) => body.includes('submission.released'))
  await waitUntil('the release to arrive', async () => released())
  for (const { body } of receiver.received) expect(traceIn(body)).toBeUndefined()
  // After the release, permitted readers find the traces.
  const read = async (path: string, headers: Record<string, string>) => (await service.http().get(path).set(headers)).text
  expect(await read(`/api/v1/invites/${invite.id}/submission`, askers['key of v1']!)).toContain(TRACES[0])
  const portal = `/portal/${organization.id}`
  expect(await read(`${portal}/results`, askers.client!)).toContain('1235.5')
  expect(await read(`${portal}/results/assessments/${assessment.id}`, askers.client!)).toContain(TRACES[1])
})
