import { expect, it } from 'vitest'
import { parkForm } from '../../../src/domain/access/parked-forms.ts'
import type { Context } from '../../../src/domain/context.ts'
import { continueErasure } from '../../../src/domain/erasure/continue-erasure.ts'
import { eraseAgain, findUndone } from '../../../src/domain/erasure/erase-again.ts'
import { type Erasure, getErasure } from '../../../src/domain/erasure/erasures.ts'
import { requestMemberErasure } from '../../../src/domain/erasure/request-member-erasure.ts'
import { asEraser, dumpRows } from '../../support/erasing.ts'
import { enrolApp } from '../../support/factors.ts'
import { joinPath, PASSWORD, signInAs, visit } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()
const { db, make } = service
const NAME = ['Ottoline', 'Quackenbush'] as const

const waitForReceipt = (ctx: Context, id: string): Promise<Erasure> =>
  waitUntil('the receipt', async () => {
    const erasure = await getErasure(ctx, id)
    return erasure.finishedAt ? erasure : undefined
  })

/** Rows in which one of the words stands, as `table row`. */
async function rowsWith(...words: string[]): Promise<string[]> {
  const spelt = words.flatMap((word) => [word, encodeURIComponent(word)]).map((word) => word.toLowerCase())
  return [...(await dumpRows(service))].flatMap(([name, rows]) =>
    rows.filter((row) => spelt.some((word) => row.toLowerCase().includes(word))).map((row) => `${name} ${row}`),
  )
}

/** An organization with an owner, and a grader to whom everything has happened. */
async function start(email = `${service.deps.newId()}@Erase-Member.example`) {
  const organization = await make.organization()
  const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
  await db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
  const person = visit(service)
  const path = await joinPath(service, organization, email, ['grader', 'admin'])
  const home = `/portal/${organization.id}/`
  await person.post(path, { firstName: NAME[0], lastName: NAME[1], password: PASSWORD })
  const member = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email } })
  return { organization, owner, person, member, home, email, ctx: asEraser(service, organization) }
}

it('leaves name and address nowhere, and what they have done as a former grader’s', async () => {
  const { organization, owner, person, member, home, email, ctx } = await start()
  await enrolApp(person, service.clock.now)
  await person.post(`${home}account/name`, { firstName: NAME[0], lastName: NAME[1] })
  await person.post(`${home}invites/filters`, { name: 'Mine', query: `search=${email}` })
  const organizationId = organization.id
  const assessment = await make.assessment(organizationId, { createdById: member.id })
  const invite = await make.invite(assessment, { status: 'completed', assignedGraderId: member.id, createdById: member.id })
  const now = service.clock.now()
  const entry = { organizationId, actorKind: 'member', actorId: owner.member.id, at: now }
  const reason = `${email} has lost the phone`
  await db.auditEntry.create({ data: { ...entry, id: service.deps.newId(), action: 'reset_factors', details: { reason } } })
  const mail = { organizationId, memberId: owner.member.id, kind: 'security_changed', createdAt: now, updatedAt: now }
  await db.memberEmail.create({ data: { ...mail, id: service.deps.newId(), facts: { person: NAME.join(' ') } } })
  const record = { organizationId, fingerprint: new Uint8Array([1]), status: 200, createdAt: now }
  await db.idempotencyRecord.create({ data: { ...record, key: 'form x', body: `<p>${email}</p>` } })
  const form = { url: `${home}members?search=${encodeURIComponent(email)}`, isMultipart: false, page: null, isIncomplete: false }
  await parkForm(service.system, owner.member.credentialId ?? (await credentialOf(owner.member.id)), { ...form, fields: [] })
  const before = await rowsWith(email, NAME[1])
  expect([...new Set(before.map((row) => row.split(' ')[0]))]).toEqual(
    expect.arrayContaining([
      'public.members',
      'public.users',
      'public.credentials',
      'public.audit_entries',
      'public.member_emails',
    ]),
  )

  const page = `${home}members/${member.id}`
  expect((await owner.get(page)).text).toContain(`${page}/erase`)
  const asked = await owner.get(`${page}/erase`)
  expect(asked.text).toContain('As those of a former grader'.slice(3))
  const once = /name="once" value="([^"]+)"/.exec(asked.text)![1]!
  expect((await owner.post(`${page}/erase`, { once })).status).toBe(422)
  const { status, headers } = await owner.post(`${page}/erase`, { once, sure: 'yes' })
  expect(status).toBe(303)
  const id = headers.location!.split('/').at(-1)!
  const erasure = await waitForReceipt(ctx, id)
  expect(erasure).toMatchObject({ subject: 'member', ofMember: { members: 1, accounts: 1 } })
  expect(erasure.ofMember.memberMails).toBeGreaterThan(0)
  expect(erasure.ofMember.auditEntries).toBeGreaterThan(2)
  expect((await owner.get(headers.location!)).text).toContain('What they signed in with')

  expect(await rowsWith(email, NAME[1])).toEqual([])
  const theirs = await db.auditEntry.findMany({ where: { organizationId, actorId: member.id } })
  expect(theirs.length).toBeGreaterThan(2)
  expect(theirs.filter(({ address, userAgent }) => address !== null || userAgent !== null)).toEqual([])
  expect(theirs.map(({ action }) => action)).toContain('joined')
  expect((await person.get(home)).status).not.toBe(200)
  expect((await owner.get(page)).status).toBe(404)
  expect((await owner.get(`${home}members`)).text).not.toContain('erased.invalid')
  expect((await owner.get(`${home}invites/${invite.id}`)).text).toContain('A former grader')
  const v1 = service.v1(organization.key)
  const { body } = await v1.get('/members')
  expect(body.members.map((one: { id: string }) => one.id)).toEqual([owner.member.id])
  expect((await v1.get(`/members/${member.id}`)).status).toBe(404)
  for (const action of ['reactivate', 'deactivate', 'erase', 'link'])
    expect((await owner.post(`${page}/${action}`, { newRoles: 'admin', sure: 'yes' })).status).toBe(404)
  const lines = ((await service.deps.erasureLog.read()) ?? []).filter((line) => line.includes(id))
  expect(lines.map((line) => JSON.parse(line).subject)).toEqual(['member'])
  expect(lines.join().toLowerCase()).not.toContain(email.toLowerCase())

  // Whoever is invited by that address later is somebody new.
  const path = await joinPath(service, organization, email)
  expect((await visit(service).get(path)).status).toBe(200)
})

