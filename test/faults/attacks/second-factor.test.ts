import { describe, expect, it } from 'vitest'
import { createResetLink } from '../../../src/domain/members/invite-member.ts'
import { codeAt, enrolApp } from '../../support/factors.ts'
import { joinAs, joinPath, PASSWORD } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { type Browser, browse, goThrough, IDP_ON_LOOPBACK, setUpSso } from '../../support/sso.ts'

// The attacker knows an admin's password, reads their mailbox, has their earlier cookies, and owns another organization with its own identity
// provider, but has no second factor. No attack may open an organization that requires a second factor.

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { db, clock, deps } = service
const MINUTE_MS = 60_000
const NEW_PASSWORD = `${PASSWORD} by somebody else`

type Victim = {
  email: string
  home: string
  organization: { id: string; name: string }
  secret: Buffer
  old: Browser
  credentialId: string
}
type Attack = (victim: Victim) => Promise<Browser>

/** Creates an admin with an authenticator app, starts to require it in their organization, and keeps a session from before. */
async function makeVictim(ownDomain?: string): Promise<Victim> {
  const organization = await service.make.organization()
  const email = `victim-${deps.newId()}@${ownDomain ?? 'example.com'}`
  const victim = await joinAs(service, organization, { email })
  const { id: credentialId } = await db.credential.findFirstOrThrow({ where: { email } })
  const { secret } = await enrolApp(victim, clock.now)
  const old = browse(service)
  const [name, value] = victim.cookie()!.split('=') as [string, string]
  old.cookies.set(name, value)
  // Sessions from before second factors existed have no stored authentication.
  await db.sessionAuthentication.deleteMany({ where: { session: { credentialId }, kind: { not: 'password' } } })
  const data = { organizationId: organization.id, secondFactorFrom: new Date(0), updatedAt: clock.now() }
  await db.organizationSecurity.create({ data })
  clock.advance(MINUTE_MS)
  return { email, home: victim.home, organization, secret, old, credentialId }
}

async function knowPassword({ email }: Victim, password = PASSWORD): Promise<Browser> {
  const browser = browse(service)
  await browser.post('/portal/sign-in', { email, password, next: '/portal' })
  return browser
}

/** Sets up the attacker's organization with a provider that sends any claims. The organization trusts its second factor. */
const ownSso = () => setUpSso(service, { provisionsMembers: 'yes', secondFactor: 'trusted' })

