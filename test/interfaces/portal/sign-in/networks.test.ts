import { expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { enterOrganization } from '../../../../src/domain/context.ts'
import { changeOrganizationSecurity } from '../../../../src/domain/organization/organization-security.ts'
import { recordRefusalCounts } from '../../../../src/domain/sign-in/record-refusal.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs, type Visitor } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile({ TRUST_PROXY: 'true' })

const OFFICE = '203.0.113.9'
const ELSEWHERE = '198.51.100.7'
const HOUR_MS = 3_600_000

async function open() {
  const organization = await service.make.organization()
  const owner = await signInAs(service, organization.id, ['admin'])
  const path = `${owner.home}settings/security`
  const saveFrom = (from: string, values: Record<string, string>) => owner.post(path, values).set('x-forwarded-for', from)
  const refusals = async () => {
    const where = { organizationId: organization.id, action: 'refused' }
    const found = await service.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
    return found.map(({ actorKind, actorId, details, address }) => ({ actorKind, actorId, details, address }))
  }
  return { organization, owner, path, saveFrom, refusals }
}

const statusFrom = async (from: string, visitor: Visitor, address: string) =>
  (await visitor.get(address).set('x-forwarded-for', from)).status

it("opens the portal only from the organization's networks, and explains rejections", async () => {
  const { organization, owner, path, saveFrom, refusals } = await open()
  const grader = await signInAs(service, organization.id, ['grader'])
  expect(mistakesIn(await saveFrom(ELSEWHERE, { networks: '203.0.113.0/24' }))).toEqual([
    'Your own address is in none of these networks, so you would lock yourself out. Add it.',
  ])
  expect(mistakesIn(await saveFrom(OFFICE, { networks: '203.0.113.0/24\nhere' }))).toEqual([
    'The networks: line 2 is neither an address nor a network such as 203.0.113.0/24.',
  ])
  expect((await saveFrom(OFFICE, { networks: '203.0.113.0/24\r\n2001:db8::/32' })).status).toBe(303)
  expect((await owner.get(path).set('x-forwarded-for', OFFICE)).text).toContain('203.0.113.0/24\n2001:db8::/32</textarea>')
  expect(await statusFrom(OFFICE, grader, grader.home)).toBe(200)
  expect(await statusFrom('2001:db8::7', grader, grader.home)).toBe(200)
  const closed = await grader.get(grader.home).set('x-forwarded-for', ELSEWHERE)
  expect([closed.status, closed.text.includes(`You come from <strong>${ELSEWHERE}</strong>`)]).toEqual([403, true])
  expect((await grader.post(`${grader.home}settings/security`, {}).set('x-forwarded-for', ELSEWHERE)).status).toBe(403)
  // Rejections are recorded once an hour.
  const once = { actorKind: 'member', actorId: grader.member.id, details: { what: 'network' }, address: ELSEWHERE }
  await expect.poll(refusals).toEqual([once])
  service.clock.advance(HOUR_MS)
  await statusFrom(ELSEWHERE, grader, grader.home)
  await expect.poll(refusals).toEqual([once, once])
})

it('rejects a network of all addresses, and asks for confirmation before it locks out API keys in use', async () => {
  const { organization, owner, path, saveFrom } = await open()
  const every = (list: string, line: number) => [
    `${list}: line ${line} covers every address. Leave the list empty to allow any address.`,
  ]
  const ofKeys = 'The networks of API keys'
  expect(mistakesIn(await saveFrom(OFFICE, { networks: '0.0.0.0/0' }))).toEqual(every('The networks', 1))
  expect(mistakesIn(await saveFrom(OFFICE, { apiKeyNetworks: `${OFFICE}\n::/0`, apiKeyMaxDays: '' }))).toEqual(every(ofKeys, 2))
  expect(mistakesIn(await saveFrom(OFFICE, { apiKeyNetworks: '::ffff:0:0/96', apiKeyMaxDays: '' }))).toEqual(every(ofKeys, 1))
  const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'Used', mode: 'live' })
  await createApiKey(service.system, { organizationId: organization.id, name: 'Unused', mode: 'live' })
  expect((await service.v1(key).get('/tags').set('x-forwarded-for', ELSEWHERE)).status).toBe(200)
  await expect
    .poll(() => service.db.apiKey.count({ where: { organizationId: organization.id, lastUsedFrom: ELSEWHERE } }))
    .toBe(1)
  const fields = { apiKeyNetworks: '203.0.113.0/24', apiKeyMaxDays: '' }
  expect((await owner.get(path)).text).not.toContain('name="shutsOut"')
  const warned = await saveFrom(OFFICE, fields)
  expect(mistakesIn(warned)[0]).toContain('An API key was used in the last 30 days from an address outside these networks.')
  expect(warned.text).toContain('name="shutsOut"')
  expect((await saveFrom(OFFICE, { ...fields, shutsOut: 'yes' })).status).toBe(303)
  expect((await saveFrom(OFFICE, { ...fields, apiKeyMaxDays: '90' })).status).toBe(303)
  expect((await saveFrom(OFFICE, { ...fields, apiKeyNetworks: `203.0.113.0/24\n${ELSEWHERE}` })).status).toBe(303)
})

