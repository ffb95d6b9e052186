import { expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { generateAtsKey, saveAtsApiKey } from '../../../src/domain/ats/keys.ts'
import { createAshby, listenAsAshby } from '../../support/ats/ashby.ts'
import { connect, TO_FAKES } from '../../support/ats/connect.ts'
import { basic, startGreenhouse } from '../../support/ats/greenhouse.ts'
import { bearer, createRecruitee, listenAsRecruitee } from '../../support/ats/recruitee.ts'
import { startServiceForFile } from '../../support/service.ts'

// All three systems, each with a live and a test connection of the same organization.

const [ashbyHost, recruiteeHost] = [await listenAsAshby(), await listenAsRecruitee()]
const recruiteeEnv = { ATS_RECRUITEE: recruiteeHost.url, ATS_RECRUITEE_SECRET: 'the secret of the partner' }
const service = await startServiceForFile({ ...TO_FAKES, ...recruiteeEnv, ATS_GREENHOUSE: 'on', ATS_ASHBY: `${ashbyHost.url}/` })
const url = await service.app.listen({ port: 0, host: '127.0.0.1' })

const SYSTEMS = ['greenhouse', 'ashby', 'recruitee'] as const
const MODES = ['live', 'test'] as const
type Mode = (typeof MODES)[number]
/** A read request of each system. */
const LISTS = { greenhouse: ['GET', 'list_tests'], ashby: ['POST', 'assessment.list'], recruitee: ['GET', 'tests'] } as const

/** Sends the same order for the same candidate through each system, with a live and a test key. */
async function start() {
  const { organization, assessment, admin, key } = await connect(service, 'greenhouse')
  const keys: Record<string, string> = { 'greenhouse live': key }
  for (const ats of SYSTEMS)
    for (const mode of MODES) {
      keys[`${ats} ${mode}`] ??= await generateAtsKey(admin, ats, mode)
      if (ats === 'ashby') await saveAtsApiKey(admin, ats, mode, `theirs of ${organization.id} ${mode}`)
    }
  const of = (ats: string, mode: Mode) => ({ url, key: keys[`${ats} ${mode}`]! })
  const { key: testApiKey } = await createApiKey(service.system, {
    organizationId: organization.id,
    name: 'Trials',
    mode: 'test',
  })
  const api = { live: service.v1(organization.key), test: service.v1(testApiKey) }
  const invitesOf = (mode: Mode) =>
    service.db.invite.findMany({ where: { organizationId: organization.id, mode }, orderBy: { id: 'asc' } })
  return { organization, assessment, keys, of, api, apiKeys: [organization.key, testApiKey], invitesOf }
}

it('recognizes an API key or the key of another system in its refusal, and reveals nothing about other keys', async () => {
  const { of, apiKeys } = await start()
  const textOf = async (key: string) => {
    const answer = await fetch(`${url}/ats/recruitee/tests`, { headers: { authorization: bearer(key) } })
    return [answer.status, ((await answer.json()) as { error: string }).error]
  }
  for (const key of apiKeys) expect(await textOf(key)).toEqual([401, expect.stringMatching(/^This is an API key/)])
  expect(await textOf(of('ashby', 'live').key)).toEqual([401, expect.stringMatching(/^This key is for another/)])
  for (const key of ['x', `ak_live_${'x'.repeat(32)}`]) expect(await textOf(key)).toEqual([401, 'The key is not valid.'])
})

it('accepts a key only for the paths of its own system, and never for the API', async () => {
  const { keys, apiKeys } = await start()
  const ask = async (ats: (typeof SYSTEMS)[number], key: string) => {
    const [method, path] = LISTS[ats]
    const headers = { authorization: ats === 'recruitee' ? bearer(key) : basic(key), 'content-type': 'application/json' }
    return (await fetch(`${url}/ats/${ats}/${path}`, { method, headers, ...(method === 'POST' && { body: '{}' }) })).status
  }
  for (const ats of SYSTEMS) {
    for (const [whose, key] of Object.entries(keys))
      expect([ats, whose, await ask(ats, key)]).toEqual([ats, whose, whose.startsWith(ats) ? 200 : 401])
    for (const key of apiKeys) expect(await ask(ats, key)).toBe(401)
  }
  for (const key of Object.values(keys))
    for (const answer of [
      service.v1(key).get('/invites'),
      service.v1(key).delete('/test-data'),
      service.alternate(key).get('/assessment_invites'),
    ])
      expect((await answer).status).toBe(401)
})

it('keeps live and test orders of one candidate apart, even if an id of the other mode is requested', async () => {
  const { assessment, of, api, invitesOf } = await start()
  const email = 'kim@example.com'
  const greenhouse = {
    live: await startGreenhouse(of('greenhouse', 'live')),
    test: await startGreenhouse(of('greenhouse', 'test')),
  }
  const ashby = { live: createAshby(of('ashby', 'live')), test: createAshby(of('ashby', 'test')) }
  const recruitee = { live: createRecruitee(of('recruitee', 'live')), test: createRecruitee(of('recruitee', 'test')) }
  const ids = {} as Record<Mode, string>
  for (const mode of MODES) ids[mode] = (await greenhouse[mode].sendTest(assessment.id, { email })).interviewId
  expect(await Promise.all(MODES.map(invitesOf))).toMatchObject(
    MODES.map((mode) => [{ id: ids[mode], mode, recipientEmail: email }]),
  )

  for (const [mode, other] of [MODES, MODES.toReversed()] as [Mode, Mode][]) {
    const before = await invitesOf(other)
    const orders = () => service.db.atsOrder.findMany({ where: { inviteId: ids[other] } })
    const ordersBefore = await orders()
    expect([(await greenhouse[mode].status(ids[mode])).status, (await greenhouse[mode].status(ids[other])).status]).toEqual([
      200, 404,
    ])
    await greenhouse[mode].complain({ api_call: 'test_status', errors: ['wrong'], partner_interview_id: ids[other] })
    // Ashby's cancel request gets the same response for any id.
    expect((await ashby[mode].cancel(ids[other])).status).toBe(200)
    expect(await orders()).toEqual(ordersBefore)
    expect(await invitesOf(other)).toEqual(before)
    expect([
      (await api[mode].get(`/invites/${ids[mode]}`)).status,
      (await api[mode].get(`/invites/${ids[other]}`)).status,
    ]).toEqual([200, 404])
  }

  // An existing invite for the address is found only in the order's own mode.
  for (const mode of MODES) {
    const other = MODES.find((one) => one !== mode)!
    expect((await ashby[mode].start(assessment.id, { email })).status).toBe(409)
    const before = await invitesOf(other)
    const sent = await recruitee[mode].send(assessment.id, { email })
    expect(sent.status).not.toBe(200)
    expect(await invitesOf(other)).toEqual(before)
  }
  await api.test.post(`/invites/${ids.test}/simulate`).send({ action: 'release' })
  expect((await greenhouse.test.status(ids.test)).body).not.toEqual((await greenhouse.live.status(ids.live)).body)
  expect((await invitesOf('live'))[0]).toMatchObject({ status: 'pending' })
})

it('deletes all test orders with the test data, and keeps the live ones', async () => {
  const { assessment, of, api, invitesOf, organization } = await start()
  const [live, test] = [await startGreenhouse(of('greenhouse', 'live')), await startGreenhouse(of('greenhouse', 'test'))]
  const ids = { live: (await live.sendTest(assessment.id)).interviewId, test: (await test.sendTest(assessment.id)).interviewId }
  const before = await invitesOf('live')
  expect((await api.live.delete('/test-data')).status).toBe(403)
  expect((await api.test.delete('/test-data')).body).toMatchObject({ deleted: { invites: 1 }, remaining: 0 })
  expect([(await test.status(ids.test)).status, (await live.status(ids.live)).status]).toEqual([404, 200])
  expect(await invitesOf('live')).toEqual(before)
  const orders = await service.db.atsOrder.findMany({ where: { organizationId: organization.id } })
  expect(orders.map(({ inviteId }) => inviteId)).toEqual([ids.live])
  // The key and its connection are settings, so they are kept.
  expect((await test.sendTest(assessment.id)).interviewId).toEqual(expect.any(String))
})
