import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Connection, createDb, type Db, openPool } from '../../src/db/client.ts'
import { transact } from '../../src/db/transact.ts'
import { savePageTexts } from '../../src/domain/brand/page-texts.ts'
import { type Context, enterOrganization, inMode } from '../../src/domain/context.ts'
import { findTraces } from '../../src/domain/erasure/find-traces.ts'
import { changeRetention } from '../../src/domain/erasure/retention.ts'
import { saveMailTemplate, saveMainLanguage } from '../../src/domain/mails/mail-templates.ts'
import { changeLanguageSettings } from '../../src/domain/members/language-settings.ts'
import { changeAdmins } from '../../src/domain/members/manage-members.ts'
import { changeOrganizationSecurity } from '../../src/domain/organization/organization-security.ts'
import { changeOrganizationSettings } from '../../src/domain/organization/organization-settings.ts'
import { allowOtherSignInMethods, enforceSso } from '../../src/domain/single-sign-on/enforcement.ts'
import { replayFrom } from '../../src/domain/webhooks/deliveries.ts'
import { longTransaction } from '../../src/import/transactions.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
/** A pool with one connection: during a transaction, a statement outside of it waits for another connection and fails. */
let narrow: Db
beforeAll(async () => {
  service = await startService()
  narrow = createDb(openPool(service.databaseUrl, { max: 1 }))
})
afterAll(async () => {
  await narrow.$disconnect()
  await service.close()
})

const tag = (name: string) => ({
  id: uuidv7(),
  name,
  nameKey: name,
  nameSearch: name,
  color: '',
  createdAt: new Date(),
  updatedAt: new Date(),
})

describe('a transaction', () => {
  it('rejects the statements of an operation still in progress when it ends', async () => {
    const { id } = await service.make.organization()
    const names = Array.from({ length: 50 }, (_, n) => `tag ${n}`)
    let late: Promise<unknown> | undefined
    const failed = transact(narrow, async (inside) => {
      await inside.tag.count()
      const tags = { create: names.map((name) => ({ ...tag(name), mode: 'live' as const })) }
      late = inside.organization.update({ where: { id }, data: { tags } })
      late.catch(() => {})
      await new Promise(setImmediate)
      throw new Error('undone')
    })
    await expect(failed).rejects.toThrow('undone')
    await expect(late).rejects.toThrow()
    expect(await narrow.tag.count({ where: { organizationId: id } })).toBe(0)
  })

  it('releases its connection if COMMIT fails', async () => {
    const { id } = await service.make.organization()
    const failed = transact(narrow, async (inside) => {
      await inside.tag.create({ data: { ...tag('lost'), organizationId: id, mode: 'live' } })
      await inside.$queryRawUnsafe('SELECT 1 / 0').catch(() => {})
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await narrow.tag.count({ where: { organizationId: id } })).toBe(0)
  })

  it('releases its connection when it times out', async () => {
    const late = transact(
      narrow,
      async (inside) => {
        await inside.tag.count()
        await new Promise((resolve) => setTimeout(resolve, 400))
        return inside.tag.count()
      },
      { timeout: 200 },
    )
    await expect(late).rejects.toThrow()
    expect(await narrow.organization.count({ where: { id: uuidv7() } })).toBe(0)
  })
})

describe('savepoints that begin at the same time', () => {
  const create = (db: Connection, organizationId: string, name: string) =>
    db.tag.create({ data: { ...tag(name), organizationId, mode: 'live' } })

  it('run one after another, so that a failed one rolls back no other', async () => {
    const { id } = await service.make.organization()
    const results = await transact(narrow, (inside) =>
      Promise.allSettled(
        ['first', 'failing', 'third'].map((name) =>
          transact(inside, async (deeper) => {
            await create(deeper, id, name)
            await transact(deeper, (deepest) => create(deepest, id, `${name}, deeper`))
            if (name === 'failing') throw new Error('undone')
          }),
        ),
      ),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const tags = await narrow.tag.findMany({ where: { organizationId: id }, orderBy: { id: 'asc' } })
    expect(tags.map(({ name }) => name)).toEqual(['first', 'first, deeper', 'third', 'third, deeper'])
  })
})

it('lets an import wait for a connection while all are in use', async () => {
  const isFree = transact(narrow, () => sleep(1_500))
  const waiting = longTransaction({ ...service.system, db: narrow }, (inside) => inside.tag.count())
  expect(await Promise.all([isFree, waiting])).toEqual([undefined, expect.any(Number)])
})

describe('a change of an organization', () => {
  const changes: Record<string, (ctx: Context) => Promise<unknown>> = {
    changeAdmins: (ctx) => changeAdmins(ctx, uuidv7(), async () => {}),
    changeLanguageSettings: (ctx) => changeLanguageSettings(ctx, { language: 'en', languagesOffered: ['en'], timeZone: 'UTC' }),
    changeOrganizationSecurity: (ctx) => changeOrganizationSecurity(ctx, { networks: [] }),
    changeOrganizationSettings: (ctx) => changeOrganizationSettings(ctx, { name: 'Renamed' }),
    changeRetention: (ctx) => changeRetention(ctx, { kept: { completed: null, expired: null, revoked: null }, isSure: true }),
    saveMainLanguage: (ctx) => saveMainLanguage(ctx, 'en'),
    saveMailTemplate: (ctx) =>
      saveMailTemplate(ctx, { kind: 'invitation', language: 'en', assessmentId: null }, { seen: 0, subject: '', body: '' }),
    savePageWords: (ctx) => savePageTexts(ctx, 'en', { consent: 'I agree.', imprint: '', privacy: '', contact: '' }, ''),
    enforceSso: (ctx) => enforceSso(ctx, 8),
    allowOtherWays: allowOtherSignInMethods,
    replayFrom: (ctx) => replayFrom(ctx, uuidv7(), 0n),
  }

  it.each(Object.entries(changes))('takes its lock inside its transaction: %s', async (_, change) => {
    const { id, name } = await service.make.organization()
    const operator = { ...service.system, db: narrow, actor: { kind: 'operator' as const } }
    const ctx = enterOrganization(operator, { id, name, tier: 'standard' as const }) as Context
    const failure = await change(ctx).then(
      () => null,
      (error: Error) => error,
    )
    // A change may fail only with a domain error, not because it lacks a connection.
    expect(failure === null || failure.name === 'DomainError' ? null : failure).toBeNull()
  })
})

it('counts the submissions of both modes before erasing a candidate', async () => {
  const { id, name } = await service.make.organization()
  const invite = await service.make.invite(await service.make.assessment(id))
  const operator = { ...service.system, actor: { kind: 'operator' as const } }
  const ctx = enterOrganization(operator, { id, name, tier: 'standard' as const }) as Context
  const { recipientEmail } = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  const submission = {
    id: uuidv7(),
    organizationId: id,
    inviteId: invite.id,
    assessmentId: invite.assessmentId,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
  }
  await service.db.submission.create({ data: { ...submission, mode: 'live', createdAt: new Date(), updatedAt: new Date() } })
  const { invites, submissions } = await findTraces(inMode(ctx, 'test'), recipientEmail)
  expect({ invites, submissions }).toEqual({ invites: 1, submissions: 1 })
})