it('shows mistakes before it asks for the password, and asks for it before it saves', async () => {
  const { owner, path } = await open()
  service.clock.advance(16 * 60_000)
  const wrong = await owner.post(path, { trustedDeviceDays: '4000' })
  expect([wrong.status, mistakesIn(wrong).length, wrong.text.includes('value="4000"')]).toEqual([422, 1, true])
  const { status, headers } = await owner.post(path, { trustedDeviceDays: '7' })
  expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/portal\/prove/)])
  expect((await owner.get(path)).text).toContain('name="trustedDeviceDays" type="number" value="30"')
  const grader = await signInAs(service, owner.home.split('/')[2]!, ['grader'])
  service.clock.advance(16 * 60_000)
  expect((await grader.post(path, { trustedDeviceDays: '4000' })).status).toBe(404)
})

it('lets the operator reset the networks', async () => {
  const { organization, owner, saveFrom } = await open()
  await saveFrom(OFFICE, { networks: OFFICE })
  expect(await statusFrom(ELSEWHERE, owner, owner.home)).toBe(403)
  const operator = { ...service.system, actor: { kind: 'operator' } as const }
  await changeOrganizationSecurity(enterOrganization(operator, { ...organization, tier: 'standard' }), { networks: [] })
  expect(await statusFrom(ELSEWHERE, owner, owner.home)).toBe(200)
})

it("limits API keys to the organization's networks in addition to their own", async () => {
  const { organization, saveFrom, refusals } = await open()
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'Any', mode: 'live' })
  const narrow = await createApiKey(service.system, {
    organizationId: organization.id,
    name: 'One',
    mode: 'live',
    networks: [OFFICE],
  })
  const from = async (address: string, which = key) => {
    const { status, headers } = await service.v1(which).get('/tags').set('x-forwarded-for', address)
    return headers['x-error-code'] ?? status
  }
  expect(await from(ELSEWHERE)).toBe(200)
  const fields = { apiKeyNetworks: '203.0.113.0/24', apiKeyMaxDays: '', shutsOut: 'yes' }
  expect((await saveFrom(OFFICE, fields)).status).toBe(303)
  expect([await from(ELSEWHERE), await from(OFFICE), await from('203.0.113.10')]).toEqual(['network_not_allowed', 200, 200])
  expect([await from(OFFICE, narrow.key), await from('203.0.113.10', narrow.key)]).toEqual([200, 'network_not_allowed'])
  await expect
    .poll(async () => (await refusals()).map(({ actorId, details }) => [actorId, details]))
    .toEqual([
      [apiKey.id, { what: 'network' }],
      [narrow.apiKey.id, { what: 'network' }],
    ])
})

