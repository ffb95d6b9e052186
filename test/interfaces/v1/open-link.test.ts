import { describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { unknownId } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

async function start(mode: 'live' | 'test' = 'live') {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { audience: 'public', questionCount: 1 })
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'Managing', mode })
  await changeApiKey(service.system, apiKey.id, { rights: ['manage'] })
  const path = `/assessments/${assessment.id}/open-link`
  return { organization, assessment, v1: service.v1(key), path }
}
const DEFAULTS = {
  isOn: false,
  opensAt: null,
  closesAt: null,
  maxInvites: null,
  emailDomains: [],
  tagIds: [],
  inviteDays: 30,
  dailyInvites: 500,
  notifiesMembers: false,
}

describe('an open link', () => {
  it('has no address, and is off, until its settings are saved', async () => {
    const { v1, path } = await start()
    expect((await v1.get(path)).body).toEqual({ openLink: { url: null, ...DEFAULTS, invitesCreated: 0 } })
  })

  it('is replaced by PUT, which sets defaults for what it omits and keeps the address', async () => {
    const { v1, path, organization } = await start()
    const tag = await service.make.tag(organization.id)
    const settings = {
      ...DEFAULTS,
      isOn: true,
      opensAt: '2030-01-01T00:00:00.000Z',
      closesAt: '2030-02-01T12:30:00.000Z',
      maxInvites: 20,
      emailDomains: ['example.com'],
      tagIds: [tag.id],
    }
    const { status, body } = await v1.put(path).send(settings)
    expect([status, body.openLink]).toEqual([
      200,
      { url: expect.stringMatching(/\/open\/[\w-]{22}$/), ...settings, invitesCreated: 0 },
    ])
    expect((await v1.get(path)).body).toEqual(body)
    const again = await v1.put(path).send({ isOn: true })
    expect(again.body.openLink).toEqual({ url: body.openLink.url, ...DEFAULTS, isOn: true, invitesCreated: 0 })
    expect((await service.http().get(new URL(body.openLink.url).pathname)).status).toBe(200)
  })

  it('is a separate one for test keys, which can read and replace it', async () => {
    const { v1, path, organization } = await start('test')
    const { status, body } = await v1.put(path).send({ isOn: true, maxInvites: 3 })
    expect([status, body.openLink]).toMatchObject([200, { isOn: true, maxInvites: 3 }])
    expect((await v1.get(path)).body).toEqual(body)
    const live = service.v1(organization.key)
    expect((await live.get(path)).body.openLink).toMatchObject({ url: null, isOn: false })
    expect((await service.http().get(new URL(body.openLink.url).pathname)).status).toBe(200)
    expect(await service.db.openLink.findMany({ where: { organizationId: organization.id } })).toMatchObject([{ mode: 'test' }])
  })

  it('can be replaced by test keys with the right to manage, which change nothing else of an assessment', async () => {
    const { v1, path, organization, assessment } = await start('test')
    const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'Not managing', mode: 'test' })
    const refused = await service.v1(key).put(path).send({ isOn: true })
    expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'manage_required'])
    const shared = await v1.patch(`/assessments/${assessment.id}`).send({ name: 'Renamed' })
    expect([shared.status, shared.headers['x-error-code']]).toEqual([403, 'live_key_required'])
  })

  it.each([
    [{ isOn: 'yes' }, 'isOn'],
    [{ maxInvites: 0 }, 'maxInvites'],
    [{ inviteDays: 0 }, 'inviteDays'],
    [{ opensAt: 'tomorrow' }, 'opensAt'],
    [{ opensAt: '2030-02-01T00:00:00Z', closesAt: '2030-01-01T00:00:00Z' }, 'closesAt'],
    [{ emailDomains: ['no domain'] }, 'emailDomains'],
    [{ tagIds: [unknownId] }, 'tagIds'],
  ])('rejects %j', async (body, field) => {
    const { v1, path } = await start()
    const { status, text } = await v1.put(path).send(body)
    expect([status, text.includes(field)]).toEqual([400, true])
  })

  it('can be replaced only by keys with the right to manage, and only in their own organization', async () => {
    const [own, other] = [await start(), await start()]
    expect((await service.v1(own.organization.key).put(own.path).send({ isOn: true })).status).toBe(403)
    expect((await service.v1(own.organization.key).get(own.path)).status).toBe(200)
    expect((await other.v1.get(own.path)).status).toBe(404)
    expect((await other.v1.put(own.path).send({ isOn: true })).status).toBe(404)
  })
})
