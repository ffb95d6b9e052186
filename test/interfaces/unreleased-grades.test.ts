import { expect, it } from 'vitest'
import { makeWebhook } from '../support/furnish.ts'
import { makeHandedIn } from '../support/grading.ts'
import { KEY_HEADERS, readOperations } from '../support/operations.ts'
import { signInAs, type Visitor } from '../support/portal.ts'
import { listPortalRoutes } from '../support/portal-routes.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

/** Of the grades alone. */
const TRACES = ['Unreleased remark', '1234.5']
const traceIn = (text: string) => TRACES.find((trace) => text.includes(trace))

/** Somebody has graded everything, and nothing is released: the total is 1234.5. */
async function furnish() {
  const made = await makeHandedIn(service, { questions: [{ points: 2_000 }, { points: 3 }] })
  const { organization, assessment, invite, join, grade, submissionId, assign } = made
  const grader = await signInAs(service, organization.id, ['grader'])
  await assign(grader.member.id)
  const admin = await join(['admin'])
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
    inviteId: invite.id,
    submissionId,
    memberId: admin.member.id,
    tagId,
    questionId: question.id,
    webhookId: webhook.id,
    deliveryId: delivery.id,
    number: '1',
    place: 'first',
  }
  return { ...made, rows, people: { admin: await signInAs(service, organization.id, ['admin']), grader, client } }
}

const fill = (path: string, rows: Record<string, string>) =>
  path.replace(/:(\w+)|\{(\w+)\}/g, (_all, one?: string, other?: string) => rows[one ?? other ?? ''] ?? service.deps.newId())

it('is on no page and in no export but those of who grades it, whoever asks', async () => {
  const { organization, rows, people, candidate } = await furnish()
  const outsider = await signInAs(service, organization.id, ['grader'])
  const routes = (await listPortalRoutes(service.system)).filter((route) => /^GET |^POST .*\/export$/.test(route))
  const asked: string[] = []
  const leaks: string[] = []
  for (const [role, person] of Object.entries({ ...people, outsider } satisfies Record<string, Visitor>))
    for (const route of routes) {
      const [method, path] = route.split(' ') as ['GET' | 'POST', string]
      const address = `/portal/${organization.id}${fill(path, rows)}`
      const { status, text } = await (method === 'GET' ? person.get(address) : person.post(address))
      if (status === 200) asked.push(role)
      if (traceIn(text ?? '')) leaks.push(`${role} ${route}`)
    }
  const own = ['GET /grading/:submissionId', 'GET /grading/:submissionId/release']
  expect(leaks).toEqual([...own.map((route) => `admin ${route}`), ...own.map((route) => `grader ${route}`)])
  expect(new Set(asked)).toEqual(new Set(['admin', 'grader', 'client', 'outsider']))
  expect(traceIn((await candidate.open()).text)).toBeUndefined()
  expect(traceIn((await candidate.session('get')).text)).toBeUndefined()
})

it('is in no answer of either API, whatever is asked', async () => {
  const { organization, rows } = await furnish()
  const readings = (await readOperations(service)).filter(({ method }) => method === 'get')
  const answered: string[] = []
  for (const operation of readings) {
    const own = { ...rows, id: rows.inviteId!, organization_id: organization.id }
    const header = KEY_HEADERS[operation.interface]
    for (const query of ['', '?mode=all']) {
      const { status, text } = await service
        .http()
        .get(`${fill(operation.path, own)}${query}`)
        .set(header, organization.key)
      if (status === 200) answered.push(operation.id)
      expect([operation.id, traceIn(text)]).toEqual([operation.id, undefined])
    }
  }
  expect(answered).toEqual(expect.arrayContaining(['getInviteSubmission', 'listSubmissions', 'listEvents', 'getInvite']))
})

it('is in no event, so in no webhook, nor in the audit log or the log', async () => {
  const { organization } = await furnish()
  const where = { organizationId: organization.id }
  const kept = [
    await service.db.event.findMany({ where, omit: { position: true, sequence: true } }),
    await service.db.auditEntry.findMany({ where }),
    await service.db.release.findMany({ where }),
  ]
  expect(kept[0]!.length).toBeGreaterThan(0)
  expect(traceIn(JSON.stringify(kept))).toBeUndefined()
  expect(traceIn(service.logLines.join(''))).toBeUndefined()
})
