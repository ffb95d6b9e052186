import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id, { name: 'Old questions' })
  await service.make.question(assessment, { script: 'Why?' })
  const invite = await service.make.invite(assessment)
  const path = `${admin.home}assessments/${assessment.id}`
  const v1 = service.v1(organization.key)
  const actions = async () =>
    (await service.db.auditEntry.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })).map(
      ({ action }) => action,
    )
  return { ...admin, organization, assessment, invite, path, v1, actions }
}

const invitation = (assessmentId: string) => ({
  assessmentId,
  recipientEmail: 'sam@example.com',
  questionReplayLimit: '1',
  answerRecordLimit: '1',
  expiresInDays: '7',
  sendEmail: 'yes',
})

it('hides an assessment from lists and selects, keeps its invites and results, and can be undone', async () => {
  const { get, post, home, path, assessment, invite, actions } = await setUp()
  const isListed = async (address: string) => (await get(home + address)).text.includes('Old questions')
  expect(await isListed('assessments')).toBe(true)
  expect((await post(`${path}/archive`)).headers.location).toBe(`${path}?done=archived`)
  expect(await isListed('assessments')).toBe(false)
  expect(await isListed('assessments?shown=archived&search=questions')).toBe(true)
  for (const form of ['invites/new', 'invites/batches', `invites/new?assessment=${assessment.id}`])
    expect([form, (await get(home + form)).text.includes(assessment.id)]).toEqual([form, false])
  const page = (await get(path)).text
  expect(page).toContain('>archived<')
  expect(page).not.toContain('Invite a candidate')
  const refused = await post(`${home}invites`, invitation(assessment.id))
  expect([refused.status, mistakesIn(refused)]).toEqual([
    422,
    ['This assessment is archived. Unarchive it to invite candidates.'],
  ])
  expect(await isListed(`invites?assessment=${assessment.id}`)).toBe(true)
  expect(await isListed(`invites/${invite.id}`)).toBe(true)
  expect((await get(`${home}results/assessments/${assessment.id}`)).status).toBe(200)
  // A second request, as from a double click, changes nothing and is not recorded.
  await post(`${path}/archive`)
  await post(`${path}/unarchive`)
  expect(await isListed('assessments')).toBe(true)
  expect((await post(`${home}invites`, invitation(assessment.id))).status).toBe(303)
  expect((await actions()).filter((action) => action.includes('archived'))).toEqual([
    'archived_assessment',
    'unarchived_assessment',
  ])
})

it('keeps an archived assessment listed and open to invites in both APIs', async () => {
  const { post, path, assessment, organization, v1 } = await setUp()
  const { updatedAt: _, ...before } = (await v1.get(`/assessments/${assessment.id}`)).body
  await post(`${path}/archive`)
  const { updatedAt: __, ...after } = (await v1.get(`/assessments/${assessment.id}`)).body
  expect(after).toEqual(before)
  expect((await v1.get('/assessments')).body.assessments.map(({ id }: { id: string }) => id)).toEqual([assessment.id])
  expect((await service.alternate(organization.key).get('/assessments')).body.results).toHaveLength(1)
  const made = await v1.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com' })
  expect(made.status).toBe(201)
})

it('archives an assessment by a key that may manage, with other changes or alone', async () => {
  const { organization, assessment, actions } = await setUp()
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'Managing', mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  const client = service.v1(key)
  const address = `/assessments/${assessment.id}`
  const archivedIn = (answer: { status: number; body: { settings: { archived: boolean } } }) => [
    answer.status,
    answer.body.settings.archived,
  ]
  expect(archivedIn(await client.get(`${address}/settings`))).toEqual([200, false])
  const sent = await client.patch(address).send({ name: 'Renamed', archived: true })
  expect(archivedIn(sent)).toEqual([200, true])
  expect(sent.body.assessment.name).toBe('Renamed')
  expect(archivedIn(await client.patch(address).send({ archived: true }))).toEqual([200, true])
  expect(archivedIn(await client.patch(address).send({ archived: false }))).toEqual([200, false])
  expect((await client.patch(address).send({ archived: 'yes' })).status).toBe(400)
  expect((await actions()).slice(-3)).toEqual(['updated_assessment', 'archived_assessment', 'unarchived_assessment'])
})
