import { describe, expect, it } from 'vitest'
import { enterOrganization } from '../../../../src/domain/context.ts'
import { nameOwner } from '../../../../src/domain/members/owners.ts'
import { findOrganization } from '../../../../src/domain/organization/organizations.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

const find = (id: string) =>
  service.db.member.findUniqueOrThrow({ where: { id }, select: { roles: true, portalRoles: true, status: true } })
const entriesOf = (targetId: string, action: string) =>
  service.db.auditEntry.findMany({
    where: { targetId, action },
    select: { details: true, actorId: true },
    orderBy: { id: 'asc' },
  })
const mailsTo = (memberId: string) =>
  service.db.memberEmail.findMany({ where: { memberId }, select: { kind: true, facts: true }, orderBy: { id: 'asc' } })

/** Creates an organization with two named owners and an admin, all signed in. */
async function startNamed() {
  const { id } = await service.make.organization()
  await service.db.organization.update({ where: { id }, data: { ownerNamedAt: service.clock.now() } })
  const owners = [await signInAs(service, id, ['admin'], ['owner']), await signInAs(service, id, ['admin'], ['owner'])] as const
  return { id, owners, admin: await signInAs(service, id, ['admin']) }
}
const refused = (text: string) => ({ status: 422, text: expect.stringContaining(text) })

describe('managers and authors', () => {
  it('are invited, listed, and filtered with their roles', async () => {
    const { id, admin } = await startNamed()
    const email = `${service.deps.newId()}@example.com`
    expect((await admin.post(`${admin.home}members/invite`, { email, roles: ['manager', 'author'] })).status).toBe(200)
    const member = await service.db.member.findFirstOrThrow({ where: { organizationId: id, email } })
    expect(member).toMatchObject({ roles: [], portalRoles: ['manager', 'author'] })
    expect(await entriesOf(member.id, 'invited_member')).toEqual([
      { actorId: admin.member.id, details: { roles: [], portalRoles: ['manager', 'author'] } },
    ])
    const list = (await admin.get(`${admin.home}members?role=manager`)).text
    expect(list).toContain(email)
    expect(list).toContain('manager, author')
    expect((await admin.get(`${admin.home}members?role=owner`)).text).not.toContain(email)
    expect((await admin.post(`${admin.home}members/export`, { role: 'manager' })).text).toContain('manager; author')
  })

  it('are granted and revoked, with a notification of the member and an audit entry', async () => {
    const { id, admin } = await startNamed()
    const { member } = await signInAs(service, id, ['grader'])
    const path = `${admin.home}members/${member.id}`
    expect((await admin.post(path, { roles: ['grader', 'manager'] })).headers.location).toBe(`${path}?done=saved`)
    expect(await find(member.id)).toMatchObject({ roles: ['grader'], portalRoles: ['manager'] })
    expect((await admin.get(path)).text).toMatch(/value="manager" checked/)
    await admin.post(path, { roles: 'author' })
    expect(await find(member.id)).toMatchObject({ roles: [], portalRoles: ['author'] })
    expect((await entriesOf(member.id, 'changed_member')).map(({ details }) => details)).toEqual([
      { portalRoles: { before: [], after: ['manager'] } },
      { roles: { before: ['grader'], after: [] }, portalRoles: { before: ['manager'], after: ['author'] } },
    ])
    expect(await mailsTo(member.id)).toMatchObject([
      { kind: 'roles_changed', facts: { before: ['grader'], after: ['manager', 'grader'] } },
      { kind: 'roles_changed', facts: { before: ['manager', 'grader'], after: ['author'] } },
    ])
  })

  it('are restored with the roles selected at reactivation', async () => {
    const { id, admin } = await startNamed()
    const { member } = await signInAs(service, id, ['grader'], ['manager'])
    const path = `${admin.home}members/${member.id}`
    await admin.post(`${path}/deactivate`)
    await admin.post(`${path}/reactivate`, { defaultRoles: 'author' })
    expect(await find(member.id)).toEqual({ roles: [], portalRoles: ['author'], status: 'active' })
  })
})

it("rejects a change of one's own roles", async () => {
  const { owners, admin } = await startNamed()
  for (const person of [owners[0], admin]) {
    const path = `${person.home}members/${person.member.id}`
    const before = await find(person.member.id)
    for (const roles of [['admin', 'manager'], ['grader']])
      expect(await person.post(path, { roles })).toMatchObject(refused('You can’t change your own roles.'))
    const fields = { email: person.member.email, roles: ['grader'] }
    expect(await person.post(`${person.home}members/invite`, fields)).toMatchObject(refused('You can’t change your own roles.'))
    expect(await find(person.member.id)).toEqual(before)
    expect((await person.post(path, { roles: ['admin'], department: 'Board' })).status).toBe(303)
  }
})

