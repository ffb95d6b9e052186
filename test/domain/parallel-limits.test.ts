import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { requestCandidateArchive } from '../../src/domain/archives/request-archive.ts'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { requestErasure } from '../../src/domain/erasure/request-erasure.ts'
import { createAndStartBatch } from '../../src/domain/invites/batches/batches.ts'
import { saveFilter } from '../../src/domain/invites/saved-filters.ts'
import { storeMailEvent } from '../../src/domain/mails/mail-events.ts'
import { addDomain } from '../../src/domain/single-sign-on/domains.ts'
import { createEndpoint } from '../../src/domain/webhooks/endpoints.ts'
import { queueMail } from '../support/mail.ts'
import { startServiceForFile } from '../support/service.ts'

// A limit that counts rows before inserting one lets concurrent requests pass together. So concurrent requests fill up each limit here.

const service = await startServiceForFile({ DATABASE_POOL_SIZE: '20' })
const queue = {
  ...service.deps.queue,
  enqueueArchive: async () => {},
  enqueueErasure: async () => {},
  enqueueInviteBatch: async () => {},
  enqueueMailEvent: async () => {},
}

async function createOrganization() {
  const organization = await service.make.organization()
  const { id, userId } = await service.make.member(organization.id, { roles: ['admin'], portalRoles: ['owner'] })
  const entered = { ...service.system, deps: { ...service.deps, queue } }
  const named = { id: organization.id, name: organization.name, tier: 'standard' } as const
  const actor = { kind: 'member' as const, id, userId, roles: ['admin'], portalRoles: ['owner'] }
  const member: Context = enterOrganization({ ...entered, actor }, named, 'live')
  const apiKey: Context = {
    ...member,
    actor: { kind: 'apiKey', id: organization.apiKeyId, mode: 'live', createdById: id },
  }
  return { organizationId: organization.id, apiKeyId: organization.apiKeyId, member, apiKey }
}
type Limited = Awaited<ReturnType<typeof createOrganization>>

const now = service.clock.now()
const rows = <Row extends object>(count: number, row: Row): (Row & { id: string })[] =>
  Array.from({ length: count }, () => ({ ...row, id: service.deps.newId() }))

type Limit = {
  name: string
  most: number
  /** Inserts rows directly, if the limited function would take too long. */
  fill?: (of: Limited, count: number) => Promise<unknown>
  /** Returns a function that creates one more. */
  prepare: (of: Limited) => Promise<(i: number) => Promise<unknown>>
  count: (of: Limited) => Promise<number>
}

const limits: Limit[] = [
  {
    name: 'open invite batches of API keys',
    most: 20,
    async fill({ organizationId, apiKeyId }, count) {
      const { id: assessmentId } = await service.make.assessment(organizationId)
      const row = { organizationId, assessmentId, mode: 'live', createdByKeyId: apiKeyId, terms: {}, createdAt: now } as const
      await service.db.inviteBatch.createMany({ data: rows(count, row) })
    },
    async prepare({ organizationId, apiKey }) {
      const { id: assessmentId } = await service.make.assessment(organizationId)
      const row = (i: number) => ({ email: `sam${i}@example.com`, name: '', rowTerms: {}, unknown: [] })
      return (i) => createAndStartBatch(apiKey, { assessmentId, rows: [row(i)], terms: {} })
    },
    count: ({ organizationId }) => service.db.inviteBatch.count({ where: { organizationId } }),
  },
  {
    name: 'open erasures',
    most: 100,
    async fill({ organizationId }, count) {
      const row = { organizationId, subject: 'candidate', actorKind: 'operator', step: 'revoke', createdAt: now } as const
      const data = rows(count, row).map((one) => ({ ...one, addressHmac: randomBytes(32), encryptedAddress: randomBytes(32) }))
      await service.db.erasure.createMany({ data })
    },
    prepare:
      async ({ member }) =>
      (i) =>
        requestErasure(member, { address: `sam${i}@example.com` }),
    count: ({ organizationId }) => service.db.erasure.count({ where: { organizationId } }),
  },
  {
    name: 'archives of candidates in 24 hours',
    most: 5,
    prepare:
      async ({ member }) =>
      (i) =>
        requestCandidateArchive(member, { address: `sam${i}@example.com` }),
    count: ({ organizationId }) => service.db.archive.count({ where: { organizationId } }),
  },
  {
    name: 'saved filters of a member',
    most: 20,
    prepare:
      async ({ member }) =>
      (i) =>
        saveFilter(member, { name: `Filter ${i}`, query: '', isShared: false }),
    count: ({ organizationId }) => service.db.savedFilter.count({ where: { organizationId } }),
  },
  {
    name: 'sign-in domains',
    most: 50,
    async fill({ organizationId }, count) {
      const data = rows(count, { organizationId, token: 'none', createdAt: now })
      await service.db.signInDomain.createMany({ data: data.map((one) => ({ ...one, domain: `${one.id}.example` })) })
    },
    prepare:
      async ({ member }) =>
      (i) =>
        addDomain(member, `example${i}.org`),
    count: ({ organizationId }) => service.db.signInDomain.count({ where: { organizationId } }),
  },
  {
    name: 'webhooks',
    most: 20,
    prepare:
      async ({ apiKey }) =>
      (i) =>
        createEndpoint(apiKey, { url: `https://example.com/${i}` }),
    count: ({ organizationId }) => service.db.webhookEndpoint.count({ where: { organizationId } }),
  },
  {
    name: 'notices of one mail',
    most: 20,
    async prepare({ organizationId, member }) {
      const emailId = await queueMail(service, await service.make.invite(await service.make.assessment(organizationId)))
      const notice = (i: number) => ({ provider: 'dsn', eventId: `${emailId} ${i}`, emailId, body: Buffer.from('.') }) as const
      return (i) => storeMailEvent(member, notice(i))
    },
    count: async ({ organizationId }) => {
      const { id: emailId } = await service.db.inviteEmail.findFirstOrThrow({ where: { organizationId } })
      return service.db.mailEvent.count({ where: { emailId } })
    },
  },
]

/** Number of concurrent requests, more than ROOM allows. */
const AT_ONCE = 12
const ROOM = 2

describe('concurrent requests', () => {
  it.each(limits)('stay within the limit of $name together', async ({ most, fill, prepare, count }) => {
    const of = await createOrganization()
    const add = await prepare(of)
    if (fill) await fill(of, most - ROOM)
    else for (let i = 0; i < most - ROOM; i++) await add(i)
    await Promise.allSettled(Array.from({ length: AT_ONCE }, (_, i) => add(most + i)))
    expect(await count(of)).toBe(most)
  })
})
