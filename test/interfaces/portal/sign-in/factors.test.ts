import { describe, expect, it } from 'vitest'
import { createResetLink } from '../../../../src/domain/members/invite-member.ts'
import { enrolPasskey } from '../../../support/authenticator.ts'
import { codeAt, enrolApp, giveApp, readOffer, recoveryCodesIn } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { joinAs, joinPath, PASSWORD, signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { browse } from '../../../support/sso.ts'

const MINUTE_MS = 60_000

const service = await startServiceForFile()
const now = service.clock.now

/** Signs in a member of a new organization who has an authenticator app. */
async function makePerson() {
  const organization = await service.make.organization()
  const person = await joinAs(service, organization)
  const app = await enrolApp(person, now)
  const credential = await service.db.credential.findFirstOrThrow({ where: { email: person.email } })
  service.clock.advance(2 * MINUTE_MS) // the current code is used up
  return { ...person, ...app, organization, credentialId: credential.id }
}

/** Enters the person's password in a new browser. */
async function givePassword(email: string) {
  const visitor = visit(service)
  const answer = await visitor.post('/portal/sign-in', { email, password: PASSWORD, next: '/portal' })
  return { ...visitor, answer }
}

describe('an app', () => {
  it('is set up with one correct code, shows recovery codes once, and ends other sessions', async () => {
    const { email, home, get, post } = await joinAs(service, await service.make.organization())
    const other = await givePassword(email)
    expect((await other.get(home)).status).toBe(200)
    const page = await get('/portal/factors/app')
    expect(page.text).toMatch(/<svg[^>]+role="img"/)
    const wrong = await post('/portal/factors/app', { sealed: 'x', code: '123456', name: 'Phone', next: home })
    expect([wrong.status, mistakesIn(wrong)]).toEqual([422, ['The code is not right.']])
    const { codes, secret, status } = await enrolApp({ get, post }, now, home)
    expect([status, codes.length, new Set(codes).size]).toEqual([200, 8, 8])
    expect((await get(home)).status).toBe(200)
    expect((await other.get(home)).status).toBe(303)
    const account = await get(`${home}account`)
    expect(account.text).toContain('8 of 8 recovery codes')
    expect(recoveryCodesIn(account.text)).toEqual([])
    // Neither the secret nor the recovery codes are readable in the database.
    const kept = await service.db.secondFactor.findFirstOrThrow({ where: { credential: { email } } })
    expect(Buffer.from(kept.encryptedSecret!).includes(secret)).toBe(false)
    const hashes = await service.db.recoveryCode.findMany({ where: { credential: { email } } })
    for (const { hash } of hashes) expect([32, codes.includes(Buffer.from(hash).toString())]).toEqual([hash.length, false])
  })

  it('is added once, and shows the same recovery codes when its form is repeated', async () => {
    const { get, post, email } = await joinAs(service, await service.make.organization())
    const { sealed, secret } = readOffer((await get('/portal/factors/app')).text)
    const form = { sealed, name: 'Phone', next: '/portal', code: codeAt(secret, now()) }
    const [codes, other] = (await Promise.all([1, 2].map(() => post('/portal/factors/app', form)))).map(({ text }) =>
      recoveryCodesIn(text),
    )
    expect([codes!.length, other]).toEqual([8, codes])
    service.clock.advance(2 * MINUTE_MS) // the code has expired
    expect(recoveryCodesIn((await post('/portal/factors/app', form)).text)).toEqual(codes)
    expect(await service.db.secondFactor.count({ where: { credential: { email } } })).toBe(1)
    expect(await service.db.recoveryCode.count({ where: { credential: { email } } })).toBe(8)
    // Invalidated recovery codes are not shown again.
    await post('/portal/factors/recovery-codes', { next: '/portal' })
    const late = await post('/portal/factors/app', form)
    expect([late.status, late.headers.location]).toEqual([303, '/portal'])
  })

  it('is required after the password, and each code works once', async () => {
    const { email, home, secret } = await makePerson()
    const visitor = await givePassword(email)
    expect([visitor.answer.status, visitor.answer.headers.location]).toEqual([303, '/portal/second-step?next=%2Fportal'])
    expect((await visitor.get(home)).headers.location).toMatch(/^\/portal\/sign-in/)
    const code = codeAt(secret, now())
    const wrong = await visitor.post('/portal/second-step', { code: `${(Number(code) + 1) % 1_000_000}`.padStart(6, '0') })
    expect([wrong.status, mistakesIn(wrong)]).toEqual([422, ['The code is not right.']])
    const right = await visitor.post('/portal/second-step', { code, next: home })
    expect([right.status, right.headers.location]).toEqual([303, home])
    expect((await visitor.get(home)).status).toBe(200)
    const again = await (await givePassword(email)).post('/portal/second-step', { code })
    expect([again.status, mistakesIn(again)]).toEqual([422, ['This code was used already. Wait for the next one.']])
  })

  it('is limited to five tries in a quarter of an hour, and twenty a day', async () => {
    const { email, secret } = await makePerson()
    const visitor = await givePassword(email)
    const guess = async () => (await visitor.post('/portal/second-step', { code: '000000x' })).text
    for (let i = 0; i < 5; i++) expect(await guess()).toContain('The code is not right.')
    // Even the right code is not checked any more, in any browser.
    const refused = await (await givePassword(email)).post('/portal/second-step', { code: codeAt(secret, now()) })
    expect(mistakesIn(refused)).toEqual(['There were too many attempts. Please try again in 15 minutes.'])
    let checkedCount = 5
    for (let i = 0; i < 16; i++) {
      service.clock.advance(15 * MINUTE_MS)
      const fresh = await givePassword(email)
      const answer = await fresh.post('/portal/second-step', { code: '000000x' })
      if (answer.text.includes('The code is not right.')) checkedCount++
    }
    expect(checkedCount).toBe(20)
    service.clock.advance(24 * 60 * MINUTE_MS)
    const right = await (await givePassword(email)).post('/portal/second-step', { code: codeAt(secret, now()) })
    expect(right.status).toBe(303)
  })
})

describe('a passkey', () => {
  it('is added once, and its repeated form gets the same result', async () => {
    const { get, post, email } = await joinAs(service, await service.make.organization())
    const { form, codes, status } = await enrolPasskey({ get, post }, service.deps.site.publicUrl)
    expect([status, codes.length]).toEqual([200, 8])
    expect(recoveryCodesIn((await post('/portal/factors/passkey', form)).text)).toEqual(codes)
    const second = await enrolPasskey({ get, post }, service.deps.site.publicUrl)
    const again = await post('/portal/factors/passkey', second.form)
    expect([second.status, again.status, again.headers.location]).toEqual([303, 303, '/portal'])
    expect(await service.db.secondFactor.count({ where: { credential: { email } } })).toBe(2)
    expect(await service.db.memberEmail.count({ where: { kind: 'factor_added', member: { email } } })).toBe(2)
  })
})

describe('a recovery code', () => {
  it('works once in place of a code, in any notation', async () => {
    const { email, home, codes } = await makePerson()
    const typed = codes[0]!.toLowerCase().replaceAll('-', ' ')
    const visitor = await givePassword(email)
    expect((await visitor.post('/portal/second-step', { code: typed, next: home })).headers.location).toBe(home)
    expect((await visitor.get(`${home}account`)).text).toContain('7 of 8 recovery codes')
    const again = await (await givePassword(email)).post('/portal/second-step', { code: codes[0]! })
    expect(mistakesIn(again)).toEqual(['The code is not right.'])
  })

  it('stops working when new ones are created, and a warning appears at two', async () => {
    const { email, home, codes, ...person } = await makePerson()
    await service.db.recoveryCode.updateMany({ where: { credential: { email } }, data: { usedAt: now() } })
    expect((await person.get(`${home}account`)).text).toContain('You have no recovery codes left.')
    const made = await person.post('/portal/factors/recovery-codes', { next: home })
    expect([made.status, recoveryCodesIn(made.text).length]).toEqual([200, 8])
    const old = await (await givePassword(email)).post('/portal/second-step', { code: codes[1]! })
    expect(mistakesIn(old)).toEqual(['The code is not right.'])
  })
})

describe('the pending second step', () => {
  it('expires after ten minutes, or when credentials change', async () => {
    const { email, secret, credentialId } = await makePerson()
    const late = await givePassword(email)
    service.clock.advance(10 * MINUTE_MS)
    const answer = await late.post('/portal/second-step', { code: codeAt(secret, now()) })
    expect([answer.status, answer.headers.location]).toEqual([303, '/portal/sign-in?done=late'])
    const early = await givePassword(email)
    await service.db.credential.update({ where: { id: credentialId }, data: { authVersion: { increment: 1 } } })
    const changed = await early.post('/portal/second-step', { code: codeAt(secret, now()) })
    expect(changed.headers.location).toBe('/portal/sign-in?done=late')
  })

  it('is cleared when somebody else signs in', async () => {
    const [{ email }, other] = [await makePerson(), await joinAs(service, await service.make.organization())]
    const browser = browse(service)
    const signIn = (address: string) => browser.post('/portal/sign-in', { email: address, password: PASSWORD, next: '/portal' })
    expect((await signIn(email)).headers.location).toMatch(/^\/portal\/second-step/)
    expect((await browser.get('/portal/second-step')).text).toContain(email)
    expect((await signIn(other.email)).headers.location).toBe('/portal')
    expect((await browser.get('/portal/second-step')).headers.location).toBe('/portal/sign-in?done=late')
  })

  it('is accepted only if the service encrypted it', async () => {
    for (const cookie of ['second-step=x', `second-step=${Buffer.from('{"credentialId":"x"}').toString('base64url')}`, ''])
      expect((await visit(service, cookie || undefined).get('/portal/second-step')).headers.location).toBe(
        '/portal/sign-in?done=late',
      )
  })
})

describe('the second factor', () => {
  it('is not bypassed by a new password, which signs nobody in and changes no factor', async () => {
    const { email, home } = await makePerson()
    const { url } = (await createResetLink(service.system, email, { mails: false }))!
    const visitor = visit(service)
    const answer = await visitor.post(new URL(url).pathname, { password: `${PASSWORD} anew` })
    expect([answer.headers.location, visitor.cookie()]).toEqual(['/portal/sign-in?done=reset', undefined])
    const signedIn = await visitor.post('/portal/sign-in', { email, password: `${PASSWORD} anew` })
    expect(signedIn.headers.location).toMatch(/^\/portal\/second-step/)
    expect((await visitor.get(home)).status).toBe(303)
  })

  it('is not bypassed by joining a second organization with a link and the password', async () => {
    const { email, home, secret } = await makePerson()
    const second = await service.make.organization()
    const visitor = visit(service)
    const answer = await visitor.post(await joinPath(service, second, email), {
      firstName: 'A',
      lastName: 'B',
      password: PASSWORD,
    })
    expect(answer.headers.location).toMatch(/^\/portal\/second-step/)
    for (const address of [home, `/portal/${second.id}/`]) expect((await visitor.get(address)).status).toBe(303)
    const right = await visitor.post('/portal/second-step', { code: codeAt(secret, now()), next: `/portal/${second.id}/` })
    expect(right.headers.location).toBe(`/portal/${second.id}/`)
    expect((await visitor.get(`/portal/${second.id}/`)).status).toBe(200)
  })

  it('is not bypassed by an earlier session, once an organization requires it', async () => {
    const { id } = await service.make.organization()
    const person = await signInAs(service, id, ['admin'])
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: person.member.id } })
    const secret = await giveApp(service, credentialId!)
    await service.db.organizationSecurity.create({ data: { organizationId: id, secondFactorFrom: now(), updatedAt: now() } })
    const closed = await person.get(`${person.home}invites`)
    const next = `${person.home}invites`
    expect([closed.status, closed.headers.location]).toEqual([303, `/portal/second-step?${new URLSearchParams({ next })}`])
    const stolen = person.cookie()
    expect((await person.post('/portal/second-step', { code: codeAt(secret, now()), next })).headers.location).toBe(next)
    expect((await person.get(next)).status).toBe(200)
    // The session has a new token.
    expect((await visit(service, stolen).get(next)).status).toBe(303)
  })
})

