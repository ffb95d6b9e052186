import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../../src/domain/time/days.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

const find = (id: string) => service.db.member.findUniqueOrThrow({ where: { id }, select: { roles: true, portalRoles: true } })
const mailsTo = async (memberId: string) =>
  (await service.db.memberEmail.findMany({ where: { memberId }, orderBy: { id: 'asc' } })).map(({ kind }) => kind)

/** Signs in an owner who has offered ownership to a grader. */
async function startOffered() {
  const { id } = await service.make.organization()
  await service.db.organization.update({ where: { id }, data: { ownerNamedAt: service.clock.now() } })
  const owner = await signInAs(service, id, ['admin'], ['owner'])
  const other = await signInAs(service, id, ['grader'])
  const path = `${owner.home}members/${other.member.id}`
  expect((await owner.post(`${path}/offer-ownership`)).headers.location).toBe(`${path}?done=offered`)
  const answer = (with_: string) => other.post(`${owner.home}account/ownership`, { answer: with_ })
  const actions = async () =>
    (await service.db.auditEntry.findMany({ where: { targetId: other.member.id }, orderBy: { id: 'asc' } })).map(
      ({ action }) => action,
    )
  return { id, owner, other, path, answer, actions, offer: { where: { toMemberId: other.member.id } } }
}

describe('an offer to become an owner', () => {
  it('is shown to the member, who can accept it, and mailed to all owners; its author can withdraw it before that', async () => {
    const { owner, other, path, answer, actions, offer } = await startOffered()
    const { createdAt, expiresAt } = await service.db.ownershipOffer.findFirstOrThrow(offer)
    expect(expiresAt.getTime() - createdAt.getTime()).toBe(7 * DAY_MS)
    expect([await mailsTo(other.member.id), await mailsTo(owner.member.id)]).toEqual([
      ['owner_offered'],
      ['ownership_offer_made'],
    ])
    expect((await other.get(`${owner.home}account`)).text).toContain('asks you to. Owners are admins')
    expect((await answer('take')).headers.location).toBe(`${owner.home}account?done=ownership`)
    expect(await find(other.member.id)).toEqual({ roles: ['grader', 'admin'], portalRoles: ['owner'] })
    expect(await actions()).toEqual(['offered_ownership', 'became_owner'])
    expect(await mailsTo(owner.member.id)).toEqual(['ownership_offer_made', 'ownership_offer_taken'])
    expect((await answer('take')).status).toBe(422)
    expect((await other.get(`${owner.home}account`)).text).not.toContain('asks you to. Owners are admins')
    expect((await owner.post(`${owner.home}members/${owner.member.id}/end-ownership`)).status).toBe(303)
    expect(await find(owner.member.id)).toEqual({ roles: ['admin'], portalRoles: [] })
    expect((await owner.post(`${path}/offer-ownership`)).status).toBe(404)
  })

  it.each([
    ['is declined', ({ answer }) => answer('refuse')],
    ['is withdrawn', ({ owner, path }) => owner.post(`${path}/withdraw-ownership`)],
    [
      'is older than seven days',
      ({ offer }) => service.db.ownershipOffer.updateMany({ ...offer, data: { expiresAt: service.clock.now() } }),
    ],
    [
      'comes from a former owner',
      ({ owner }) => service.db.member.update({ where: { id: owner.member.id }, data: { portalRoles: [] } }),
    ],
  ] as [string, (offered: Awaited<ReturnType<typeof startOffered>>) => Promise<unknown>][])(
    'ends if it %s',
    async (_what, end) => {
      const offered = await startOffered()
      await end(offered)
      expect((await offered.other.get(`${offered.owner.home}account`)).text).not.toContain('asks you to. Owners are admins')
      const late = await offered.answer('take')
      expect([late.status, late.text]).toEqual([422, expect.stringContaining('This offer has ended.')])
      expect(await find(offered.other.member.id)).toEqual({ roles: ['grader'], portalRoles: [] })
    },
  )

  it('is made once, only by owners, and is open only to its member', async () => {
    const { id, owner, path, offer } = await startOffered()
    const admin = await signInAs(service, id, ['admin'])
    expect((await admin.post(`${owner.home}account/ownership`, { answer: 'take' })).status).toBe(422)
    for (const action of ['offer-ownership', 'withdraw-ownership'])
      expect((await admin.post(`${path}/${action}`)).status).toBe(404)
    await owner.post(`${path}/offer-ownership`)
    expect(await service.db.ownershipOffer.count({ where: { ...offer.where, answeredAt: null } })).toBe(1)
    const invited = await service.make.member(id)
    const early = await owner.post(`${owner.home}members/${invited.id}/offer-ownership`)
    expect([early.status, early.text]).toEqual([422, expect.stringContaining('has not joined yet')])
  })

  it('is impossible until the organization has its first owner', async () => {
    const { id } = await service.make.organization()
    const admin = await signInAs(service, id, ['admin'])
    const { member } = await signInAs(service, id, ['grader'])
    expect((await admin.post(`${admin.home}members/${member.id}/offer-ownership`)).status).toBe(404)
  })
})
