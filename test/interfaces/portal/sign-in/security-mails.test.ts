import { describe, expect, it } from 'vitest'
import { createResetLink } from '../../../../src/domain/members/invite-member.ts'
import { codeAt, enrolApp } from '../../../support/factors.ts'
import { joinAs, joinPath, PASSWORD, signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const MINUTE_MS = 60_000
const NEW_PASSWORD = `${PASSWORD} anew`

const service = await startServiceForFile()
const now = service.clock.now

/** Kinds of the security mails to an address, oldest first. */
async function kindsTo(email: string): Promise<string[]> {
  const mails = await service.db.memberEmail.findMany({ where: { member: { email } }, orderBy: { id: 'asc' } })
  return mails.map(({ kind }) => kind).filter((kind) => kind !== 'join' && kind !== 'reset')
}

/** Text of the newest mail to an address in the development mailbox. */
async function readNewest(email: string): Promise<{ text: string }> {
  const { id } = await service.db.memberEmail.findFirstOrThrow({ where: { member: { email } }, orderBy: { id: 'desc' } })
  const answer = await service.mailbox(`/${id}?view=text`)
  expect(answer.status).toBe(200)
  return { text: answer.text.replace(/<[^>]+>/g, ' ') }
}

const signIn = (email: string, password = PASSWORD, visitor = visit(service)) =>
  visitor.post('/portal/sign-in', { email, password }).set('user-agent', 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0')

describe('a security mail to the person', () => {
  it('reports an unknown browser, except the first', async () => {
    const { email, ...person } = await joinAs(service, await service.make.organization())
    await signIn(email, PASSWORD, person)
    expect(await kindsTo(email)).toEqual([])
    await signIn(email)
    expect(await kindsTo(email)).toEqual(['new_browser'])
    const { text } = await readNewest(email)
    expect(text).toContain('A new browser has signed in')
    expect(text).toContain('Firefox, Windows')
    expect(text).toMatch(/Address:\s+\S*(127\.0\.0\.1|::1)/)
    expect(text).toContain('/portal/forgot')
  })

  it('is sent once, for all of their organizations', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    const visitor = visit(service)
    await visitor.post(await joinPath(service, await service.make.organization(), email), {
      firstName: 'Ada',
      lastName: 'Lovelace',
      password: PASSWORD,
    })
    expect(await kindsTo(email)).toEqual(['new_browser'])
  })

  it('reports changes of password, factors, and recovery codes', async () => {
    const { email, home, ...person } = await joinAs(service, await service.make.organization())
    await person.post(`${home}account/password`, { current: PASSWORD, password: NEW_PASSWORD })
    const { secret, codes } = await enrolApp(person, now)
    await person.post('/portal/factors/recovery-codes', { next: home })
    expect(await kindsTo(email)).toEqual(['password_changed', 'factor_added', 'recovery_codes_made'])
    expect((await readNewest(email)).text).not.toContain(codes[0])
    const { id } = await service.db.secondFactor.findFirstOrThrow({ where: { credential: { email } } })
    await person.post(`/portal/factors/${id}/remove`, { next: home })
    expect((await kindsTo(email)).at(-1)).toBe('factor_removed')
    expect(await readNewest(email)).toMatchObject({ text: expect.stringContaining('“Phone” no longer works for signing in') })
    const { url } = (await createResetLink(service.system, email, { mails: false }))!
    await visit(service).post(new URL(url).pathname, { password: `${NEW_PASSWORD} once more` })
    expect((await kindsTo(email)).at(-1)).toBe('password_reset')
    expect(secret).toHaveLength(20)
  })

  it('reports a used recovery code, and once a day repeated wrong codes', async () => {
    const { email, ...person } = await joinAs(service, await service.make.organization())
    const { secret, codes } = await enrolApp(person, now)
    service.clock.advance(2 * MINUTE_MS)
    const visitor = visit(service)
    await signIn(email, PASSWORD, visitor)
    await visitor.post('/portal/second-step', { code: codes[0]!, next: '/portal' })
    expect((await kindsTo(email)).slice(1)).toEqual(['recovery_code_used', 'new_browser'])
    const stranger = visit(service)
    await signIn(email, PASSWORD, stranger)
    for (let i = 0; i < 9; i++) await stranger.post('/portal/second-step', { code: '000000x' })
    expect((await kindsTo(email)).filter((kind) => kind === 'wrong_codes')).toHaveLength(1)
    service.clock.advance(24 * 60 * MINUTE_MS)
    const again = visit(service)
    await signIn(email, PASSWORD, again)
    for (let i = 0; i < 7; i++) await again.post('/portal/second-step', { code: '000000x' })
    expect((await kindsTo(email)).filter((kind) => kind === 'wrong_codes')).toHaveLength(2)
    expect(codeAt(secret, now())).toHaveLength(6)
  })

  it('reports roles that others change', async () => {
    const organization = await service.make.organization()
    const [admin, other] = [await joinAs(service, organization), await joinAs(service, organization, { roles: ['grader'] })]
    const { id } = await service.db.member.findFirstOrThrow({ where: { email: other.email } })
    await admin.post(`${admin.home}members/${id}`, { roles: ['grader'], department: 'Elsewhere' })
    expect(await kindsTo(other.email)).toEqual([])
    await admin.post(`${admin.home}members/${id}`, { roles: ['admin', 'grader'], department: 'Elsewhere' })
    expect(await kindsTo(other.email)).toEqual(['roles_changed'])
    const { text } = await readNewest(other.email)
    expect(text).toContain('admin, grader')
    expect(text).toMatch(/By:\s+Ada Lovelace/)
  })

  it('reports wrong passwords of strangers, once a day', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    const key = { where: { member: { email }, kind: 'wrong_passwords' } }
    const failures = () =>
      service.db.auditEntry.count({ where: { action: 'failed_sign_in', organization: { members: { some: { email } } } } })
    // The service checks five passwords from a network in a quarter of an hour.
    for (let i = 0; i < 31; i++) {
      if (i % 5 === 0) service.clock.advance(15 * MINUTE_MS)
      await signIn(email, `wrong ${i}`)
    }
    await waitUntil('the wrong passwords to be recorded', async () => ((await failures()) >= 30 ? true : undefined))
    await waitUntil('the mail', async () => ((await service.db.memberEmail.count(key)) > 0 ? true : undefined))
    expect(await service.db.memberEmail.count(key)).toBe(1)
  })
})

