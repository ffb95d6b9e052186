import type { Response } from 'supertest'
import { describe, expect, it } from 'vitest'
import { transact } from '../../../../src/db/transact.ts'
import { createResetLink, inviteMember } from '../../../../src/domain/members/invite-member.ts'
import { lockCredential } from '../../../../src/domain/sign-in/credential-lock.ts'
import { offerApp } from '../../../../src/domain/sign-in/enrol-factor.ts'
import { proveAddress, removeCredentials } from '../../../../src/domain/sign-in/prove-address.ts'
import { findSession, type SignedIn } from '../../../../src/domain/sign-in/sessions.ts'
import { createPasswordChangeLink } from '../../../../src/domain/sign-in/sign-in.ts'
import { inTransaction } from '../../../../src/domain/transaction.ts'
import { type Authenticator, enrolPasskey, readPasskeyOptions } from '../../../support/authenticator.ts'
import { codeAt, enrolApp, readOffer } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { asAdmin, copiedJoinPath, joinPath, PASSWORD } from '../../../support/portal.ts'
import { type Browser, browse, goThrough, setUpSso, startWithMicrosoft, WITH_MICROSOFT, wayBack } from '../../../support/sso.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const { service, idp } = await startWithMicrosoft()
const { db, clock, deps, system } = service
const sso = await setUpSso(service, { provisionsMembers: 'yes' })

const MINUTE_MS = 60_000
const NEW_PASSWORD = 'four other words of the owner'
const names = { firstName: 'Ada', lastName: 'Lovelace' }
const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const pathOf = (url: string) => new URL(url).pathname
const homeOf = ({ id }: { id: string }) => `/portal/${id}/`
const hasAccess = async (browser: Browser, home: string) => (await browser.get(home)).status === 200

type Organization = { id: string; name: string }
type Account = { email: string; credentialId: string; home: string; organization: Organization; stranger: Browser }

/** Joins as a stranger with somebody else's address, by a link that an admin copied. */
async function joinByCopiedLink(email = `${deps.newId()}@example.com`): Promise<Account> {
  const organization = await service.make.organization()
  const stranger = browse(service)
  const path = await copiedJoinPath(service, organization, email)
  expect((await stranger.post(path, { ...names, password: PASSWORD })).status).toBe(303)
  const { id: credentialId } = await db.credential.findFirstOrThrow({ where: { email } })
  return { email, credentialId, home: homeOf(organization), organization, stranger }
}

const setProven = (credentialId: string, emailVerifiedAt: Date | null) =>
  db.credential.update({ where: { id: credentialId }, data: { emailVerifiedAt } })

async function signInByPasskey(authenticator: Authenticator): Promise<number> {
  const browser = browse(service)
  const options = readPasskeyOptions((await browser.get('/portal/sign-in')).text, 'get')
  return (await browser.post('/portal/sign-in/passkey', { answer: authenticator.get(options), next: '/portal' })).status
}

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.post('/portal/sign-in', { email, password, next: '/portal' })

/**
 * Adds every sign-in method and every pending action to the account. The address counts as verified meanwhile, because the pages require
 * that first.
 *
 * @returns functions by name that check whether each of them still works.
 */
