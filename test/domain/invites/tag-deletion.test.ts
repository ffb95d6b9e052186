import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { untagInvite } from '../../../src/domain/invites/change-invite.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile({ ROLE: 'api' }) // runs no sweep by itself
const { db } = service

async function connect(): Promise<Client> {
  const client = new Client(service.databaseUrl)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Creates two invites with a tag. They are counted in another slot than the next transaction's. */
async function makeTagged() {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const { id: tagId } = await service.make.tag(organizationId)
  const first = await connect()
  await first.query('BEGIN; SELECT claim_count_slot()')
  const ids: string[] = []
  for (let i = 0; i < 2; i++) {
    const { id: inviteId } = await service.make.invite(assessment)
    await db.inviteTag.create({ data: { organizationId, inviteId, tagId, position: 0 } })
    ids.push(inviteId)
  }
  await first.query('COMMIT')
  const organization = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
  return { ctx, key, tagId, ids: ids as [string, string] }
}

/** Starts a transaction that locks an invite's tag row. Its long timeout makes the other side of a deadlock fail. */
async function lockTagRow(inviteId: string): Promise<Client> {
  const client = await connect()
  await client.query(`BEGIN; SET LOCAL deadlock_timeout = '1min'`)
  await client.query('SELECT FROM invite_tags WHERE invite_id = $1 FOR UPDATE', [inviteId])
  return client
}

const waiting = (count: number) =>
  waitUntil(`${count} to wait`, async () => {
    const found = await db.$queryRaw<object[]>`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return found.length >= count || undefined
  })

it("runs before or after a concurrent change of the invite's tags, without a deadlock", async () => {
  const { ctx, key, tagId, ids } = await makeTagged()
  const holder = await lockTagRow(ids[0])
  const deleting = Promise.resolve(service.v1(key).delete(`/tags/${tagId}`))
  await waiting(1)
  const untagging = untagInvite(ctx, ids[1], tagId)
  await waiting(2)
  await holder.query('COMMIT')
  await untagging
  expect((await deleting).status).toBe(200)
})

it('is rejected if another transaction waits for the tag and holds a needed lock', async () => {
  const { key, tagId, ids } = await makeTagged()
  const holder = await lockTagRow(ids[0])
  const deleting = Promise.resolve(service.v1(key).delete(`/tags/${tagId}`))
  await waiting(1)
  await holder.query('SELECT FROM tags WHERE id = $1 FOR KEY SHARE', [tagId])
  const { status, headers } = await deleting
  expect([status, headers['retry-after']]).toEqual([503, '5'])
})