describe('a security mail to all admins', () => {
  it('reports created and rotated API keys with their author, without the key', async () => {
    const organization = await service.make.organization()
    const [one, other, grader] = [
      await joinAs(service, organization),
      await joinAs(service, organization),
      await joinAs(service, organization, { roles: ['grader'] }),
    ]
    const made = await one.post(`${one.home}settings/integrations`, { name: 'Greenhouse sync', mode: 'live' })
    const key = /ak_live_\w+/.exec(made.text)![0]
    for (const { email } of [one, other]) expect(await kindsTo(email)).toEqual(['key_made'])
    expect(await kindsTo(grader.email)).toEqual([])
    const { text } = await readNewest(other.email)
    expect([text.includes('Greenhouse sync'), text.includes(key), text.includes('settings/audit-log')]).toEqual([
      true,
      false,
      true,
    ])
    const { id } = await service.db.apiKey.findFirstOrThrow({
      where: { organizationId: organization.id, name: 'Greenhouse sync' },
    })
    await one.post(`${one.home}settings/integrations/${id}/rotate`)
    expect(await kindsTo(other.email)).toEqual(['key_made', 'key_made'])
  })

  it('reports changed security settings only', async () => {
    const organization = await service.make.organization()
    const [one, other] = [await joinAs(service, organization), await joinAs(service, organization)]
    const save = (idleMinutes: string) => one.post(`${one.home}settings/security`, { idleMinutes, sessionHours: '720' })
    await save('720')
    expect(await kindsTo(other.email)).toEqual([])
    await save('60')
    for (const { email } of [one, other]) expect(await kindsTo(email)).toEqual(['security_changed'])
  })
})

it("uses the person's language", async () => {
  const { email } = await joinAs(service, await service.make.organization())
  await service.db.credential.updateMany({ where: { email }, data: { language: 'de' } })
  await signIn(email)
  expect((await readNewest(email)).text).toContain('Ein neuer Browser hat sich angemeldet')
})

describe('the sessions of a member', () => {
  it('are visible to admins, who can end them for their organization, with a notification of the member', async () => {
    const organization = await service.make.organization()
    const elsewhere = await service.make.organization()
    const admin = await joinAs(service, organization)
    const member = await joinAs(service, organization, { roles: ['grader'] })
    const second = visit(service)
    await signIn(member.email, PASSWORD, second)
    await second.post(await joinPath(service, elsewhere, member.email), {
      firstName: 'Ada',
      lastName: 'Lovelace',
      password: PASSWORD,
    })
    const there = `/portal/${elsewhere.id}/`
    const { id } = await service.db.member.findFirstOrThrow({ where: { email: member.email, organizationId: organization.id } })
    const page = await admin.get(`${admin.home}members/${id}`)
    expect(page.text.match(/sessions\/[\w-]{36}\/end"/g)).toHaveLength(2)
    const [first] = await service.db.session.findMany({
      where: { credential: { email: member.email }, endedAt: null },
      orderBy: { id: 'asc' },
    })
    await admin.post(`${admin.home}members/${id}/sessions/${first!.id}/end`)
    expect((await member.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
    expect((await second.get(member.home)).status).toBe(200)
    await admin.post(`${admin.home}members/${id}/sessions/end-all`)
    expect((await second.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
    expect((await second.get(there)).status).toBe(200)
    expect((await kindsTo(member.email)).filter((kind) => kind === 'sessions_ended')).toHaveLength(2)
    const entries = await service.db.auditEntry.findMany({
      where: { action: 'ended_member_sessions', organizationId: organization.id },
    })
    expect(entries.map(({ details, targetId }) => [details, targetId])).toEqual([
      [{ count: 1 }, id],
      [{ count: 1 }, id],
    ])
    // A closed sign-in stays closed when the session is used.
    service.clock.advance(2 * MINUTE_MS)
    expect((await second.get(there)).status).toBe(200)
    expect((await second.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
  })

  it("can't be ended for other organizations, or by the member's own request", async () => {
    const [organization, foreign] = [await service.make.organization(), await service.make.organization()]
    const admin = await signInAs(service, organization.id, ['admin'])
    const member = await joinAs(service, foreign)
    const { id } = await service.db.member.findFirstOrThrow({ where: { email: member.email } })
    expect((await admin.post(`${admin.home}members/${id}/sessions/end-all`)).status).toBe(404)
    expect((await admin.post(`${admin.home}members/${admin.member.id}/sessions/end-all`)).status).toBe(404)
    expect((await member.get(member.home)).status).toBe(200)
    expect((await admin.get(admin.home)).status).toBe(200)
  })
})