it('limits the lifetime of new keys', async () => {
  const { owner, saveFrom, organization } = await open()
  expect(mistakesIn(await saveFrom(OFFICE, { apiKeyNetworks: '', apiKeyMaxDays: '0' }))).toEqual([
    'The number of days must be a whole number from 1 to 36500.',
  ])
  await saveFrom(OFFICE, { apiKeyNetworks: '', apiKeyMaxDays: '90' })
  const path = `${owner.home}settings/integrations`
  const { text } = await owner.get(path)
  expect([...text.matchAll(/<option value="(never|\d+|date)"/g)].map(([, value]) => value)).toEqual(['30', '90', 'date'])
  const make = (name: string, fields: object) => owner.post(path, { name, mode: 'live', ...fields })
  for (const fields of [{ expiry: 'never' }, { expiry: '365' }, { expiry: 'date', expiresAt: '2099-01-01' }])
    expect(mistakesIn(await make('Long', fields))).toEqual(['The date can be at most 90 days from now.'])
  expect((await make('Short', { expiry: '90' })).text).toContain('ak_live_')
  expect(await service.db.apiKey.count({ where: { organizationId: organization.id, name: { in: ['Long', 'Short'] } } })).toBe(1)
})

it('records rejected keys and members', async () => {
  const { organization, refusals } = await open()
  const grader = await signInAs(service, organization.id, ['grader'])
  const { key, apiKey } = await createApiKey(service.system, {
    organizationId: organization.id,
    name: 'Tags',
    mode: 'live',
    scopes: ['tags:read'],
  })
  for (let i = 0; i < 3; i++) {
    await grader.get(`${grader.home}settings/audit-log`)
    await service.v1(key).get('/invites')
  }
  await expect
    .poll(async () => (await refusals()).map(({ actorId, details }) => ({ actorId, details })))
    .toEqual(
      expect.arrayContaining([
        { actorId: grader.member.id, details: { what: 'permission' } },
        { actorId: apiKey.id, details: { what: 'scope' } },
      ]),
    )
  expect(await refusals()).toHaveLength(2)
  // The total is recorded when the hour is over.
  const where = { key: { contains: ` ${apiKey.id} ` } }
  await expect.poll(async () => (await service.db.usedToken.findFirst({ where }))?.count).toBe(3)
  await recordRefusalCounts(service.system)
  expect(await refusals()).toHaveLength(2)
  const from = new Date(Math.floor(service.clock.now().getTime() / HOUR_MS) * HOUR_MS)
  const until = new Date(from.getTime() + HOUR_MS)
  service.clock.advance(HOUR_MS + 120_000)
  await Promise.all([recordRefusalCounts(service.system), recordRefusalCounts(service.system)])
  const counts = (await refusals()).slice(2).map(({ actorKind, actorId, details }) => ({ actorKind, actorId, details }))
  const times = { times: 3, from: from.toISOString(), until: until.toISOString() }
  expect(counts).toHaveLength(2)
  expect(counts).toEqual(
    expect.arrayContaining([
      { actorKind: 'member', actorId: grader.member.id, details: { what: 'permission', ...times } },
      { actorKind: 'apiKey', actorId: apiKey.id, details: { what: 'scope', ...times } },
    ]),
  )
})

it("asks what happens to a deactivated member's keys", async () => {
  const { organization, owner } = await open()
  const leaver = await signInAs(service, organization.id, ['admin'])
  const make = (name: string, createdById: string) =>
    createApiKey(service.system, { organizationId: organization.id, name, mode: 'live', createdById })
  const theirs = [await make('Payroll', leaver.member.id), await make('ATS', leaver.member.id)]
  const others = await make('Other', owner.member.id)
  const page = `${owner.home}members/${leaver.member.id}`
  expect((await owner.get(page)).text).toContain('They generated 2 API keys that still work: ATS, Payroll.')
  const status = async ({ key }: { key: string }) => (await service.v1(key).get('/tags')).status
  await owner.post(`${page}/deactivate`, {})
  expect(await Promise.all(theirs.map(status))).toEqual([200, 200])
  await owner.post(`${page}/reactivate`, { defaultRoles: 'admin' })
  await owner.post(`${page}/deactivate`, { revokesKeys: '1' })
  expect(await Promise.all([...theirs, others].map(status))).toEqual([401, 401, 200])
  const where = { organizationId: organization.id, action: 'revoked_key' }
  expect(await service.db.auditEntry.count({ where: { ...where, actorId: owner.member.id } })).toBe(2)
})