async function setUpEverything({ email, credentialId, home, stranger }: Account) {
  await setProven(credentialId, clock.now())
  idp.person = { sub: deps.newId() }
  await goThrough(stranger, idp, `${home}account/link/microsoft`)
  const { authenticator, codes } = await enrolPasskey(stranger, deps.site.publicUrl)
  const { secret } = await enrolApp(stranger, clock.now)
  const code = () => {
    clock.advance(MINUTE_MS)
    return codeAt(secret, clock.now())
  }
  const [remembered, waiting] = [browse(service), browse(service)]
  await signIn(remembered, email)
  for (const [name, value] of remembered.cookies) waiting.cookies.set(name, value)
  await remembered.post('/portal/second-step', { code: code(), next: home, remember: 'yes' })
  const microsoft = browse(service)
  const way = await wayBack(microsoft, idp, WITH_MICROSOFT)
  clock.advance(16 * MINUTE_MS)
  await stranger.post(`${home}settings/webhooks`, { url: 'https://stranger.example/hook', mode: 'live' })
  const member = await db.member.findFirstOrThrow({ where: { credentialId }, include: { organization: true } })
  const changeLink = pathOf(await createPasswordChangeLink(system, member, credentialId))
  await setProven(credentialId, null)
  const where = { credentialId }
  const count = async (rows: Promise<number>) => (await rows) > 0
  expect([codes.length, await hasAccess(stranger, home)]).toEqual([8, true])
  expect(await db.savedForm.count({ where })).toBe(1)
  const deviceIds = (await db.device.findMany({ where })).map(({ id }) => id)
  expect(await db.device.count({ where: { ...where, trustedUntil: { not: null } } })).toBe(1)
  return {
    session: () => hasAccess(stranger, home),
    password: async () => (await signIn(browse(service), email)).status === 303,
    passkey: async () => (await signInByPasskey(authenticator)) === 303,
    app: () => count(db.secondFactor.count({ where: { ...where, kind: 'totp' } })),
    'recovery code': () => count(db.recoveryCode.count({ where })),
    'remembered browser': () => count(db.device.count({ where: { id: { in: deviceIds } } })),
    'second step in progress': async () =>
      (await waiting.post('/portal/second-step', { code: code(), next: home })).headers.location === home,
    'account of Microsoft, on its way': async () => (await microsoft.get(way)).status === 303,
    'link to change the password': async () => (await browse(service).get(changeLink)).status === 200,
    'saved form': () => count(db.savedForm.count({ where })),
  }
}

/** Signs in the owner of an address with the password that they set. */
async function ownerOf(email: string): Promise<Browser> {
  const browser = browse(service)
  await signIn(browser, email, NEW_PASSWORD)
  return browser
}

/** Link in the newest mail to the address. */
async function mailedLink(email: string, kind: 'join' | 'reset'): Promise<string> {
  const find = () =>
    db.memberEmail.findFirst({ where: { kind, member: { email } }, orderBy: { id: 'desc' }, include: { link: true } })
  const { link } = await waitUntil('the mail', async () => (await find()) ?? undefined)
  return pathOf(deps.links.accountUrl({ ...link!, provesAddress: true }))
}

/** Mails an invitation to another organization. @returns its link. */
async function inviteByMail(email: string, organization: Organization): Promise<string> {
  await inviteMember(await asAdmin(service, organization), { email, roles: ['grader'], mails: true })
  return mailedLink(email, 'join')
}

const setPassword = async (path: string, { email }: Account) => {
  expect((await browse(service).post(path, { password: NEW_PASSWORD })).headers.location).toBe('/portal/sign-in?done=reset')
  return ownerOf(email)
}

const joinWithNewPassword = async (path: string) => {
  const owner = browse(service)
  expect((await owner.get(path)).text).toContain('autocomplete="new-password"')
  expect((await owner.post(path, { ...names, password: NEW_PASSWORD })).status).toBe(303)
  return owner
}

/** Signs in with a provider, as a person with another address there. @returns the owner's browser. */
const come = async (begin: string, provider = sso.idp, person = { sub: deps.newId(), email: 'other@elsewhere.example' }) => {
  provider.person = person
  const owner = browse(service)
  expect((await goThrough(owner, provider, begin)).status).toBe(303)
  return owner
}

const ofDomain = () => `${deps.newId()}@${sso.domain}`

/** Ways to verify an address. Each returns a browser in which the owner is signed in. */
const ways: Record<string, { email?: () => string; prove: (account: Account) => Promise<Browser> }> = {
  'a mailed link for a new password': {
    async prove(account) {
      await createResetLink(system, account.email, { mails: true })
      return setPassword(await mailedLink(account.email, 'reset'), account)
    },
  },
  'Verify my address': {
    async prove(account) {
      const sent = await account.stranger.post('/portal/verify', { next: account.home })
      expect(titleOf(sent.text)).toBe('Check your email')
      const path = await mailedLink(account.email, 'reset')
      // Nothing is removed before the new password is set, and the stranger's password cannot be kept.
      expect(await hasAccess(account.stranger, account.home)).toBe(true)
      expect((await browse(service).get(path)).text).not.toContain('Keep my password')
      expect((await browse(service).post(`${path}/browser`)).status).toBe(404)
      return setPassword(path, account)
    },
  },
  'a link for a new password that the operator prints': {
    async prove(account) {
      return setPassword(pathOf((await createResetLink(system, account.email, { mails: false }))!.url), account)
    },
  },
  'a mailed invitation': {
    prove: async ({ email }) => joinWithNewPassword(await inviteByMail(email, await service.make.organization())),
  },
  'an invitation that the operator prints': {
    prove: async ({ email }) => joinWithNewPassword(await joinPath(service, await service.make.organization(), email)),
  },
  'single sign-on of the organization that owns the domain': {
    email: ofDomain,
    prove: ({ email }) => come(sso.begin, sso.idp, { sub: deps.newId(), email }),
  },
  'a mailed invitation and the organization’s provider': {
    prove: async ({ email }) => come(`${await inviteByMail(email, sso.organization)}/with/${sso.providerId}`),
  },
  'a mailed invitation and Microsoft': {
    prove: async ({ email }) => come(`${await inviteByMail(email, await service.make.organization())}/with/microsoft`, idp),
  },
  'a copied link and the provider of the organization that owns the domain': {
    email: ofDomain,
    prove: async ({ email }) => {
      const path = await copiedJoinPath(service, sso.organization, email, ['grader'])
      return come(`${path}/with/${sso.providerId}`, sso.idp, { sub: deps.newId(), email })
    },
  },
}