describe('owners', () => {
  it("can't be changed, deactivated, invited, or reset by admins", async () => {
    const { owners, admin } = await startNamed()
    const { id, email } = owners[0].member
    const before = await find(id)
    const path = `${admin.home}members/${id}`
    for (const [address, fields] of [
      [path, { roles: ['grader'] }],
      [`${path}/deactivate`, {}],
      [`${path}/reset-factors`, { reason: 'Lost' }],
      [`${admin.home}members/invite`, { email, roles: ['grader'] }],
    ] as [string, Record<string, string | string[]>][])
      expect([address, await admin.post(address, fields)]).toMatchObject([address, refused('only owners can change that')])
    for (const address of [`${path}/end-ownership`, `${admin.home}members/become-owner`])
      expect((await admin.post(address)).status).toBe(404)
    expect(await find(id)).toEqual(before)
    await owners[1].post(path, { roles: ['grader'] })
    expect(await find(id)).toMatchObject({ roles: ['admin', 'grader'], portalRoles: ['owner'] })
    await owners[1].post(`${path}/deactivate`)
    expect(await admin.post(`${path}/reactivate`, { defaultRoles: 'admin' })).toMatchObject(
      refused('only owners can change that'),
    )
    await owners[1].post(`${path}/reactivate`, { defaultRoles: 'admin' })
    expect(await find(id)).toEqual({ roles: ['admin'], portalRoles: [], status: 'active' })
  })

  it("can end each other's ownership and their own, except the last one's", async () => {
    const { owners } = await startNamed()
    const [one, other] = owners
    const path = `${one.home}members/${other.member.id}`
    expect((await one.post(`${path}/end-ownership`)).headers.location).toBe(`${path}?done=no-owner`)
    expect(await find(other.member.id)).toMatchObject({ roles: ['admin'], portalRoles: [] })
    expect(await entriesOf(other.member.id, 'ended_ownership')).toEqual([
      { actorId: one.member.id, details: { portalRoles: { before: ['owner'], after: [] } } },
    ])
    expect(await mailsTo(other.member.id)).toMatchObject([{ kind: 'roles_changed' }])
    const own = `${one.home}members/${one.member.id}`
    for (const action of ['end-ownership', 'deactivate'])
      expect(await one.post(`${own}/${action}`)).toMatchObject(refused('at least one owner who has joined'))
    expect(await find(one.member.id)).toEqual({ roles: ['admin'], portalRoles: ['owner'], status: 'active' })
  })

  it("keep at least one owner if all end each other's ownership at once", async () => {
    const { id, owners } = await startNamed()
    await Promise.all(
      owners.map((one, i) =>
        one.post(`${one.home}members/${owners[1 - i]!.member.id}/${i === 0 ? 'end-ownership' : 'deactivate'}`),
      ),
    )
    const left = { organizationId: id, status: 'active' as const, portalRoles: { has: 'owner' } }
    expect(await service.db.member.count({ where: left })).toBe(1)
  })
})

describe('an organization without a named owner', () => {
  it('treats admins as owners, explains it, and lets one of them become the owner', async () => {
    const { id } = await service.make.organization()
    const [one, other] = [await signInAs(service, id, ['admin']), await signInAs(service, id, ['admin'])]
    const says = async (person: typeof one) => (await person.get(`${one.home}members`)).text.includes('No owner yet')
    expect([await says(one), (await other.get(`${one.home}settings/security`)).status]).toEqual([true, 200])
    const answers = await Promise.all([one, other].map((person) => person.post(`${one.home}members/become-owner`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
    const [owner, left] = answers[0]!.status === 303 ? [one, other] : [other, one]
    expect(await find(owner.member.id)).toMatchObject({ roles: ['admin'], portalRoles: ['owner'] })
    expect([await says(owner), (await left.get(`${one.home}settings/security`)).status]).toEqual([false, 404])
    expect((await owner.get(`${one.home}settings/security`)).status).toBe(200)
    expect(await entriesOf(owner.member.id, 'became_owner')).toMatchObject([
      { details: { portalRoles: { before: [], after: ['owner'] } } },
    ])
  })

  it('gets its owner from the operator, who names a member who has joined', async () => {
    const { id } = await service.make.organization()
    const { member } = await signInAs(service, id, ['grader'], ['manager'])
    const operator = { ...service.system, actor: { kind: 'operator' } } as const
    const ctx = enterOrganization(operator, await findOrganization(operator, id))
    const invited = await service.make.member(id, { roles: ['admin'] })
    await expect(nameOwner(ctx, invited.id)).rejects.toMatchObject({ issues: [{ problem: 'notJoined' }] })
    await nameOwner(ctx, member.id)
    expect(await find(member.id)).toMatchObject({ roles: ['grader', 'admin'], portalRoles: ['owner', 'manager'] })
  })
})
