import { expect, it, onTestFinished } from 'vitest'
import type { Context } from '../../src/domain/context.ts'
import { continueSuspension, SUSPENSION_DAYS, suspendOrganization } from '../../src/domain/erasure/suspension.ts'
import { daysAfter } from '../../src/domain/time/days.ts'
import { linesOf } from '../support/erasing.ts'
import { asOperator } from '../support/portal.ts'
import { scaled } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'

const INVITES = scaled(1_000, 20_000)
const ROWS_AT_ONCE = 1_000
/** Longest time that another organization may wait for locks of the erasure. */
const LONGEST_MS = 1_000

it(`erases an organization of ${INVITES} invites in parts, without delaying another organization by a second`, async () => {
  const service = await startServiceForTest()
  const { db, deps, make } = service
  const [organization, other] = [await make.organization(), await make.organization()]
  const [assessment, others] = [await make.assessment(organization.id), await make.assessment(other.id)]
  const { id: _, metadata: __, ...invite } = await make.invite(assessment, { status: 'completed' })
  const { organizationId, createdAt: at } = invite
  for (let i = 0; i < INVITES; i += ROWS_AT_ONCE) {
    const ids = Array.from({ length: ROWS_AT_ONCE }, () => deps.newId())
    await db.invite.createMany({ data: ids.map((id) => ({ ...invite, id, recipientEmail: `${id}@example.com` })) })
    const event = { organizationId, mode: 'live' as const, type: 'invite.created', actorType: 'system', data: {} }
    await db.event.createMany({ data: ids.map((inviteId) => ({ ...event, id: deps.newId(), inviteId, createdAt: at })) })
    const mail = { organizationId, linkVersion: 1, state: 'sent' as const, createdAt: at, updatedAt: at }
    await db.inviteEmail.createMany({ data: ids.map((inviteId) => ({ ...mail, id: deps.newId(), inviteId })) })
  }
  const ctx: Context = asOperator(service, organization)
  const { id } = await suspendOrganization(ctx, { name: organization.name })
  const later = daysAfter(service.clock.now(), SUSPENSION_DAYS)
  await db.organizationSuspension.updateMany({ data: { remindedAt: service.clock.now() } })
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  const waited: number[] = []
  const live = (async () => {
    for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 20))) {
      const begun = performance.now()
      await make.invite(others)
      waited.push(performance.now() - begun)
    }
  })()
  const begun = performance.now()
  await continueSuspension({ ...service.system, deps: { ...deps, clock: () => later } }, id)
  const seconds = (performance.now() - begun) / 1_000
  isOver = true
  await live
  process.stdout.write(
    `${INVITES} invites in ${seconds.toFixed(1)} s; ${waited.length} of another organization meanwhile, the slowest ${Math.max(...waited).toFixed(0)} ms\n`,
  )
  expect(await db.organization.count({ where: { id: organization.id } })).toBe(0)
  expect(await db.invite.count({ where: { organizationId: other.id } })).toBe(waited.length)
  expect(Math.max(...waited)).toBeLessThan(LONGEST_MS)
  const [line] = await linesOf(service, id)
  expect(JSON.parse(line!).counts).toMatchObject({ invites: INVITES + 1 })
})