describe('the first verification of an address', () => {
  it.each(Object.entries(ways))('removes everything that was set up before: by %s', async (_way, { email, prove }) => {
    const account = await joinByCopiedLink(email?.())
    const works = await setUpEverything(account)
    const owner = await prove(account)
    const left: string[] = []
    for (const [name, isLeft] of Object.entries(works)) if (await isLeft()) left.push(name)
    expect(left).toEqual([])
    expect((await owner.get('/portal')).headers.location ?? '').not.toMatch(/sign-in|second-step/)
    const entry = { organizationId: account.organization.id, action: 'proved_address' }
    expect(await db.auditEntry.count({ where: entry })).toBe(1)
  })

  it('keeps an identity of an organization’s own provider, which opens only that organization', async () => {
    const account = await joinByCopiedLink()
    const { credentialId, email } = account
    const member = await service.make.member(sso.organization.id, { email, credentialId, roles: ['grader'] })
    const person = { sub: deps.newId(), email }
    const row = { providerId: sso.providerId, issuer: sso.idp.issuer, subject: person.sub, lastEmail: email, linkedBy: 'join' }
    const whose = { credentialId, organizationId: sso.organization.id, memberId: member.id, linkedAt: clock.now() }
    await db.identity.create({ data: { id: deps.newId(), ...row, ...whose } })
    await ways['a mailed link for a new password']!.prove(account)
    const browser = await come(sso.begin, sso.idp, person)
    expect([await hasAccess(browser, homeOf(sso.organization)), await hasAccess(browser, account.home)]).toEqual([true, false])
    // It does not open the person's own settings either, even if they belong to no other organization.
    await db.member.updateMany({ where: { credentialId, id: { not: member.id } }, data: { status: 'inactive' } })
    expect((await browser.get('/portal/factors')).status).toBe(403)
  })

  it('removes nothing the second time', async () => {
    const account = await joinByCopiedLink()
    const owner = await ways['a mailed link for a new password']!.prove(account)
    await enrolApp(owner, clock.now)
    await createResetLink(system, account.email, { mails: true })
    await browse(service).post(await mailedLink(account.email, 'reset'), { password: `${NEW_PASSWORD} again` })
    expect(await db.secondFactor.count({ where: { credentialId: account.credentialId } })).toBe(1)
  })
})

