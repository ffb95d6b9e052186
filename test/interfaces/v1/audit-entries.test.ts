import { expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { recordAudit } from '../../../src/domain/audit/record-audit.ts'
import type { KeyScope } from '../../../src/domain/authorization/permissions.ts'
import { enterOrganization } from '../../../src/domain/context.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import { joinAs, signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()

async function makeKey(organizationId: string, scopes: KeyScope[]) {
  const { key, apiKey } = await createApiKey(service.system, { organizationId, name: service.make.unique('key'), mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { scopes })
  return service.v1(key)
}

type Entry = { id: string; position: number; action: string; details: { number?: number } }
type Client = Awaited<ReturnType<typeof makeKey>>

/** Reads the log from its beginning until the entries are complete. */
async function follow(client: Client, isAll: (entries: Entry[]) => boolean): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | undefined
  await waitUntil('all entries', async () => {
    const { status, body } = await client.get('/audit-entries').query({ limit: 100, ...(cursor && { cursor }) })
    expect(status).toBe(200)
    entries.push(...body.entries)
    cursor = body.cursor
    return isAll(entries) || undefined
  })
  return entries
}

it('shows actors, actions, addresses, and previous values, only to keys with the scope', async () => {
  const { id, key } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  const member = await service.make.member(id, { roles: ['grader'], email: 'grace@example.com' })
  await admin.post(`${admin.home}members/${member.id}`, { roles: ['client'] })
  const others = await makeKey((await service.make.organization()).id, ['audit:read'])
  expect((await service.v1(key).get('/audit-entries')).headers['x-error-code']).toBe('insufficient_scope')
  const reader = await makeKey(id, ['audit:read'])
  const entries = await follow(reader, (read) => read.some(({ action }) => action === 'changed_member'))
  expect(entries.find(({ action }) => action === 'changed_member')).toEqual({
    id: expect.any(String),
    position: expect.any(Number),
    at: expect.any(String),
    mode: 'live',
    actor: { type: 'member', id: admin.member.id, name: admin.member.email },
    action: 'changed_member',
    target: { type: 'member', id: member.id, name: 'grace@example.com' },
    details: { roles: { before: ['grader'], after: ['client'] } },
    address: '127.0.0.1',
    userAgent: expect.any(String),
    sessionId: expect.any(String),
    requestId: expect.any(String),
  })
  await joinAs(service, await service.db.organization.findUniqueOrThrow({ where: { id } }), { roles: ['grader'] })
  const joined = await service.db.auditEntry.findFirstOrThrow({ where: { organizationId: id, action: 'joined' } })
  expect(joined.address).toBe('127.0.0.1')
  const theirs = await follow(others, (read) => read.length > 0)
  expect(theirs.filter(({ action }) => action === 'changed_member')).toEqual([])
})

it('returns each entry once and in order, even after long transactions', async () => {
  const { id } = await service.make.organization()
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id } })
  const ctx = enterOrganization(service.system, organization)
  const reader = await makeKey(id, ['audit:read'])
  const [writers, each] = [8, 25]
  const write = async (writer: number) => {
    for (let i = 0; i < each; i++)
      await inTransaction(ctx, async (inside) => {
        await recordAudit(inside, { action: 'changed_settings', details: { number: writer * each + i } })
        // Entries are committed in another order than they are recorded.
        await inside.db.$executeRaw`SELECT pg_sleep(${(writer % 4) / 100})`
      })
  }
  const numbers = (entries: Entry[]) => entries.flatMap(({ details }) => details.number ?? [])
  const reading = follow(reader, (read) => numbers(read).length >= writers * each)
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  const entries = await reading
  expect(numbers(entries).sort((a, b) => a - b)).toEqual(Array.from({ length: writers * each }, (_, n) => n))
  const positions = entries.map(({ position }) => position)
  expect(positions).toEqual([...positions].sort((a, b) => a - b))
})

it('continues beyond the positions of a lost database after it was replaced', async () => {
  const { id } = await service.make.organization()
  const reader = await makeKey(id, ['audit:read'])
  const before = await follow(reader, (read) => read.length >= 3)
  await service.db.$executeRaw`UPDATE audit_sequence SET database = 'another'`
  await createApiKey(service.system, { organizationId: id, name: 'Later', mode: 'live' })
  const after = await follow(reader, (read) => read.length > before.length)
  expect(after.at(-1)!.position).toBeGreaterThanOrEqual(service.deps.clock().getTime() - 600_000)
})
