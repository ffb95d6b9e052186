import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { mistakesIn, rowsOf } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { releaseRows, submitRows } from '../../../support/submissions.ts'

const service = await startServiceForFile()
const { db } = service

/** Releases results with these names and points. The first one is released last. */
async function setUp(results: [name: string, points: number, ofPoints: number][]) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const admin = await signInAs(service, organization.id, ['admin'])
  const invites: { id: string }[] = []
  for (const [i, [recipientName, points, ofPoints]] of results.entries()) {
    const names = { recipientName, recipientNameSearch: recipientName.toLowerCase() }
    const invite = await service.make.invite(assessment, { ...names, status: 'completed' })
    const of = { organizationId: organization.id, inviteId: invite.id, assessmentId: assessment.id }
    const submissionId = await submitRows(service, of, 'text')
    await releaseRows(service, { organizationId: organization.id, submissionId }, admin.member.id)
    await db.release.updateMany({ where: { submissionId }, data: { points, ofPoints } })
    const releasedAt = new Date(service.clock.now().getTime() - i * 60_000)
    await db.submission.update({ where: { id: submissionId }, data: { releasedAt } })
    invites.push(invite)
  }
  const names = async (query: string, who = admin) =>
    rowsOf((await who.get(`${who.home}results?${query}`)).text).map((row) => /Ann|Bea|Cem/.exec(row)![0])
  return { organization, assessment, admin, invites, names }
}

const THREE: [string, number, number][] = [
  ['Cem', 5, 10],
  ['Ann', 8, 80],
  ['Bea', 9, 10],
]

it('sorts results by date, points, percent, and name', async () => {
  const { names } = await setUp(THREE)
  expect(await names('')).toEqual(['Cem', 'Ann', 'Bea'])
  expect(await names('sort=released-first')).toEqual(['Bea', 'Ann', 'Cem'])
  expect(await names('sort=points')).toEqual(['Bea', 'Ann', 'Cem'])
  expect(await names('sort=percent')).toEqual(['Bea', 'Cem', 'Ann'])
  expect(await names('sort=percent-least')).toEqual(['Ann', 'Cem', 'Bea'])
  expect(await names('sort=name')).toEqual(['Ann', 'Bea', 'Cem'])
})

it('filters results by a minimum and a tag, and shows clients those of their assessments', async () => {
  const { organization, assessment, admin, invites, names } = await setUp(THREE)
  const tag = await service.make.tag(organization.id)
  await db.inviteTag.create({ data: { organizationId: organization.id, inviteId: invites[0]!.id, tagId: tag.id, position: 0 } })
  expect(await names('minPercent=50&sort=name')).toEqual(['Bea', 'Cem'])
  expect(await names(`minPercent=50&tag=${tag.id}`)).toEqual(['Cem'])
  const refused = await admin.get(`${admin.home}results?minPercent=120`)
  expect(mistakesIn(refused)).toEqual(['The minimum must be a whole number from 0 to 100.'])
  const client = await signInAs(service, organization.id, ['client'])
  expect(await names('', client)).toEqual([])
  const shared = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 }
  await db.assessmentClient.create({ data: shared })
  expect(await names('minPercent=60', client)).toEqual(['Bea'])
})

it('filters results by the percentages that pages show', async () => {
  const { names } = await setUp([
    ['Ann', 494, 1000],
    ['Bea', 495, 1000],
    ['Cem', 0, 0],
  ])
  expect([await names('minPercent=50'), await names('minPercent=49&sort=name')]).toEqual([['Bea'], ['Ann', 'Bea']])
})

it('exports the filtered results, and invites, with scores', async () => {
  const { organization, admin } = await setUp(THREE)
  const read = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true })
  const results = read((await admin.post(`${admin.home}results/export`, { minPercent: '50' })).text)
  expect(results.map(({ name, points, of_points, percent }) => [name, points, of_points, percent]).sort()).toEqual([
    ['Bea', '9', '10', '90'],
    ['Cem', '5', '10', '50'],
  ])
  const invites = read((await admin.post(`${admin.home}invites/export`)).text)
  expect(invites.map(({ name, percent }) => [name, percent]).sort()).toEqual([
    ['Ann', '10'],
    ['Bea', '90'],
    ['Cem', '50'],
  ])
  const entry = await db.auditEntry.findFirst({ where: { organizationId: organization.id, action: 'exported_results' } })
  expect(entry).toMatchObject({ actorId: admin.member.id, details: { minPercent: '50' } })
  expect((await admin.get(`${admin.home}settings/audit-log`)).text).toContain('At least: 50 %')
})
