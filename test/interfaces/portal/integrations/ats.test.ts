import { describe, expect, it } from 'vitest'
import { connect, TO_FAKES } from '../../../support/ats/connect.ts'
import { basic, startGreenhouse } from '../../../support/ats/greenhouse.ts'
import { signInAs } from '../../../support/portal.ts'
import { answerWith } from '../../../support/receiver.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile({ ...TO_FAKES, ATS_GREENHOUSE: 'on', ATS_ASHBY: 'https://api.ashbyhq.com' })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

async function open() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}settings/ats`
  const where = { organizationId: organization.id, actorKind: 'member' }
  const audited = () => service.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
  return { ...admin, organization, path, audited }
}

const keyIn = ({ text }: { text: string }): string => /id="key">([^<]+)</.exec(text)![1]!
const list = (key: string) => service.http().get('/ats/greenhouse/list_tests').set('authorization', basic(key))

describe('the portal with some systems disabled', () => {
  it('has no ATS routes without any system, and names the settings that enable them', async () => {
    const off = await startServiceForTest()
    const organization = await off.make.organization()
    const admin = await signInAs(off, organization.id, ['admin'])
    const nowhere = await off.http().get('/nowhere')
    for (const path of [
      '/ats',
      '/ats/greenhouse',
      '/ats/greenhouse/list_tests',
      '/ats/ashby/assessment.list',
      '/ats/recruitee/tests',
    ]) {
      const { status, body, headers } = await off.http().get(path).set('authorization', basic('x'))
      expect([path, status, body]).toEqual([path, 404, nowhere.body])
      expect(headers['content-type']).toBe(nowhere.headers['content-type'])
    }
    const ats = await admin.get(`${admin.home}settings/ats`)
    expect(ats.status).toBe(200)
    for (const setting of ['ATS_GREENHOUSE', 'ATS_ASHBY', 'ATS_RECRUITEE_SECRET'])
      expect(ats.text).toContain(`<code>${setting}</code>`)
    expect(ats.text).not.toContain('Generate a live key')
    expect((await admin.post(`${admin.home}settings/ats/greenhouse/keys`, { mode: 'live' })).status).toBe(404)
    expect((await admin.get(`${admin.home}settings/integrations`)).text).toContain(`href="${admin.home}settings/ats"`)
  })

  it('keeps the other systems disabled', async () => {
    const { get, path, post, organization } = await open()
    const { text } = await get(path)
    expect(text).toContain('Generate a live key')
    expect(text).toContain('Recruitee is switched off on this installation')
    expect((await post(`${path}/recruitee/keys`, { mode: 'live' })).status).toBe(404)
    expect((await post(`${path}/whatever/keys`, { mode: 'live' })).status).toBe(404)
    expect(await service.db.atsKey.count({ where: { organizationId: organization.id } })).toBe(0)
    expect((await service.http().get('/ats/recruitee/tests')).body).toEqual((await service.http().get('/nowhere')).body)
  })
})

it('generates a key, which is shown once and works until it is revoked', async () => {
  const { get, post, path, organization, audited, member } = await open()
  const key = keyIn(await post(`${path}/greenhouse/keys`, { mode: 'live' }))
  expect(key).toMatch(/^ak_live_\w{32}$/)
  expect((await list(key)).status).toBe(200)
  const { text } = await get(path)
  expect(text).not.toContain(key)
  expect(text).toContain(`ak_live_…${key.slice(-4)}`)
  expect(text).toContain('Ada Member')
  const test = keyIn(await post(`${path}/greenhouse/keys`, { mode: 'test' }))
  expect(test).toMatch(/^ak_test_/)
  const keys = await service.db.atsKey.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
  expect(keys.map(({ createdById }) => createdById)).toEqual([member.id, member.id])
  const revoked = await post(`${path}/keys/${keys[0]!.id}/revoke`)
  expect(revoked.headers.location).toBe(`${path}?done=revoked`)
  expect((await list(key)).status).toBe(401)
  expect((await list(test)).status).toBe(200)
  const entries = (await audited()).map(({ action, actorId, details }) => [action, actorId, details])
  expect(entries).toEqual([
    ['generated_ats_key', member.id, { ats: 'greenhouse', mode: 'live' }],
    ['generated_ats_key', member.id, { ats: 'greenhouse', mode: 'test' }],
    ['revoked_ats_key', member.id, { ats: 'greenhouse', mode: 'live' }],
  ])
  expect((await get(path.replace(/ats$/, 'audit-log'))).text).toContain('generated a key for a recruiting system')
})

it('stores the key of an ATS encrypted, and shows its last characters', async () => {
  const { get, post, path, audited } = await open()
  const empty = await post(`${path}/ashby/their-key`, { mode: 'live', theirKey: ' ' })
  expect([empty.status, empty.text.includes('Enter the key.')]).toEqual([422, true])
  const theirKey = 'the key that Ashby has made 4711'
  await post(`${path}/ashby/their-key`, { mode: 'live', theirKey })
  const { text } = await get(path)
  expect(text).toContain('…4711')
  expect(text).not.toContain(theirKey)
  const stored = await service.db.$queryRaw<{ text: string }[]>`SELECT c::text AS text FROM ats_connections c`
  expect(stored.some(({ text }) => text.includes(Buffer.from(theirKey).toString('hex')))).toBe(false)
  expect((await audited()).map(({ action }) => action)).toEqual(['entered_key_of_ats'])
})

it('shows orders and calls, tests the connection, and resends a failed report', async () => {
  const own = await connect(service, 'greenhouse')
  const greenhouse = await startGreenhouse({ url, key: own.key })
  const { get, post, home } = await signInAs(service, own.organization.id, ['admin'])
  const path = `${home}settings/ats/connections/${own.connection.id}`
  const failed = await post(`${path}/test`)
  expect(failed.headers.location).toBe(`${path}?done=tested`)
  await waitUntil('the test', async () => ((await get(path)).text.includes('there is none yet') ? true : undefined))
  greenhouse.behave(answerWith(404, {}, '<b>unknown</b>'))
  const { interviewId } = await greenhouse.sendTest(own.assessment.id, { preferred_name: '<i>Sam' })
  await post(`${home}invites/${interviewId}/revoke`)
  await waitUntil('the report', async () => ((await get(path)).text.includes('Send again') ? true : undefined))
  const { text } = await get(path)
  expect(text).toContain('&lt;i&gt;Sam')
  expect(text).toContain('404 &lt;b&gt;unknown&lt;/b&gt;')
  expect(text).toContain('send_test')
  expect(text).toContain('href="https://app.greenhouse.io/people/17?application_id=26"')
  greenhouse.behave(answerWith(200))
  const again = /action="([^"]+\/report)"/.exec(text)![1]!
  expect((await post(again)).headers.location).toBe(`${path}?done=reported`)
  await waitUntil('the error to be cleared', async () => ((await get(path)).text.includes('Send again') ? undefined : true))
  await post(`${path}/test`)
  await greenhouse.waitFor(3)
  expect(greenhouse.patched[2]).toMatchObject({ orderId: 'order-1', method: 'PATCH', body: '' })
})