describe('an account with an unverified address', () => {
  it('gets no second factor and no provider, and leads to the verification', async () => {
    const { stranger, home, credentialId } = await joinByCopiedLink()
    const account = await stranger.get(`${home}account`)
    expect(account.text).toContain('Verify my address')
    expect(account.text).not.toContain('account/link/microsoft')
    for (const path of ['/portal/factors', '/portal/factors/app', '/portal/factors/passkey', `${home}account/link/microsoft`])
      expect((await stranger.get(path)).headers.location, path).toMatch(/^\/portal\/verify\?/)
    const signedIn = await findSession(system, stranger.cookies.get('session')!, { isUse: false })
    const { sealed, secret } = offerOf(signedIn!)
    const refused = await stranger.post('/portal/factors/app', {
      sealed,
      name: 'Phone',
      next: home,
      code: codeAt(secret, clock.now()),
    })
    expect([refused.status, mistakesIn(refused)]).toEqual([
      422,
      ['Verify your address first: choose “Verify my address” under My account.'],
    ])
    expect(await db.secondFactor.count({ where: { credentialId } })).toBe(0)
  })

  it('is led to the verification by an organization that requires a second factor', async () => {
    const { stranger, home, organization } = await joinByCopiedLink()
    const rule = { organizationId: organization.id, secondFactorFrom: new Date(0), updatedAt: clock.now() }
    await db.organizationSecurity.create({ data: rule })
    const factors = (await stranger.get(home)).headers.location!
    expect((await stranger.get(factors)).headers.location).toMatch(/^\/portal\/verify\?/)
    expect((await stranger.get('/portal/verify')).text).toContain('>Verify my address</button>')
  })

  it('is not created by a copied link and a provider, unless its organization owns the domain', async () => {
    const organization = await service.make.organization()
    const join = async (path: string, provider = idp) => titleOf((await goThrough(browse(service), provider, path)).text)
    idp.person = { sub: deps.newId(), email: 'any@elsewhere.example' }
    const title = 'Open the link in your email'
    expect(await join(`${await copiedJoinPath(service, organization, `${deps.newId()}@example.com`)}/with/microsoft`)).toBe(title)
    // An organization's own provider vouches only for addresses of its domain, and only for the address that it reports.
    const email = ofDomain()
    for (const address of [`${deps.newId()}@example.com`, email]) {
      sso.idp.person = { sub: deps.newId(), email: address === email ? ofDomain() : address }
      const path = await copiedJoinPath(service, sso.organization, address, ['grader'])
      expect(await join(`${path}/with/${sso.providerId}`, sso.idp)).toBe(title)
    }
    expect(await db.credential.count({ where: { email } })).toBe(0)
  })

  it('can’t be named for an owner’s emergencies', async () => {
    const { email } = await joinByCopiedLink()
    const member = await db.member.findFirstOrThrow({ where: { email } })
    await db.member.update({ where: { id: member.id }, data: { portalRoles: ['owner'] } })
    const owner = browse(service)
    const organization = await db.organization.findUniqueOrThrow({ where: { id: member.organizationId } })
    const path = await joinPath(service, organization, `${deps.newId()}@example.com`)
    await owner.post(path, { ...names, password: PASSWORD })
    await db.member.updateMany({ where: { organizationId: organization.id }, data: { portalRoles: ['owner'] } })
    const refused = await owner.post(`${homeOf(organization)}settings/sign-in/own-ways`, {
      email,
      signInException: 'break_glass',
    })
    expect([refused.status, mistakesIn(refused)]).toEqual([
      422,
      ['This owner has not verified their address yet. They can do it under My account.'],
    ])
  })
})

/** Reads an offered authenticator app as its page shows it. */
function offerOf(signedIn: SignedIn) {
  const { sealed, secret } = offerApp(system, signedIn)
  return readOffer(`name="sealed" value="${sealed}" id="secret">${secret}<`)
}

/** Sends a request that waits for a lock on the credential while work is done under that lock. */
async function askBehind(credentialId: string, work: (inside: typeof db) => Promise<unknown>, ask: () => PromiseLike<Response>) {
  await waitUntil('mails to be sent', async () => (await db.memberEmail.count({ where: { state: 'queued' } })) === 0 || undefined)
  let asked: Promise<Response> | undefined
  await transact(
    db,
    async (inside) => {
      await inside.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0`
      await lockCredential({ ...system, db: inside }, credentialId)
      asked = Promise.resolve(ask())
      const waiting = () => db.$queryRaw<object[]>`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await waitUntil('the request to wait', async () => (await waiting())[0])
      await work(inside as typeof db)
    },
    { timeout: PATIENT.timeout },
  )
  return asked!
}

