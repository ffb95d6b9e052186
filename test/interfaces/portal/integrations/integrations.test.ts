import { EventEmitter } from 'node:events'
import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { NO_PASSWORD } from '../../../../src/domain/sign-in/passwords.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { joinAs, PASSWORD, proveAgain, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

/** Signs in an admin who manages the organization's keys. */
async function openKeys() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}settings/integrations`
  const generate = (fields: Record<string, string>) => admin.post(path, { mode: 'live', expiry: 'never', ...fields })
  const rowOf = (name: string) => service.db.apiKey.findFirstOrThrow({ where: { organizationId: organization.id, name } })
  const act = async (name: string, action: 'rotate' | 'revoke') => admin.post(`${path}/${(await rowOf(name)).id}/${action}`)
  return { ...admin, organization, path, generate, rowOf, act }
}

/** Blocks all database notifications until the test ends. */
function holdNotifications(): void {
  const emit = vi.spyOn(pg.Client.prototype, 'emit')
  onTestFinished(() => emit.mockRestore())
  const original = EventEmitter.prototype.emit
  emit.mockImplementation(function (this: pg.Client, event: string | symbol, ...values: unknown[]) {
    return event === 'notification' || original.call(this, event, ...values)
  })
}

const keyIn = ({ text }: { text: string }): string => /id="key">([^<]+)</.exec(text)![1]!
const status = async (key: string) => (await service.v1(key).get('/tags')).status

it('generates a key, which is shown once and works', async () => {
  const { generate, get, path, rowOf, member, organization } = await openKeys()
  const key = keyIn(await generate({ name: ' Production ' }))
  expect(key).toMatch(/^ak_live_\w{32}$/)
  expect(await status(key)).toBe(200)
  const list = (await get(path)).text
  expect(list).not.toContain(key)
  expect(list).toContain(`ak_live_…${key.slice(-4)}`)
  expect(list).toContain('Ada Member')
  expect(await rowOf('Production')).toMatchObject({ mode: 'live', expiresAt: null, createdById: member.id })
  const made = await service.v1(key).post('/tags').send({ name: 'Made with it' })
  expect(made.status).toBe(201)
  const audit = await service.db.auditEntry.findFirstOrThrow({
    where: { organizationId: organization.id },
    orderBy: { id: 'desc' },
  })
  expect(audit).toMatchObject({
    action: 'generated_key',
    actorKind: 'member',
    actorId: member.id,
    details: { name: 'Production' },
  })
})

it('generates test keys, and keys that expire', async () => {
  const { generate, rowOf } = await openKeys()
  expect(keyIn(await generate({ name: 'Try', mode: 'test' }))).toMatch(/^ak_test_/)
  const now = service.clock.now().getTime()
  for (const days of [30, 90, 365]) {
    await generate({ name: `${days} days`, expiry: String(days) })
    expect((await rowOf(`${days} days`)).expiresAt?.getTime()).toBe(now + days * DAY_MS)
  }
  const key = keyIn(await generate({ name: 'Until a day', expiry: 'date', expiresAt: '2100-02-28' }))
  expect((await rowOf('Until a day')).expiresAt?.toISOString()).toBe('2100-03-01T00:00:00.000Z')
  expect(await status(key)).toBe(200)
})

it('creates a key with its restrictions, or not at all', async () => {
  const { generate, post, path, rowOf, get, organization, member } = await openKeys()
  const networks = '127.0.0.1\n10.0.0.0/8'
  const scopes = ['invites:read', 'members:write', 'made up']
  const key = keyIn(await post(path, { mode: 'live', expiry: 'never', name: 'Reader', networks, scopes }))
  const { id, ...stored } = await rowOf('Reader')
  expect(stored).toMatchObject({
    scopes: ['invites:read', 'members:write'],
    rights: ['manage'],
    networks: ['127.0.0.1', '10.0.0.0/8'],
    hasRestrictedHash: true,
    createdById: member.id,
  })
  expect((await service.v1(key).get('/invites')).status).toBe(200)
  const refused = await service.v1(key).get('/tags')
  expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'insufficient_scope'])
  const audit = await service.db.auditEntry.findMany({ where: { organizationId: organization.id, targetId: id } })
  expect(audit.map(({ action, details }) => ({ action, details }))).toEqual([
    {
      action: 'generated_key',
      details: { name: 'Reader', scopes: ['invites:read', 'members:write'], networks: ['127.0.0.1', '10.0.0.0/8'] },
    },
  ])
  expect((await get(path)).text).toContain('invites:read, members:write, some networks only')

  const elsewhere = keyIn(await generate({ name: 'Elsewhere', networks: '10.0.0.0/8' }))
  const closed = await service.v1(elsewhere).get('/tags')
  expect([closed.status, closed.headers['x-error-code']]).toEqual([403, 'network_not_allowed'])

  const wrong = await generate({ name: 'Wrong', networks: '127.0.0.1\nhere', scopes: 'tags:read' })
  expect(wrong.status).toBe(422)
  expect(wrong.text).toMatch(/<details class="mb-4" +open>/)
  expect(wrong.text).toMatch(/value="tags:read" +checked/)
  expect(await service.db.apiKey.count({ where: { organizationId: organization.id, name: 'Wrong' } })).toBe(0)
})

it('shows mistakes, keeping the typed text', async () => {
  const { generate } = await openKeys()
  const mistakes = async (fields: Record<string, string>) => {
    const answer = await generate(fields)
    expect(answer.status).toBe(422)
    return [...answer.text.matchAll(/<li>(?:<a [^>]+>)?([^<]+)/g)].map(([, words]) => words)
  }
  await generate({ name: 'Taken' })
  expect(await mistakes({ name: 'Taken' })).toEqual(['The name is already taken.'])
  expect(await mistakes({ name: ' ' })).toEqual(['Enter the name.'])
  expect(await mistakes({ name: 'x'.repeat(201) })).toEqual(['The name has more than 200 characters.'])
  expect(await mistakes({ name: 'New', expiry: 'date', expiresAt: '2020-01-01' })).toEqual(['The date must be in the future.'])
  for (const date of ['9999-12-31', '3000-01-01'])
    expect(await mistakes({ name: 'New', expiry: 'date', expiresAt: date })).toEqual([
      'The date can be at most 36,500 days from now.',
    ])
  for (const date of ['', 'soon', '2027-13-01', '-000001-01-01'])
    expect(await mistakes({ name: 'New', expiry: 'date', expiresAt: date })).toEqual(['Enter a date.'])
  const answer = await generate({ name: '"<b>', expiry: 'date', mode: 'test' })
  expect(answer.text).toContain('value="&quot;&lt;b&gt;"')
  expect(answer.text).toMatch(/value="test" selected/)
})

it('revokes a key at once in every process, and gives the same response the second time', async () => {
  const { generate, act, get, path, rowOf } = await openKeys()
  const key = keyIn(await generate({ name: 'Old' }))
  holdNotifications()
  expect(await status(key)).toBe(200)
  expect((await act('Old', 'revoke')).headers.location).toBe(`${path}?done=revoked`)
  expect(await status(key)).toBe(401)
  const { revokedAt } = await rowOf('Old')
  service.clock.advance(1_000)
  expect((await act('Old', 'revoke')).status).toBe(303)
  expect((await rowOf('Old')).revokedAt).toEqual(revokedAt)
  expect((await get(path)).text).toContain('revoked <time')
  expect((await act('Old', 'rotate')).text).toContain('can’t be rotated')
})

it('rotates a key: both values are valid for 24 hours, then only the new one', async () => {
  const { generate, act, get, path, rowOf, member } = await openKeys()
  const before = keyIn(await generate({ name: 'Rotating' }))
  const { id } = await rowOf('Rotating')
  const after = keyIn(await act('Rotating', 'rotate'))
  expect([await status(before), await status(after)]).toEqual([200, 200])
  expect((await get(path)).text).toContain('The previous value works until')
  // A second rotation is rejected until the first value expires, because it would cut off clients that still use that.
  expect((await act('Rotating', 'rotate')).status).toBe(422)
  expect((await rowOf('Rotating')).id).toBe(id)
  for (let i = 0; i < 3; i++) {
    service.clock.advance(DAY_MS / 3 - 1)
    expect((await get(path)).status).toBe(200) // keeps the session alive
    expect([await status(before), await status(after)]).toEqual([200, 200])
  }
  service.clock.advance(3)
  expect([await status(before), await status(after)]).toEqual([401, 200])
  await proveAgain(service, member)
  const third = keyIn(await act('Rotating', 'rotate'))
  await act('Rotating', 'revoke')
  expect([await status(before), await status(after), await status(third)]).toEqual([401, 401, 401])
})

it('rotates once if requested many times at once', async () => {
  const { generate, act, organization } = await openKeys()
  await generate({ name: 'Busy' })
  const answers = await Promise.all(Array.from({ length: 10 }, () => act('Busy', 'rotate')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(await service.db.auditEntry.count({ where: { organizationId: organization.id, action: 'rotated_key' } })).toBe(1)
})

it("limits an earlier value's lifetime to its key's", async () => {
  const { generate, act, rowOf } = await openKeys()
  const before = keyIn(await generate({ name: 'Short' }))
  const { id } = await rowOf('Short')
  await service.db.apiKey.update({ where: { id }, data: { expiresAt: new Date(service.clock.now().getTime() + 1_000) } })
  const after = keyIn(await act('Short', 'rotate'))
  service.clock.advance(1_000)
  expect([await status(before), await status(after)]).toEqual([401, 401])
})

it('grants and revokes the manage permission only with a password, and records by whom', async () => {
  const organization = await service.make.organization()
  const { id: organizationId, apiKeyId } = organization
  const { email, home, post, get } = await joinAs(service, organization)
  const path = `${home}settings/integrations/${apiKeyId}`
  const give = (fields: Record<string, string>) => post(`${path}/rights`, fields)
  const rights = async () => (await service.db.apiKey.findUniqueOrThrow({ where: { id: apiKeyId } })).rights
  expect(await rights()).toEqual([])
  expect((await give({ rights: 'manage', current: 'not my password' })).text).toContain('The current password is not right.')
  expect((await give({ rights: 'manage' })).status).toBe(422)
  expect(await rights()).toEqual([])
  expect((await give({ rights: 'manage', current: PASSWORD })).headers.location).toBe(`${path}?done=rights`)
  expect(await rights()).toEqual(['manage'])
  expect((await get(path)).text).toMatch(/value="manage" +checked/)
  expect((await give({ current: PASSWORD })).status).toBe(303)
  expect(await rights()).toEqual([])
  const where = { organizationId, action: 'changed_key', targetId: apiKeyId }
  const audit = await service.db.auditEntry.findMany({ where, orderBy: { id: 'asc' } })
  expect(audit.map(({ details }) => details)).toMatchObject([
    { rights: { before: [], after: ['manage'] } },
    { rights: { before: ['manage'], after: [] } },
  ])
  // Members who sign in without a password are not asked for one.
  expect((await get(path)).text).toContain('name="current"')
  await service.db.credential.updateMany({ where: { email }, data: { passwordHash: NO_PASSWORD } })
  expect((await get(path)).text).not.toContain('name="current"')
  expect((await give({ rights: 'manage' })).headers.location).toBe(`${path}?done=rights`)
})

it("sets and removes a key's own limit, and shows the address of its last use", async () => {
  const { path, post, get, organization } = await openKeys()
  const { key, apiKeyId } = organization
  const own = `${path}/${apiKeyId}`
  const limit = (requestsPerMinute: string) => post(`${own}/limit`, { requestsPerMinute })
  const readLimit = async () => (await service.v1(key).get('/tags')).headers['ratelimit-limit']
  const shared = await readLimit()
  expect((await limit('7')).headers.location).toBe(`${own}?done=limit`)
  expect(await readLimit()).toBe('7')
  expect((await get(path)).text).toContain('7 requests per minute')
  for (const wrong of ['0', 'x', '1000001'])
    expect((await limit(wrong)).text).toContain('The number of requests must be a whole number from 1 to 1000000.')
  expect((await limit('')).status).toBe(303)
  expect(await readLimit()).toBe(shared)
  await expect.poll(async () => (await get(own)).text, PATIENT).toMatch(/<\/time> from 127\.0\.0\.1/)
})
