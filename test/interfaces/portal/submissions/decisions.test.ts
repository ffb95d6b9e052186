import { parse } from 'csv-parse/sync'
import { beforeEach, expect, it } from 'vitest'
import { readArchivedSubmission } from '../../../../src/domain/archives/candidate-data.ts'
import { fieldsIn, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { releaseRows, submitRows } from '../../../support/submissions.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const { db } = service

/** Creates a released result for each name. */
async function setUp(names: string[]) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const admin = await signInAs(service, organization.id, ['admin'])
  const submissions: { id: string; inviteId: string }[] = []
  for (const recipientName of names) {
    const invite = await service.make.invite(assessment, { recipientName, status: 'completed' })
    const of = { organizationId: organization.id, inviteId: invite.id, assessmentId: assessment.id }
    const id = await submitRows(service, of, 'text')
    await releaseRows(service, { organizationId: organization.id, submissionId: id }, admin.member.id)
    submissions.push({ id, inviteId: invite.id })
  }
  const events = () => db.event.findMany({ where: { organizationId: organization.id, type: 'submission.decided' } })
  const decisionOf = ({ id }: { id: string }) => db.submission.findUniqueOrThrow({ where: { id } })
  return { organization, assessment, admin, submissions, events, decisionOf }
}

let made: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  made = await setUp(['Ann', 'Bea', 'Cem'])
})

it('saves a decision with note, member, and time, and sends one event for it', async () => {
  const { organization, admin, submissions, events, decisionOf } = made
  const [ann] = submissions
  const path = `${admin.home}results/${ann!.id}/decision`
  expect((await admin.post(path, { decision: 'shortlist', note: 'Calm' })).headers.location).toContain('done=decided')
  // The same decision again, and a changed note, send no second event.
  await admin.post(path, { decision: 'shortlist', note: 'Calm' })
  await admin.post(path, { decision: 'shortlist', note: 'Calm and exact' })
  expect(await decisionOf(ann!)).toMatchObject({
    decision: 'shortlist',
    decisionNote: 'Calm and exact',
    decidedById: admin.member.id,
    decidedAt: service.clock.now(),
  })
  expect((await events()).map(({ data, actorId }) => [data, actorId])).toEqual([
    [expect.objectContaining({ inviteId: ann!.inviteId, submissionId: ann!.id, decision: 'shortlist' }), admin.member.id],
  ])
  await waitUntil('the event in the feed', async () => {
    const { body } = await service.v1(organization.key).get('/events?types=submission.decided')
    return body.events.length === 1 || undefined
  })
  expect(JSON.stringify((await events()).map(({ data }) => data))).not.toContain('Calm')
  expect(await db.auditEntry.count({ where: { organizationId: organization.id, action: 'decided' } })).toBe(2)
  const page = await admin.get(`${admin.home}results/${ann!.id}`)
  expect(fieldsIn(page)).toMatchObject({ note: 'Calm and exact' })
})

it('is saved by one click in the list of results, which it leads back to', async () => {
  const { admin, submissions, events, decisionOf } = made
  const list = await admin.get(`${admin.home}results?sort=name`)
  const [form] = list.text.match(/<form[^>]*action="[^"]*\/decision".*?<\/form>/s)!
  const [, path] = /action="([^"]+)"/.exec(form!)!
  const back = /name="back" value="([^"]*)"/.exec(form!)![1]!.replaceAll('&amp;', '&')
  const answers = await Promise.all([1, 2].map(() => admin.post(path!, { back, note: '', decision: 'hold' })))
  expect(answers.map(({ status, headers }) => [status, headers.location])).toEqual(Array(2).fill([303, back]))
  expect(back).toBe(`${admin.home}results?sort=name`)
  const decided = submissions.find(({ id }) => path!.includes(id))!
  expect(await decisionOf(decided)).toMatchObject({ decision: 'hold', decidedById: admin.member.id })
  expect(await events()).toHaveLength(1)
  const foreign = await admin.post(path!, { back: 'https://example.com/', note: '', decision: 'reject' })
  expect(foreign.headers.location).toBe(`${admin.home}results/${decided.id}?done=decided`)
})

