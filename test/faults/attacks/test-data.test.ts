import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { links } from '../../support/links.ts'
import { type Operation, readOperations } from '../../support/operations.ts'
import { signInAs } from '../../support/portal.ts'
import {
  createSampleOrganization,
  createSampleTestData,
  fillPath,
  makeAtsOrder,
  type SampleOrganization,
} from '../../support/sample-organization.ts'
import { type Service, startService } from '../../support/service.ts'
import { releaseRows, submitRows } from '../../support/submissions.ts'
import { createRequestInputs } from './request-inputs.ts'

// Checks that keys and pages of one mode show nothing of the other mode's data in the same organization.

let service: Service
let address: string
let operations: Operation[]
type Rows = { submission: { id: string }; media: { id: string }; order: Awaited<ReturnType<typeof makeAtsOrder>> }
const data = {} as Record<'live' | 'test', SampleOrganization & Rows>
beforeAll(async () => {
  service = await startService({ ROLE: 'api', ATS_GREENHOUSE: 'on' }) // a sweep would change the compared rows
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const live = await createSampleOrganization(service, 'Realdata')
  const test = await createSampleTestData(service, live, 'Testdata')
  for (const [mode, own] of Object.entries({ live, test })) {
    const { id: organizationId, invite, assessment, member } = own
    const submissionId = await submitRows(
      service,
      { organizationId, inviteId: invite.id, assessmentId: assessment.id },
      `${mode} words`,
    )
    await releaseRows(service, { organizationId, submissionId }, member.id)
    const where = { organizationId, submissionId }
    await service.db.mediaFile.updateMany({ where, data: { state: 'ready', contentType: 'video/webm', bytes: 5 } })
    const media = await service.db.mediaFile.findFirstOrThrow({ where })
    await service.deps.media.put(`${media.key}/file`, Buffer.from('words'))
    const order = await makeAtsOrder(service, invite.id)
    await service.db.inviteEmail.updateMany({ where: { inviteId: invite.id }, data: { state: 'failed', failure: 'refused' } })
    data[mode as 'live'] = { ...own, submission: { id: submissionId }, media, order }
  }
  operations = await readOperations(service)
})
afterAll(() => service.close())

/** Ids of rows that have a mode, by kind. */
const idsOf = ({ invite, email, webhook, delivery, submission, media }: (typeof data)['live']) =>
  Object.entries({ invite, email, webhook, delivery, submission, media }).map(([kind, { id }]) => [kind, id] as const)

const modePairs = [
  { seen: 'live', hidden: 'test' },
  { seen: 'test', hidden: 'live' },
] as const

const homeOf = ({ home }: { home: string }, seen: 'live' | 'test') =>
  seen === 'live' ? home : home.replace('/portal/', '/portal/test/')