const credentialOf = async (memberId: string) => (await db.member.findUniqueOrThrow({ where: { id: memberId } })).credentialId!

it('leaves an account that opens another organization, and the member there', async () => {
  const { organization, member, person, email, ctx } = await start()
  const other = await make.organization()
  await person.post(await joinPath(service, other, email), { firstName: NAME[0], lastName: NAME[1], password: PASSWORD })
  const there = await db.member.findFirstOrThrow({ where: { organizationId: other.id, email }, include: { user: true } })
  const { id } = await requestMemberErasure(ctx, { memberId: member.id })
  expect((await waitForReceipt(ctx, id)).ofMember).toMatchObject({ members: 1, accounts: 0 })
  const after = await db.member.findFirstOrThrow({ where: { id: there.id }, include: { user: true } })
  expect(after).toEqual(there)
  expect((await person.get(`/portal/${other.id}/`)).status).toBe(200)
  expect((await person.get(`/portal/${organization.id}/`)).status).toBe(404)
})

it('is refused for oneself, for the last owner, and to admins where an owner is named', async () => {
  const { organization, owner, person, member, home, ctx } = await start()
  await expect(requestMemberErasure(ctx, { memberId: owner.member.id })).rejects.toMatchObject({
    issues: [{ problem: 'lastOwner' }],
  })
  const self: Context = {
    ...ctx,
    actor: { kind: 'member', id: owner.member.id, userId: owner.member.userId, roles: ['admin'], duties: ['owner'] },
  }
  await expect(requestMemberErasure(self, { memberId: owner.member.id })).rejects.toMatchObject({
    issues: [{ problem: 'ownErasure' }],
  })
  expect((await person.get(`${home}members/${owner.member.id}/erase`)).status).toBe(404)
  expect((await person.post(`${home}members/${owner.member.id}/erase`, { sure: 'yes' })).status).toBe(404)
  const other = asEraser(service, await make.organization())
  await expect(requestMemberErasure(other, { memberId: member.id })).rejects.toMatchObject({ kind: 'member_not_found' })
  expect(await db.member.count({ where: { organizationId: organization.id, erasedAt: null } })).toBe(2)
})

it('is done again after a restore, and revokes keys where that is wanted', async () => {
  const { organization, member, email, ctx } = await start()
  const key = await db.apiKey.create({
    data: {
      id: service.deps.newId(),
      organizationId: organization.id,
      name: 'Theirs',
      mode: 'live',
      hash: new Uint8Array([7, 7]),
      lastFour: 'abcd',
      createdById: member.id,
      createdAt: service.clock.now(),
    },
  })
  const saved = {
    user: await db.user.findUniqueOrThrow({ where: { id: member.userId } }),
    member: await db.member.findUniqueOrThrow({ where: { id: member.id } }),
  }
  const { id } = await requestMemberErasure(ctx, { memberId: member.id, revokesKeys: true })
  await continueErasure(service.system, { organizationId: organization.id, erasureId: id })
  await waitForReceipt(ctx, id)
  expect((await db.apiKey.findUniqueOrThrow({ where: { id: key.id } })).revokedAt).not.toBeNull()
  expect((await findUndone(service.system)).filter((line) => line.id === id)).toEqual([])

  // As the backup has it: the member is back, and of the erasure nothing is known.
  await db.erasure.deleteMany({ where: { id } })
  await db.user.create({ data: saved.user })
  await db.member.update({ where: { id: member.id }, data: { ...saved.member, credentialId: null } })
  expect((await findUndone(service.system)).map((line) => line.id)).toContain(id)
  const operator = { ...service.system, actor: { kind: 'operator' as const } }
  expect((await eraseAgain(operator)).filter((one) => one.id === id)).toEqual([
    { id, organizationId: organization.id, found: true },
  ])
  expect(await rowsWith(email)).toEqual([])
  expect((await findUndone(service.system)).filter((line) => line.id === id)).toEqual([])
})