it('rejects an unknown decision, and a decision about a candidate who has not completed', async () => {
  const { organization, assessment, admin, submissions, events } = made
  const refused = await admin.post(`${admin.home}results/${submissions[0]!.id}/decision`, { decision: 'hire', note: '' })
  expect([refused.status, mistakesIn(refused).length]).toEqual([422, 1])
  const invite = await service.make.invite(assessment, { status: 'started' })
  const of = { organizationId: organization.id, inviteId: invite.id, assessmentId: assessment.id }
  await db.submission.update({ where: { id: await submitRows(service, of, 'text') }, data: { state: 'in_progress' } })
  const early = await admin.post(`${admin.home}invites/${invite.id}/submission/decision`, { decision: 'hold', note: '' })
  expect(mistakesIn(early)).toEqual(['The candidate has not completed the assessment.'])
  expect(await events()).toEqual([])
})

it('decides about many results at once, and filters and exports by decision under the organization’s names', async () => {
  const { admin, submissions, events, decisionOf } = made
  await admin.post(`${admin.home}settings/decisions`, { shortlist: 'Second round', hold: '', reject: '', advance: '' })
  const [ann, bea] = submissions
  const form = await admin.get(`${admin.home}invites/changes/new?of=results&id=${ann!.id}&id=${bea!.id}&action=decide`)
  expect(form.text).toContain('Decide about 2 candidates')
  const fields = { of: 'results', id: [ann!.id, bea!.id], action: 'decide', decision: 'shortlist', note: 'By phone', most: '2' }
  const { headers } = await admin.post(`${admin.home}invites/changes`, fields)
  const id = headers.location!.split('/').at(-1)!
  await waitUntil('the decisions', async () => (await db.bulkChange.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined)
  expect(await Promise.all(submissions.map(async (one) => (await decisionOf(one)).decision))).toEqual([
    'shortlist',
    'shortlist',
    'none',
  ])
  expect(await events()).toHaveLength(2)
  expect((await admin.get(headers.location!)).text).toContain('Second round')
  const rows = rowsOf((await admin.get(`${admin.home}results?decision=shortlist&sort=name`)).text)
  expect(rows.map((row) => /Ann|Bea|Cem/.exec(row)![0])).toEqual(['Ann', 'Bea'])
  expect(rows[0]).toContain('Second round')
  const csv = (await admin.post(`${admin.home}results/export`, { decision: 'shortlist' })).text
  const exported: Record<string, string>[] = parse(csv, { columns: true, bom: true })
  expect(exported.map(({ decision, decision_note }) => [decision, decision_note])).toEqual([
    ['Second round', 'By phone'],
    ['Second round', 'By phone'],
  ])
  // Selects all matching results by the filter.
  const all = { of: 'results', all: 'yes', decision: 'shortlist', action: 'decide', note: '', most: '9' }
  const other = await admin.get(`${admin.home}invites/changes/new?${new URLSearchParams(all)}`)
  expect(other.text).toContain('Decide about 2 candidates')
})

it('shows decisions only to members who read all candidates, and archives them without a name', async () => {
  const { organization, assessment, admin, submissions } = made
  const [ann] = submissions
  await admin.post(`${admin.home}results/${ann!.id}/decision`, { decision: 'reject', note: 'CANARY' })
  const client = await signInAs(service, organization.id, ['client'])
  const shared = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 }
  await db.assessmentClient.create({ data: shared })
  for (const path of ['results', `results/${ann!.id}`]) {
    const page = await client.get(`${client.home}${path}`)
    expect([page.status, /CANARY|Reject|Decision/.test(page.text)]).toEqual([200, false])
  }
  expect((await client.get(`${client.home}results?decision=reject`)).status).toBe(404)
  expect((await client.post(`${client.home}results/${ann!.id}/decision`, { decision: 'hold', note: '' })).status).toBe(404)
  const archived = await readArchivedSubmission(asOperator(service, organization), ann!.id)
  expect(archived).toMatchObject({ decision: 'reject', decisionNote: 'CANARY', decidedById: null })
  expect(JSON.stringify(archived, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
    admin.member.email,
  )
})