describe.each(modePairs)('a key or member with access to $seen data', ({ seen, hidden }) => {
  it(`gets the same response, byte for byte, for an ID of ${hidden} data as for an unknown one, anywhere in a request`, async () => {
    const inputs = operations.flatMap(createRequestInputs(address, data[seen]).of)
    const before = await service.db.invite.findMany({ where: { mode: hidden } })
    expect(inputs.length).toBeGreaterThan(80)
    for (const input of inputs) {
      const toUnknown = await input.send(unknownId)
      for (const [kind, id] of idsOf(data[hidden]))
        expect(await input.send(id), `${input.name} with the id of a ${kind}`).toBe(toUnknown)
    }
    expect(await service.db.invite.findMany({ where: { mode: hidden } })).toEqual(before)
  })

  it(`finds no ${hidden} data in any read operation`, async () => {
    const own = data[seen]
    const { send } = createRequestInputs(address, own)
    const reads = operations.filter(({ method, isForLive }) => method === 'get' && !(seen === 'test' && isForLive))
    expect(reads.length).toBeGreaterThan(40)
    const answers = await Promise.all(reads.map((of) => send(of, `${fillPath(of.path, own)}?depth=2&limit=100`, null, '-')))
    expect(answers.filter((answer) => answer.startsWith('[200,')).length).toBe(answers.length)
    const isFound = (id: string) => answers.join('').replaceAll('{asked for}', '-').includes(id)
    expect(isFound(own.invite.id)).toBe(true)
    for (const [kind, id] of idsOf(data[hidden])) expect([kind, isFound(id)]).toEqual([kind, false])
  })

  it(`gets counts without ${hidden} data`, async () => {
    const key = data[seen].key
    const look = async () => [
      (await service.v1(key).get(`/assessments/${data[seen].assessment.id}`)).body.inviteCount,
      (await service.v1(key).get('/invites')).body.pagination.total,
      (await service.v1(key).get('/invites?status=pending')).body.pagination.total,
      (await service.v1(key).get(`/invites?tagId=${data[seen].tag.id}`)).body.pagination.total,
      (await service.alternate(key).get(`/assessment_invites?tags=${data[seen].tag.id}`)).body.count,
      (await service.alternate(key).get('/assessment_invites?search=realdata')).body.count,
      (await service.v1(key).get('/submissions')).body.pagination.total,
    ]
    expect(await look()).toEqual([1, 1, 1, 1, 1, 1, 1])
    const invite = await service.make.invite(data[seen].assessment, { mode: hidden })
    await links(service.db).tagInvite(invite, data[seen].tag)
    expect(await look()).toEqual([1, 1, 1, 1, 1, 1, 1])
    await service.db.invite.delete({ where: { id: invite.id } })
    expect(await look()).toEqual([1, 1, 1, 1, 1, 1, 1])
  })

  it(`finds no ${hidden} data in the portal, and gets 404 for its URLs`, async () => {
    const admin = await signInAs(service, data[seen].id, ['admin', 'grader'])
    const home = homeOf(admin, seen)
    const exported = ['invites/export', `results/assessments/${data[seen].assessment.id}/export`]
    const lists = ['', 'invites', 'grading', 'grading?queue=all', 'results', 'settings/webhooks', ...exported]
    for (const list of lists) {
      const { status, text } = await (exported.includes(list) ? admin.post(home + list) : admin.get(home + list))
      expect([list, status]).toEqual([list, 200])
      for (const [kind, id] of idsOf(data[hidden])) expect(text, `${list} ${kind}`).not.toContain(id)
    }
    const { invite, webhook, submission, media, order } = data[hidden]
    const addresses = [
      `invites/${invite.id}`,
      `invites/${invite.id}/submission`,
      `grading/${submission.id}`,
      `media/${media.id}`,
      `settings/webhooks/${webhook.id}`,
      `settings/ats/connections/${order.connectionId}`,
    ]
    for (const address of addresses) expect([address, (await admin.get(home + address)).status]).toEqual([address, 404])
    expect((await admin.post(`${home}settings/ats/orders/${order.orderId}/report`)).status).toBe(404)
    const { invite: own, submission: handedIn, media: shown, order: placed } = data[seen]
    const seenHere = [`invites/${own.id}`, `grading/${handedIn.id}`, `media/${shown.id}`]
    for (const address of [...seenHere, `settings/ats/connections/${placed.connectionId}`])
      expect([address, (await admin.get(home + address)).status]).toEqual([address, 200])
  })

  it(`finds no link to ${hidden} data on any page of the portal`, async () => {
    const admin = await signInAs(service, data[seen].id, ['admin', 'grader', 'client'])
    const home = homeOf(admin, seen)
    const { recipientName, customMessage } = data[hidden].invite
    const secrets = [...idsOf(data[hidden]).map(([, id]) => id), recipientName!, customMessage]
    const pages = new Set([home])
    for (const page of pages) {
      const answer = await admin.get(page)
      // A preview redirects to the candidate's pages.
      const { status, text } = answer.status === 303 ? await admin.get(String(answer.headers.location)) : answer
      expect([page, status]).toEqual([page, 200])
      expect([page, secrets.filter((secret) => text?.includes(secret))]).toEqual([page, []])
      for (const [, link] of text?.matchAll(/ href="([^"?#]+)/g) ?? [])
        if (link!.startsWith(home) && !link!.endsWith('/report')) pages.add(link!)
    }
    expect(pages.size).toBeGreaterThan(25)
  })
})

it('hides actions on live data from the test log, and marks actions on test data in the live log', async () => {
  const admin = await signInAs(service, data.live.id, ['admin'])
  const test = admin.home.replace('/portal/', '/portal/test/')
  await admin.post(`${admin.home}invites/${data.live.invite.id}/tags/${data.live.tag.id}/remove`)
  await admin.post(`${test}invites/${data.test.invite.id}/tags/${data.test.tag.id}/remove`)
  const [log, ofTests] = [admin.home, test].map((home) => admin.get(`${home}settings/audit-log`))
  expect((await ofTests!).text).not.toContain(data.live.invite.id)
  for (const { text } of [await log!, await ofTests!]) expect(text).toContain(`${test}invites/${data.test.invite.id}`)
  expect((await log!).text).not.toContain(`${admin.home}invites/${data.test.invite.id}`)
})

describe('an operation for test keys', () => {
  const readLiveRows = async () => {
    const {
      auditEntry,
      event,
      grade,
      invite,
      inviteBatch,
      inviteEmail,
      inviteTag,
      mediaFile,
      release,
      submission,
      answerAttempt,
    } = service.db
    const { apiKey, assessment, atsCall, atsConnection, atsOrder, member, question, tag, webhookEndpoint } = service.db
    const where = { organizationId: data.live.id }
    const live = { ...where, mode: 'live' as const }
    const tables = [assessment, atsCall, atsConnection, member, question, tag, webhookEndpoint] as unknown as (typeof invite)[]
    const its = { ...where, invite: { mode: 'live' as const } }
    const submitted = { ...where, submission: { mode: 'live' as const } }
    return [
      await apiKey.findMany({ where, omit: { lastUsedAt: true, lastUsedFrom: true } }),
      await Promise.all(tables.map((table) => table.findMany({ where }))),
      await Promise.all([invite, inviteBatch, submission].map((table) => (table as typeof invite).findMany({ where: live }))),
      // Positions are assigned in the background, whatever the requests do.
      await event.findMany({ where: live, omit: { position: true } }),
      await auditEntry.findMany({ where: live, omit: { position: true } }),
      await Promise.all(
        [inviteEmail, inviteTag, atsOrder].map((table) => (table as typeof inviteEmail).findMany({ where: its })),
      ),
      await Promise.all(
        [grade, mediaFile, release, answerAttempt].map((table) => (table as typeof grade).findMany({ where: submitted })),
      ),
    ]
  }

  it('rejects a live key for every request, and changes nothing', async () => {
    const before = await readLiveRows()
    const testInvites = () => service.db.invite.findMany({ where: { organizationId: data.live.id, mode: 'test' } })
    const unchanged = await testInvites()
    const v1 = service.v1(data.live.key)
    const tries = [
      v1.delete('/test-data'),
      ...['accept', 'start', 'complete', 'grade', 'release', 'decline', 'expire', 'bounce', 'x'].flatMap((action) =>
        [data.live.invite.id, data.test.invite.id, unknownId].map((id) => v1.post(`/invites/${id}/simulate`).send({ action })),
      ),
    ]
    for (const answer of tries) {
      const { status, headers } = await answer
      expect([status, headers['x-error-code']]).toEqual([403, 'test_key_required'])
    }
    expect(await readLiveRows()).toEqual(before)
    expect(await testInvites()).toEqual(unchanged)
  })

  it('deletes and simulates only test data', async () => {
    const before = await readLiveRows()
    const v1 = service.v1(data.test.key)
    for (const action of ['accept', 'release', 'expire', 'bounce'])
      expect((await v1.post(`/invites/${data.live.invite.id}/simulate`).send({ action })).status).toBe(404)
    expect((await v1.post(`/invites/${data.test.invite.id}/simulate`).send({ action: 'bounce' })).status).toBe(200)
    expect((await v1.delete('/test-data')).body).toMatchObject({ deleted: { invites: 1, submissions: 1 }, remaining: 0 })
    expect(await service.db.invite.count({ where: { organizationId: data.live.id, mode: 'test' } })).toBe(0)
    expect(await readLiveRows()).toEqual(before)
  })
})