describe('an organization that requires a second factor', () => {
  it('opens only the set-up from that day on, and everything afterwards', async () => {
    const [asking, other] = [await service.make.organization(), await service.make.organization()]
    const person = await joinAs(service, asking)
    const credential = await service.db.credential.findFirstOrThrow({ where: { email: person.email } })
    await service.make.member(other.id, { credentialId: credential.id })
    const from = new Date(now().getTime() + 3 * 86_400_000)
    await service.db.organizationSecurity.create({
      data: { organizationId: asking.id, secondFactorFrom: from, updatedAt: now() },
    })
    const before = await person.get(person.home)
    expect([before.status, before.text.includes('in 3 days')]).toEqual([200, true])
    service.clock.set(from)
    const again = { ...(await givePassword(person.email)) }
    expect((await again.get(person.home)).headers.location).toBe(`/portal/factors?${new URLSearchParams({ next: person.home })}`)
    expect((await again.get(`/portal/${other.id}/`)).status).toBe(200)
    await enrolApp(again, now)
    expect((await again.get(person.home)).status).toBe(200)
  })

  it('keeps the last factor from being removed, unlike other organizations', async () => {
    const { home, organization, credentialId, get, post } = await makePerson()
    const { id } = await service.db.secondFactor.findFirstOrThrow({ where: { credentialId } })
    await service.db.organizationSecurity.create({
      data: { organizationId: organization.id, secondFactorFrom: now(), updatedAt: now() },
    })
    expect((await get(`/portal/factors/${id}`)).text).toContain('this is your only one')
    expect((await post(`/portal/factors/${id}/remove`, { next: home })).status).toBe(422)
    await service.db.organizationSecurity.deleteMany({ where: { organizationId: organization.id } })
    const renamed = await post(`/portal/factors/${id}`, { name: 'My phone', next: `${home}account` })
    expect((await get(renamed.headers.location!)).text).toContain('The name is changed.')
    expect((await post(`/portal/factors/${id}/remove`, { next: home })).headers.location).toBe(home)
    expect(await service.db.secondFactor.count({ where: { credentialId } })).toBe(0)
    expect(await service.db.recoveryCode.count({ where: { credentialId } })).toBe(0)
  })
})