describe('a request that waits for the verification of the address', () => {
  const setUp = async () => {
    const account = await joinByCopiedLink()
    const { credentialId, stranger, home } = account
    await setProven(credentialId, clock.now())
    const offer = readOffer((await stranger.get('/portal/factors/app')).text)
    idp.person = { sub: deps.newId() }
    const way = await wayBack(stranger, idp, `${home}account/link/microsoft`)
    const addApp = () =>
      stranger.post('/portal/factors/app', {
        ...{ sealed: offer.sealed, name: 'Phone', next: '/portal' },
        code: codeAt(offer.secret, clock.now()),
      })
    const left = async () => [
      await db.secondFactor.count({ where: { credentialId } }),
      await db.identity.count({ where: { credentialId } }),
    ]
    return { ...account, addApp, way, left }
  }
  const prove = (credentialId: string) => (inside: typeof db) => proveAddress({ ...system, db: inside }, credentialId)

  it('adds no factor after it', async () => {
    const { credentialId, addApp, left } = await setUp()
    await setProven(credentialId, null)
    const added = await askBehind(credentialId, prove(credentialId), addApp)
    const signedOut = 'You were signed out in the meantime, and nothing was changed. Sign in again.'
    expect([added.status, mistakesIn(added), await left()]).toEqual([422, [signedOut], [0, 0]])
  })

  it('links nothing after it', async () => {
    const { credentialId, stranger, way, left } = await setUp()
    await setProven(credentialId, null)
    const linked = await askBehind(credentialId, prove(credentialId), () => stranger.get(way))
    expect([titleOf(linked.text), await left()]).toEqual(['Please start again', [0, 0]])
  })

  it('loses through the verification what it added and linked just before', async () => {
    const { credentialId, stranger, addApp, way, left } = await setUp()
    expect([(await addApp()).status, (await stranger.get(way)).status, await left()]).toEqual([200, 303, [1, 1]])
    await setProven(credentialId, null)
    await inTransaction(system, async (inside) => {
      await lockCredential(inside, credentialId)
      await proveAddress(inside, credentialId)
    })
    expect(await left()).toEqual([0, 0])
  })

  it("adds no factor and saves no form after a change of the person's credentials", async () => {
    const { credentialId, stranger, home, addApp, left } = await setUp()
    const change = (inside: typeof db) => removeCredentials({ ...system, db: inside }, credentialId, 'password_reset')
    const added = await askBehind(credentialId, change, addApp)
    expect([added.status, await left()]).toEqual([422, [0, 0]])
    expect((await stranger.post(`${home}account/name`, names)).headers.location).toBe('/portal/sign-in')
    expect(await db.savedForm.count({ where: { credentialId } })).toBe(0)
  })
})

describe('a join link of a person with a second factor', () => {
  const setUp = async () => {
    const email = `${deps.newId()}@example.com`
    const person = browse(service)
    await person.post(await joinPath(service, await service.make.organization(), email), { ...names, password: PASSWORD })
    idp.person = { sub: deps.newId() }
    const home = (await person.get('/portal')).headers.location!
    await goThrough(person, idp, `${home}account/link/microsoft`)
    const { secret } = await enrolApp(person, clock.now)
    clock.advance(MINUTE_MS)
    const organization = await service.make.organization()
    const path = await copiedJoinPath(service, organization, email)
    const isMember = async () =>
      (await db.member.count({ where: { organizationId: organization.id, email, credentialId: { not: null } } })) > 0
    return { secret, organization, path, isMember, home: homeOf(organization) }
  }

  it.each(['password', 'Microsoft'])('makes them a member once they have shown it after the %s, and not before', async (by) => {
    const { secret, path, isMember, home } = await setUp()
    const browser = browse(service)
    const asked =
      by === 'password'
        ? await browser.post(path, { ...names, password: PASSWORD })
        : await goThrough(browser, idp, `${path}/with/microsoft`)
    expect([asked.headers.location, await isMember()]).toEqual([expect.stringMatching(/^\/portal\/second-step/), false])
    await browser.post('/portal/second-step', { code: '000000x', next: home })
    expect([await isMember(), (await browse(service).get(path)).status]).toEqual([false, 200])
    const right = await browser.post('/portal/second-step', { code: codeAt(secret, clock.now()), next: home })
    expect([right.headers.location, await isMember(), await hasAccess(browser, home)]).toEqual([home, true, true])
    expect((await browse(service).get(path)).status).toBe(404)
  })

  it('makes nobody a member if it was used meanwhile', async () => {
    const { secret, path, isMember, organization, home } = await setUp()
    const browser = browse(service)
    await browser.post(path, { ...names, password: PASSWORD })
    await db.accountLink.updateMany({ where: { organizationId: organization.id }, data: { usedAt: clock.now() } })
    const late = await browser.post('/portal/second-step', { code: codeAt(secret, clock.now()), next: home })
    expect([late.headers.location, await isMember()]).toEqual(['/portal/sign-in?done=late', false])
  })
})
