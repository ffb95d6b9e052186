import { describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { copiedJoinPath, joinAs, joinPath, PASSWORD, signInAs, visit } from '../../../support/portal.ts'
import { scaled } from '../../../support/scale.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const service = await startServiceForFile()

const tryPassword = (email: string, password: string) => visit(service).post('/portal/sign-in', { email, password })

describe('signing in', () => {
  it("leads to the person's organization, and signing out ends the session", async () => {
    const { email, home } = await joinAs(service, await service.make.organization())
    const person = visit(service)
    const signedIn = await person.post('/portal/sign-in', { email: email.toUpperCase(), password: PASSWORD })
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, '/portal'])
    expect((await person.get('/portal')).headers.location).toBe(home)
    expect((await person.get(home)).status).toBe(200)
    const stolen = person.cookie()
    // Signing out also clears rejected forms, which browsers may cache.
    expect((await person.post('/portal/sign-out')).headers).toMatchObject({
      location: '/portal/sign-in',
      'clear-site-data': '"cache"',
    })
    expect(person.cookie()).toBeUndefined()
    expect((await visit(service, stolen).get(home)).status).toBe(303)
  })

  it('gives the same response to a wrong password and an unknown address', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    const known = await tryPassword(email, 'not the password')
    const unknown = await tryPassword('nobody@example.com', 'not the password')
    expect(known.status).toBe(422)
    expect(known.text).toContain('The email address or the password is not right.')
    // The passkey challenge differs on each request.
    const textOf = ({ text }: { text: string }) =>
      text.replace(email, 'nobody@example.com').replace(/challenge&quot;:&quot;[\w-]+/, '')
    expect(textOf(known)).toBe(textOf(unknown))
    expect(known.text).not.toContain('not the password')
  })

  it('hides the cookie from scripts and other sites, and restricts it to HTTPS if available', async () => {
    const path = await joinPath(service, await service.make.organization(), 'cookie@example.com')
    const fields = { firstName: 'A', lastName: 'B', password: PASSWORD }
    const plain = await visit(service).post(path, fields)
    expect(plain.headers['set-cookie']).toEqual([
      expect.stringMatching(/^session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^device=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    const secure = await startServiceForTest({ PUBLIC_URL: 'https://assessments.example.com' })
    const securePath = await joinPath(secure, await secure.make.organization(), 'cookie@example.com')
    expect((await visit(secure).post(securePath, fields)).headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(/^__Host-device=[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ])
  })

  it('creates a new session each time, ignoring a preset cookie', async () => {
    const { email, cookie } = await joinAs(service, await service.make.organization())
    const fixed = `session=${'x'.repeat(43)}`
    const victim = visit(service, fixed)
    await victim.post('/portal/sign-in', { email, password: PASSWORD })
    expect(new Set([cookie(), victim.cookie(), fixed]).size).toBe(3)
    expect((await visit(service, fixed).get('/portal')).headers.location).toContain('/sign-in')
    // Signing in again ends the browser's previous session.
    const before = victim.cookie()
    await victim.post('/portal/sign-in', { email, password: PASSWORD })
    expect((await visit(service, before).get('/portal')).headers.location).toContain('/sign-in')
  })

  it('continues to the requested page, and never to another site', async () => {
    const { email, home } = await joinAs(service, await service.make.organization())
    const asked = await visit(service).get(`${home}account?done=name`)
    const signIn = asked.headers.location!
    expect(signIn).toBe(`/portal/sign-in?next=${encodeURIComponent(`${home}account?done=name`)}`)
    expect((await visit(service).get(signIn)).text).toContain(`value="${home}account?done=name"`)
    const goesTo = async (next: string) =>
      (await visit(service).post('/portal/sign-in', { email, password: PASSWORD, next })).headers.location
    expect(await goesTo(`${home}account`)).toBe(`${home}account`)
    for (const next of [
      '//evil.example',
      'https://evil.example/portal',
      '/\\evil.example',
      '/docs',
      '/portal/../docs',
      'javascript:x',
      '',
    ])
      expect(await goesTo(next)).toBe('/portal')
  })

  it('asks members of several organizations to choose', async () => {
    const [one, other] = [await service.make.organization(), await service.make.organization()]
    const { email, ...person } = await joinAs(service, one)
    const path = await copiedJoinPath(service, other, email)
    expect((await person.get(path)).text).toContain('If you already have an account here with this address')
    const fields = { firstName: 'Ada', lastName: 'Lovelace' }
    // The response does not reveal an existing account: an invalid new password gets the same error as for a new address.
    expect((await person.post(path, { ...fields, password: 'too short' })).text).toContain('at least 15 characters')
    expect((await person.post(path, { ...fields, password: 'a quite unrelated phrase' })).text).toContain(
      'The password is not right.',
    )
    expect((await person.post(path, { ...fields, password: PASSWORD })).status).toBe(303)
    const page = await person.get('/portal')
    for (const { id, name } of [one, other]) expect(page.text).toContain(`href="/portal/${id}/">${name}</a>`)
    expect((await person.get(`/portal/${one.id}/`)).text).toContain('Other organizations')
  })
})

describe('wrong passwords', () => {
  it('are counted per stored address', async () => {
    const { email } = await joinAs(service, await service.make.organization(), { email: 'victim@example.com' })
    const alike = email.replace('i', 'İ') // PostgreSQL maps this letter to an i, but the lower case of JavaScript does not
    expect((await tryPassword(alike, PASSWORD)).status).toBe(422)
    expect((await tryPassword(email, PASSWORD)).status).toBe(303)
  })

  it('are limited to five in a quarter of an hour; then the correct one is rejected, too', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    for (let i = 0; i < 5; i++) expect((await tryPassword(email, 'not the password')).text).toContain('is not right')
    const refused = await tryPassword(email, PASSWORD)
    expect([refused.status, /try again in ([\w ]+)\./.exec(refused.text)?.[1]]).toEqual([422, '15 minutes'])
    service.clock.advance(15 * MINUTE_MS - 1_000)
    expect((await tryPassword(email, PASSWORD)).text).toContain('try again in a minute')
    service.clock.advance(1_000)
    expect((await tryPassword(email, PASSWORD)).status).toBe(303)
    // A correct password resets the count.
    for (let i = 0; i < 5; i++) expect((await tryPassword(email, 'not the password')).text).toContain('is not right')
    service.clock.advance(15 * MINUTE_MS)
  })

  it('are limited when sent at once, and few are hashed', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    const count = scaled(100, 10_000)
    const answers: string[] = []
    const tries = Array.from({ length: count }, (_, i) => `wrong password ${i}`).values()
    // On a busy machine some requests are rejected unchecked after a long wait, so they are repeated.
    const tryInTurn = async (password: string): Promise<string> => {
      const { status, text } = await tryPassword(email, password)
      return status === 429 ? tryInTurn(password) : text
    }
    const tryAll = async () => {
      for (const password of tries) answers.push(await tryInTurn(password))
    }
    await Promise.all(Array.from({ length: 20 }, tryAll))
    expect(answers.filter((text) => text.includes('is not right'))).toHaveLength(5)
    expect(answers.filter((text) => text.includes('too many attempts'))).toHaveLength(count - 5)
    service.clock.advance(15 * MINUTE_MS)
    expect((await tryPassword(email, PASSWORD)).status).toBe(303)
  })

  it('are limited to fifty per network, across addresses', async () => {
    service.clock.advance(15 * MINUTE_MS)
    await tryPassword('first@example.com', 'not the password')
    await service.db.signInAttempt.updateMany({ data: { count: 49 } })
    expect((await tryPassword('fiftieth@example.com', 'not the password')).text).toContain('is not right')
    expect((await tryPassword('another@example.com', 'not the password')).text).toContain('too many attempts')
    service.clock.advance(15 * MINUTE_MS)
  })
})