describe("another person's factors", () => {
  it('are not found, named, or removed', async () => {
    const [mine, theirs] = [await makePerson(), await makePerson()]
    const { id } = await service.db.secondFactor.findFirstOrThrow({ where: { credentialId: theirs.credentialId } })
    expect((await mine.get(`/portal/factors/${id}`)).status).toBe(404)
    await mine.post(`/portal/factors/${id}`, { name: 'Mine' })
    await mine.post(`/portal/factors/${id}/remove`)
    expect(await service.db.secondFactor.findUniqueOrThrow({ where: { id } })).toMatchObject({ name: 'Phone' })
    for (const path of ['', '/app', '/passkey', `/${id}`])
      expect((await visit(service).get(`/portal/factors${path}`)).headers.location).toMatch(/^\/portal\/sign-in/)
  })
})

describe('a member who has lost every factor', () => {
  it("regains access after an admin's reset, only by a mailed link and a new password", async () => {
    const { email, home, organization, secret, credentialId, get } = await makePerson()
    const admin = await signInAs(service, organization.id, ['admin'])
    const member = await service.db.member.findFirstOrThrow({ where: { credentialId } })
    const page = `${admin.home}members/${member.id}`
    expect((await admin.get(page)).text).toContain('Authenticator app')
    const without = await admin.post(`${page}/reset-factors`, { reason: ' ' })
    expect([without.status, mistakesIn(without)]).toEqual([422, ['Enter the reason.']])
    expect((await admin.post(`${page}/reset-factors`, { reason: 'Phone lost, called back' })).status).toBe(303)
    expect((await get(home)).status).toBe(303)
    const old = await givePassword(email)
    expect([old.answer.status, mistakesIn(old.answer)]).toEqual([422, ['The email address or the password is not right.']])
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { action: 'reset_factors', targetId: member.id } })
    expect(entry.details).toEqual({ reason: 'Phone lost, called back' })
    const mail = await service.db.memberEmail.findFirstOrThrow({
      where: { memberId: member.id, kind: 'reset' },
      include: { link: true },
    })
    const path = new URL(service.deps.links.accountUrl(mail.link!)).pathname
    const visitor = visit(service)
    expect((await visitor.post(path, { password: `${PASSWORD} anew` })).headers.location).toBe('/portal/sign-in?done=reset')
    const signedIn = await visitor.post('/portal/sign-in', { email, password: `${PASSWORD} anew`, next: home })
    expect(signedIn.headers.location).toBe(home)
    expect(codeAt(secret, now())).toMatch(/^\d{6}$/)
  })

  it("can't be reset by an admin of one of several organizations, nor by themselves", async () => {
    const { home, organization, credentialId, ...person } = await makePerson()
    const member = await service.db.member.findFirstOrThrow({ where: { credentialId } })
    const own = await person.post(`${home}members/${member.id}/reset-factors`, { reason: 'Mine' })
    expect(own.status).toBe(404)
    const other = await service.make.organization()
    await service.make.member(other.id, { credentialId })
    const admin = await signInAs(service, organization.id, ['admin'])
    const answer = await admin.post(`${admin.home}members/${member.id}/reset-factors`, { reason: 'Lost' })
    expect(mistakesIn(answer)).toEqual([
      'This member belongs to other organizations as well. Only the operator of this service can reset their second step.',
    ])
    expect(await service.db.secondFactor.count({ where: { credentialId } })).toBe(1)
  })
})