const attacks: Record<string, Attack> = {
  'the password': knowPassword,
  'the password and a reset by a mailed link': async (victim) => {
    const { url } = (await createResetLink(service.system, victim.email, { mails: false }))!
    const browser = browse(service)
    await browser.post(new URL(url).pathname, { password: NEW_PASSWORD })
    await browser.post('/portal/sign-in', { email: victim.email, password: NEW_PASSWORD, next: victim.home })
    return browser
  },
  'the mailed link that admits a browser': async (victim) => {
    const { url } = (await createResetLink(service.system, victim.email, { mails: false }))!
    const browser = browse(service)
    await browser.post(`${new URL(url).pathname}/browser`)
    await browser.post('/portal/sign-in', { email: victim.email, password: PASSWORD, next: victim.home })
    return browser
  },
  'a link to join another organization': async (victim) => {
    const path = await joinPath(service, await service.make.organization(), victim.email)
    const browser = browse(service)
    await browser.post(path, { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD })
    return browser
  },
  'another link to join the organization': async (victim) => {
    const path = await joinPath(service, victim.organization, victim.email)
    const browser = browse(service)
    await browser.post(path, { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD })
    return browser
  },
  'an earlier session': async ({ old }) => old,
  'an earlier session and the password': async ({ old }) => {
    await old.post('/portal/prove', { current: PASSWORD, next: '/portal' })
    return old
  },
  'a new app added with the password alone': async (victim) => {
    for (const browser of [victim.old, await knowPassword(victim)]) await enrolApp(browser, clock.now).catch(() => null)
    return victim.old
  },
  'new recovery codes': async (victim) => {
    const browser = await knowPassword(victim)
    for (const one of [browser, victim.old]) {
      const { text } = await one.post('/portal/factors/recovery-codes', { next: victim.home })
      const [code = 'AAAA-AAAA-AAAA-AAAA-AAAA-AAAA'] = /\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){5}\b/.exec(text) ?? []
      await browser.post('/portal/second-step', { code, next: victim.home })
    }
    return browser
  },
  'removing the app': async (victim) => {
    const { id } = await db.secondFactor.findFirstOrThrow({ where: { credentialId: victim.credentialId } })
    const browser = await knowPassword(victim)
    for (const one of [browser, victim.old]) await one.post(`/portal/factors/${id}/remove`, { next: victim.home })
    return knowPassword(victim)
  },
  'a form saved until sign-in': async (victim) => {
    const browser = victim.old
    const kept = await browser.post(`${victim.home}account/name`, { firstName: 'Mallory', lastName: 'M' })
    const id = /resume%2F([\w-]+)/.exec(kept.headers.location ?? '')?.[1]
    await browser.get(`/portal/resume/${id}`)
    await browser.post(`${victim.home}account/name`, { firstName: 'Mallory', lastName: 'M', resumed_form: id ?? '' })
    return browser
  },
  'a code that was already used': async (victim) => {
    const code = codeAt(victim.secret, clock.now())
    const person = await knowPassword(victim)
    await person.post('/portal/second-step', { code, next: '/portal' })
    if ((await person.get(victim.home)).status !== 200) throw new Error('The person does not get in')
    const browser = await knowPassword(victim)
    await browser.post('/portal/second-step', { code, next: '/portal' })
    return browser
  },
  "another person's pending second step": async (victim) => {
    const other = await makeVictim()
    const browser = await knowPassword(other)
    const waiting = new Map(browser.cookies)
    const own = await knowPassword(victim)
    for (const [name, value] of waiting) own.cookies.set(name, value)
    await own.post('/portal/second-step', { code: codeAt(other.secret, clock.now()), next: victim.home })
    return own
  },
  'a browser remembered for somebody else': async (victim) => {
    const other = await makeVictim()
    const browser = await knowPassword(other)
    await browser.post('/portal/second-step', { code: codeAt(other.secret, clock.now()), next: '/portal', remember: 'yes' })
    await browser.post('/portal/sign-out')
    await browser.post('/portal/sign-in', { email: victim.email, password: PASSWORD, next: victim.home })
    return browser
  },
  "another organization's identity provider with the person's address": async (victim) => {
    const { idp, begin, person } = await ownSso()
    idp.person = person('any', { email: victim.email })
    idp.claims = { amr: ['mfa'], acr: 'mfa' }
    const browser = await knowPassword(victim)
    await goThrough(browser, idp, begin)
    return browser
  },
  "another organization's identity provider for its own domain": async () => {
    const { idp, begin, person, domain, organization } = await ownSso()
    const victim = await makeVictim(domain)
    await service.make.member(organization.id, { email: victim.email, roles: ['grader'] })
    idp.person = person('any', { email: victim.email })
    idp.claims = { amr: ['mfa'], acr: 'mfa' }
    const browser = await knowPassword(victim)
    await goThrough(browser, idp, begin)
    if ((await browser.get(`/portal/${organization.id}/`)).status !== 200) throw new Error('The provider opens nothing at all')
    await browser.post('/portal/sign-in', { email: victim.email, password: PASSWORD, next: victim.home })
    await goThrough(browser, idp, begin)
    return Object.assign(browser, { home: victim.home, organization: victim.organization })
  },
}

/** Pages of an organization. */
const READ = [
  '',
  'invites',
  'assessments',
  'members',
  'settings/organization',
  'settings/security',
  'settings/audit-log',
  'account',
  'settings/integrations',
]
/** Forms of an organization. */
const DONE = ['account/name', 'members/invite', 'settings/integrations', 'settings/organization', 'test-data/delete']

describe('a sign-in without the second factor', () => {
  const contents = async (organizationId: string) =>
    JSON.stringify([
      await db.member.findMany({ where: { organizationId }, include: { user: true } }),
      await db.apiKey.count({ where: { organizationId } }),
    ])

  it.each(Object.entries(attacks))('gives no access by %s', async (_what, attack) => {
    const victim = await makeVictim()
    const browser = (await attack(victim)) as Browser & Partial<Pick<Victim, 'home' | 'organization'>>
    const { home = victim.home, organization = victim.organization } = browser
    const before = await contents(organization.id)
    let seen = 0
    for (const path of [...READ, `submissions/${deps.newId()}/media/${deps.newId()}`]) {
      const { status, text } = await browser.get(home + path)
      if (status === 200 || text.includes(organization.name)) seen++
    }
    for (const path of DONE) {
      const fields = { firstName: 'Mallory', lastName: 'M', email: 'mallory@example.com', roles: 'admin', name: 'Key' }
      const { status, text } = await browser.post(home + path, fields)
      if (status < 300 || text.includes(organization.name)) seen++
    }
    expect(seen).toBe(0)
    expect(await contents(organization.id)).toBe(before)
  })

  it('gives access after the second factor is entered', async () => {
    const victim = await makeVictim()
    const browser = await knowPassword(victim)
    await browser.post('/portal/second-step', { code: codeAt(victim.secret, clock.now()), next: '/portal' })
    for (const path of READ) expect([path, (await browser.get(victim.home + path)).status]).toEqual([path, 200])
  })
})