describe('a session', () => {
  it('ends after twelve hours without a request', async () => {
    const { id } = await service.make.organization()
    const { get, home } = await signInAs(service, id, ['admin'])
    for (let i = 0; i < 3; i++) {
      service.clock.advance(12 * HOUR_MS - 1)
      expect((await get(home)).status).toBe(200)
    }
    service.clock.advance(12 * HOUR_MS)
    expect((await get(home)).status).toBe(303)
  })

  it('is not extended by automatic requests of a page', async () => {
    const { organization, submissionId } = await makeSubmitted(service)
    const { post, home } = await signInAs(service, organization.id, ['grader'])
    for (let i = 0; i < 11; i++) {
      service.clock.advance(HOUR_MS)
      expect((await post(`${home}grading/${submissionId}/viewers`)).status).toBe(200)
    }
    service.clock.advance(HOUR_MS)
    expect((await post(`${home}grading/${submissionId}/viewers`)).status).toBe(303)
  })

  it('ends after thirty days, even if in use', async () => {
    const { id } = await service.make.organization()
    const { get, home } = await signInAs(service, id, ['admin'])
    for (let hours = 10; hours < 30 * 24; hours += 10) {
      service.clock.advance(10 * HOUR_MS)
      expect((await get(home)).status).toBe(200)
    }
    service.clock.advance(10 * HOUR_MS)
    expect((await get(home)).status).toBe(303)
  })

  it('ends when the member is deactivated, except for other organizations', async () => {
    const [one, other] = [await service.make.organization(), await service.make.organization()]
    const { get, home, member } = await signInAs(service, one.id, ['admin'])
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: member.id } })
    const elsewhere = await service.make.member(other.id, { credentialId })
    const deactivate = (id: string) => service.db.member.update({ where: { id }, data: { status: 'inactive' } })
    await deactivate(member.id)
    expect((await get(home)).status).toBe(404)
    expect((await get(`/portal/${other.id}/`)).status).toBe(200)
    await deactivate(elsewhere.id)
    expect((await get(`/portal/${other.id}/`)).status).toBe(303)
    const ended = await service.db.session.findMany({ where: { credentialId: credentialId! } })
    expect(ended).toMatchObject([{ endReason: 'no_membership', endedAt: expect.any(Date) }])
  })

  it('is deleted some time after its end, like expired links and attempts', async () => {
    const { id } = await service.make.organization()
    await signInAs(service, id, ['admin'])
    await tryPassword('forgotten@example.com', 'x')
    service.clock.advance(100 * DAY_MS)
    await deleteExpiredRows(service.system, 'delete_expired_sign_ins')
    const { session, signInAttempt, accountLink, memberEmail } = service.db
    expect(await Promise.all([session.count(), signInAttempt.count(), accountLink.count(), memberEmail.count()])).toEqual([
      0, 0, 0, 0,
    ])
  })
})

it('is audited in each organization', async () => {
  const organization = await service.make.organization()
  const { email } = await joinAs(service, organization)
  await tryPassword(email, PASSWORD)
  const member = await service.db.member.findFirstOrThrow({ where: { organizationId: organization.id, email } })
  // The first entry is that of the organization's key.
  const entries = await service.db.auditEntry.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
  expect(entries.slice(1).map(({ action, actorKind, actorId }) => [action, actorKind, actorId])).toEqual([
    ['invited_member', 'operator', null],
    ['joined', 'member', member.id],
    ['signed_in', 'member', member.id],
  ])
})