describe('security settings', () => {
  it('are saved section by section, audited with previous values, and list members with a second factor', async () => {
    const { home, organization, email, get, post } = await makePerson()
    const without = await signInAs(service, organization.id, ['grader'])
    const page = await get(`${home}settings/security`)
    expect(page.text).toContain('1 of 2 members has a second step')
    expect(page.text.indexOf(without.member.email)).toBeLessThan(page.text.lastIndexOf(email))
    const saved = await post(`${home}settings/security`, { secondFactorFrom: '2026-12-24' })
    expect(saved.headers.location).toBe(`${home}settings/security?done=saved`)
    const wrong = await post(`${home}settings/security`, { idleMinutes: '14', sessionHours: '' })
    expect(mistakesIn(wrong)).toEqual([
      'The number of minutes must be a whole number from 15 to 720.',
      'The number of hours must be a whole number from 1 to 720.',
    ])
    const kept = await service.db.organizationSecurity.findUniqueOrThrow({ where: { organizationId: organization.id } })
    expect(kept).toMatchObject({ secondFactorFrom: new Date('2026-12-24T00:00:00Z'), idleMinutes: 720 })
    const { details } = await service.db.auditEntry.findFirstOrThrow({
      where: { organizationId: organization.id, action: 'changed_security' },
    })
    expect(details).toEqual({
      secondFactorFrom: { before: null, after: '2026-12-24T00:00:00.000Z' },
    })
    expect((await post(`${home}settings/security`, { secondFactorFrom: 'soon' })).status).toBe(422)
  })
})
