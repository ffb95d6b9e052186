import { describe, expect, it } from 'vitest'
import { codeAt, enrolApp } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { joinAs, PASSWORD, type Visitor, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const service = await startServiceForFile()
const now = service.clock.now

/** Creates a member with a required app, and another browser in which they entered a code, with the box ticked or not. */
async function makePerson({ ticks = true, rules = {} }: { ticks?: boolean; rules?: object } = {}) {
  const organization = await service.make.organization()
  const security = { organizationId: organization.id, updatedAt: now(), secondFactorFrom: now(), ...rules }
  const person = await joinAs(service, organization)
  const { secret } = await enrolApp(person, now)
  await service.db.organizationSecurity.create({ data: security })
  const { credentialId } = await service.db.member.findFirstOrThrow({ where: { email: person.email } })
  service.clock.advance(2 * MINUTE_MS)
  const browser = visit(service)
  await signIn(browser, person.email)
  const code = codeAt(secret, now())
  await browser.post('/portal/second-step', { code, next: person.home, ...(ticks && { remember: 'yes' }) })
  expect((await browser.get(person.home)).status).toBe(200)
  service.clock.advance(2 * MINUTE_MS)
  return { ...person, organization, secret, browser, credentialId: credentialId! }
}

const signIn = (visitor: Visitor, email: string) =>
  visitor.post('/portal/sign-in', { email, password: PASSWORD, next: '/portal' })
/** True if the browser is asked for the second factor after the password. */
const isAsked = async (visitor: Visitor, email: string) =>
  (await signIn(visitor, email)).headers.location!.startsWith('/portal/second-step')

describe('a remembered browser', () => {
  it('needs no code for as long as the organization allows', async () => {
    const { browser, email, home } = await makePerson({ rules: { trustedDeviceDays: 7 } })
    expect(await isAsked(browser, email)).toBe(false)
    expect((await browser.get(home)).status).toBe(200)
    expect(await isAsked(visit(service), email)).toBe(true)
    service.clock.advance(7 * DAY_MS)
    expect(await isAsked(browser, email)).toBe(true)
  })

  it('is remembered only if its box was ticked and the organization allows it', async () => {
    const unticked = await makePerson({ ticks: false })
    expect(await isAsked(unticked.browser, unticked.email)).toBe(true)
    const never = await makePerson({ rules: { trustedDeviceDays: 0 } })
    expect(await isAsked(never.browser, never.email)).toBe(true)
    expect((await never.browser.get('/portal/second-step')).text).not.toContain('name="remember"')
  })

  it('needs a code for an organization that remembers none', async () => {
    const { browser, email, home, organization, credentialId } = await makePerson()
    const elsewhere = await service.make.organization()
    await service.make.member(elsewhere.id, { credentialId })
    await service.db.organizationSecurity.update({
      where: { organizationId: organization.id },
      data: { trustedDeviceDays: 0 },
    })
    expect(await isAsked(browser, email)).toBe(false)
    expect((await browser.get(home)).headers.location).toMatch(/^\/portal\/second-step/)
    expect((await browser.get(`/portal/${elsewhere.id}/`)).status).toBe(200)
  })

  it('does not count as recent authentication', async () => {
    const { browser, email, home } = await makePerson()
    expect(await isAsked(browser, email)).toBe(false)
    expect((await browser.post(`${home}members/export`)).headers.location).toMatch(/^\/portal\/second-step/)
    expect((await browser.get('/portal/factors/app')).headers.location).toMatch(/^\/portal\/second-step/)
  })

  it('is listed for its owner, who can end it', async () => {
    const { browser, email, home } = await makePerson()
    const other = await makePerson()
    await signIn(browser, email)
    const listed = /browsers\/([\w-]{36})\/forget"/.exec((await browser.get(`${home}account`)).text)!
    await other.browser.post(`${other.home}account/browsers/${listed[1]}/forget`)
    expect(await isAsked(browser, email)).toBe(false)
    expect((await browser.post(`${home}account/browsers/${listed[1]}/forget`)).status).toBe(303)
    expect((await browser.get(`${home}account`)).text).not.toContain('/forget"')
    expect(await isAsked(browser, email)).toBe(true)
  })

  it('is no longer remembered after any change of password or factor', async () => {
    const { browser, email, home, secret } = await makePerson()
    await browser.post('/portal/second-step', { code: codeAt(secret, now()), next: home })
    await browser.post('/portal/factors/recovery-codes', { next: home })
    expect(await isAsked(browser, email)).toBe(true)
  })
})

describe('codes', () => {
  it("have a separate limit in a known browser, which strangers can't use up", async () => {
    const { browser, email, secret } = await makePerson({ ticks: false })
    const stranger = visit(service)
    await signIn(stranger, email)
    for (let i = 0; i < 6; i++) await stranger.post('/portal/second-step', { code: '000000x' })
    expect(mistakesIn(await stranger.post('/portal/second-step', { code: codeAt(secret, now()) }))).toEqual([
      'There were too many attempts. Please try again in 15 minutes.',
    ])
    await signIn(browser, email)
    const right = await browser.post('/portal/second-step', { code: codeAt(secret, now()), next: '/portal' })
    expect(right.status).toBe(303)
    await signIn(browser, email)
    for (let i = 0; i < 5; i++)
      expect(mistakesIn(await browser.post('/portal/second-step', { code: '000000x' }))).toEqual(['The code is not right.'])
    expect(mistakesIn(await browser.post('/portal/second-step', { code: '000000x' }))).toEqual([
      'There were too many attempts. Please try again in 15 minutes.',
    ])
  })
})
