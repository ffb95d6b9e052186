import { expect, it } from 'vitest'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

/** Creates an organization with `all` mails, of which `dead` bounced. */
async function start(dead: number, all: number) {
  const { id: organizationId } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  await service.make.question(assessment)
  const earlier = await service.make.assessment(organizationId)
  const at = new Date(service.clock.now().getTime() - 3_600_000)
  for (let i = 0; i < all; i++) {
    const { id: inviteId } = await service.make.invite(earlier)
    const bounce = i < dead ? { bounce: 'address', bouncedAt: at } : {}
    const times = { createdAt: at, updatedAt: at, sentAt: at }
    const of = { organizationId, inviteId, linkVersion: 1, state: 'sent' as const }
    await service.db.inviteEmail.create({ data: { id: service.deps.newId(), ...of, ...times, ...bounce } })
  }
  const admin = await signInAs(service, organizationId, ['admin'])
  const given = await admin.post(`${admin.home}invites/batches`, {
    assessmentId: assessment.id,
    list: `email\n${crypto.randomUUID()}@example.com`,
    sendEmail: 'yes',
  })
  const path = given.headers.location!
  const id = path.split('/').at(-1)!
  await admin.post(`${path}/start`)
  const find = () => service.db.inviteBatch.findUniqueOrThrow({ where: { id } })
  const become = (what: 'stoppedAt' | 'finishedAt') => waitUntil(what, async () => (await find())[what] ?? undefined)
  const invited = () => service.db.invite.count({ where: { assessmentId: assessment.id } })
  return { organizationId, admin, path, become, invited }
}

it('pauses a list after more than a tenth of the newest mails bounced, until an admin has checked it', async () => {
  const { organizationId, admin, path, become, invited } = await start(3, 25)
  await become('stoppedAt')
  expect(await invited()).toBe(0)
  const { text } = await admin.get(path)
  expect(text).toContain('Lists are paused until an admin has checked')
  await admin.post(`${path}/resume`)
  await become('stoppedAt')
  expect(await invited()).toBe(0)
  await admin.post(`${path}/resume`, { sure: 'yes' })
  await become('finishedAt')
  expect(await invited()).toBe(1)
  expect(await service.db.auditEntry.count({ where: { organizationId, action: 'looked_into_bounces' } })).toBe(1)
})

it('continues at exactly a tenth, or after few mails', async () => {
  for (const [dead, all] of [
    [2, 20],
    [5, 19],
  ] as const) {
    const { become, invited } = await start(dead, all)
    await become('finishedAt')
    expect(await invited()).toBe(1)
  }
})
