import { expect, it } from 'vitest'
import { deleteExpiredEmails } from '../../../src/domain/invites/delete-expired-emails.ts'
import type { Prisma } from '../../../src/generated/prisma/client.ts'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const { db, make, deps, clock } = service

it('deletes the mails of invites that ended 400 days ago, and no others', async () => {
  const assessment = await make.assessment((await make.organization()).id)
  const now = clock.now().getTime()
  const [before, after] = [new Date(now - 401 * DAY_MS), new Date(now - 399 * DAY_MS)]
  const mailOf = async (
    data: Partial<Prisma.InviteUncheckedCreateInput>,
    { createdAt = before, state = 'sent' as 'sent' | 'queued' | 'failed' } = {},
  ) => {
    const { id: inviteId, organizationId } = await make.invite(assessment, data)
    const row = { id: deps.newId(), organizationId, inviteId, linkVersion: 1, state, createdAt, updatedAt: createdAt }
    return (await db.inviteEmail.create({ data: row })).id
  }
  const old = [
    await mailOf({ status: 'expired', expiresAt: before }),
    await mailOf({ status: 'expired', expiresAt: before }, { state: 'failed' }),
    await mailOf({ status: 'revoked', revokedAt: before, expiresAt: after }),
    await mailOf({ status: 'completed', completedAt: before, expiresAt: after }),
  ]
  const kept = [
    await mailOf({ status: 'expired', expiresAt: after }),
    await mailOf({ status: 'completed', completedAt: after, expiresAt: before }),
    await mailOf({ status: 'pending', expiresAt: new Date(now + DAY_MS) }),
    await mailOf({ status: 'expired', expiresAt: before }, { state: 'queued' }),
    await mailOf({ status: 'expired', expiresAt: before }, { createdAt: after }),
  ]
  await deleteExpiredEmails(service.system)
  const left = new Set((await db.inviteEmail.findMany({ select: { id: true } })).map(({ id }) => id))
  expect(old.filter((id) => left.has(id))).toEqual([])
  expect(kept.filter((id) => !left.has(id))).toEqual([])
})
