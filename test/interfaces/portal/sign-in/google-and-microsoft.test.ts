import { describe, expect, it } from 'vitest'
import { resetMemberFactors } from '../../../../src/domain/members/reset-factors.ts'
import { NO_PASSWORD } from '../../../../src/domain/sign-in/passwords.ts'
import { codeAt, enrolApp } from '../../../support/factors.ts'
import type { Person } from '../../../support/idp.ts'
import { asOperator, joinPath, PASSWORD } from '../../../support/portal.ts'
import {
  type Browser,
  browse,
  goThrough,
  makeOnlyWayIn,
  setUpSso,
  startWithMicrosoft,
  WITH_MICROSOFT,
  wayBack,
} from '../../../support/sso.ts'

const { service, idp } = await startWithMicrosoft({ GOOGLE_CLIENT_ID: 'of-google', GOOGLE_CLIENT_SECRET: 'unused' })
const { db } = service
const MICROSOFT = '00000000-0000-4000-8000-000000000002'

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const homeOf = ({ id }: { id: string }) => `/portal/${id}/`
const newEmail = () => `${service.deps.newId()}@example.com`
const somebody = (claims: Partial<Person> = {}): Person => ({ sub: service.deps.newId(), given_name: 'Grace', ...claims })
const actionsOf = async ({ id }: { id: string }) =>
  (await db.auditEntry.findMany({ where: { organizationId: id }, orderBy: { id: 'asc' } })).map(({ action }) => action)
const kindsTo = async (email: string) =>
  (await db.memberEmail.findMany({ where: { member: { email } }, orderBy: { id: 'asc' } })).map(({ kind }) => kind)
/** Signs in with the provider. @returns the final address or the error message. */
const signIn = async (browser: Browser = browse(service)) => {
  const { status, headers, text } = await goThrough(browser, idp, WITH_MICROSOFT)
  return status === 303 ? headers.location : titleOf(text)
}

/** Joins an organization with a password. */
async function joinWithPassword(organization: { id: string; name: string }, email = newEmail()) {
  const browser = browse(service)
  const path = await joinPath(service, organization, email)
  const { status } = await browser.post(path, { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD })
  expect(status).toBe(303)
  return { ...browser, email, home: homeOf(organization) }
}

/** Joins with a password, and links the provider's person to the account. */
async function joinAndLink(organization: { id: string; name: string }, person = somebody()) {
  const member = await joinWithPassword(organization)
  idp.person = person
  const { headers } = await goThrough(member, idp, `${member.home}account/link/microsoft`)
  expect(headers.location).toBe(`${member.home}account?done=linked`)
  return { ...member, person }
}

const removeOf = async ({ get, home }: Pick<Browser, 'get'> & { home: string }) =>
  /action="([^"]*identities\/[^"]*)"/.exec((await get(`${home}account`)).text)?.[1] ?? ''

describe('Google and Microsoft, if enabled by the operator,', () => {
  it('are offered on the sign-in page, on the join page, and under My account', async () => {
    const organization = await service.make.organization()
    const page = (await browse(service).get('/portal/sign-in?next=/portal/x')).text
    for (const [address, name] of [
      ['google', 'Google'],
      ['microsoft', 'Microsoft'],
    ])
      expect(page).toContain(`href="/portal/sign-in/with/${address}?next=%2Fportal%2Fx">Continue with ${name}</a>`)
    expect(page).not.toContain('Sign in with your organization')
    const path = await joinPath(service, organization, newEmail())
    expect((await browse(service).get(path)).text).toContain(`${path}/with/google">Join with Google (accounts.google.com)`)
    const { get, home } = await joinWithPassword(organization)
    expect((await get(`${home}account`)).text).toContain(`${home}account/link/google"`)
  })

  it('sign in members who joined with them', async () => {
    const organization = await service.make.organization()
    const email = newEmail()
    const path = await joinPath(service, organization, email, ['grader'])
    idp.person = somebody({ email: 'other@elsewhere.example', family_name: 'Hopper' })
    const { headers } = await goThrough(browse(service), idp, `${path}/with/microsoft`)
    expect(headers.location).toBe(homeOf(organization))
    const { credential, user, roles } = await db.member.findFirstOrThrow({
      where: { email },
      include: { credential: true, user: true },
    })
    expect([credential!.passwordHash, roles, user.lastName]).toEqual([NO_PASSWORD, ['grader'], 'Hopper'])
    const browser = browse(service)
    expect(await signIn(browser)).toBe('/portal')
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    const identity = await db.identity.findFirstOrThrow({ where: { credentialId: credential!.id } })
    expect(identity).toMatchObject({ providerId: MICROSOFT, organizationId: null, memberId: null, subject: idp.person.sub })
    expect(await actionsOf(organization)).toEqual([
      'generated_key',
      'invited_member',
      'linked_identity',
      'joined',
      'signed_in',
      'signed_in',
    ])
  })

  it('sign in members who linked them under My account, and notify them by mail', async () => {
    const organization = await service.make.organization()
    const { email, person } = await joinAndLink(organization)
    expect(await kindsTo(email)).toContain('identity_linked')
    const browser = browse(service)
    idp.person = { ...person, email: 'married@elsewhere.example' }
    expect(await signIn(browser)).toBe('/portal')
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    // It verifies the account's owner, so their own settings are open.
    expect((await browser.post(`${homeOf(organization)}account/name`, { firstName: 'Ada', lastName: 'King' })).status).toBe(303)
  })

  it("reject unknown accounts, even with a member's address, without changing a row", async () => {
    const organization = await service.make.organization()
    const { email } = await joinAndLink(organization)
    const rows = async () => [
      await db.identity.findMany({ orderBy: { id: 'asc' } }),
      await db.member.findMany({ orderBy: { id: 'asc' } }),
      await db.credential.findMany({ orderBy: { id: 'asc' } }),
      await db.session.count(),
      await db.memberEmail.count(),
    ]
    const before = await rows()
    for (const person of [somebody(), somebody({ email, email_verified: true })]) {
      idp.person = person
      expect(await signIn()).toBe('You are not a member yet')
    }
    expect(await rows()).toEqual(before)
  })

  it('reject a deactivated member', async () => {
    const organization = await service.make.organization()
    const { email } = await joinAndLink(organization)
    await db.member.updateMany({ where: { email }, data: { status: 'inactive' } })
    expect(await signIn()).toBe('Your membership has ended')
    expect((await db.member.findFirstOrThrow({ where: { email } })).status).toBe('inactive')
  })

  it("reject another browser's state, and a used one", async () => {
    await joinAndLink(await service.make.organization())
    const browser = browse(service)
    const back = await wayBack(browser, idp, WITH_MICROSOFT)
    expect(titleOf((await browse(service).get(back)).text)).toBe('Please start again')
    const kept = new Map(browser.cookies)
    expect((await browser.get(back)).status).toBe(303)
    for (const [name, value] of kept) browser.cookies.set(name, value)
    expect(titleOf((await browser.get(back)).text)).toBe('Please start again')
  })

  it('link an account to only one person', async () => {
    const organization = await service.make.organization()
    const { person } = await joinAndLink(organization)
    const other = await joinWithPassword(organization)
    idp.person = person
    const { text } = await goThrough(other, idp, `${other.home}account/link/microsoft`)
    expect(titleOf(text)).toBe('This account is linked to somebody else')
    // It cannot be used to join as another person either.
    const path = await joinPath(service, await service.make.organization(), newEmail())
    expect(titleOf((await goThrough(browse(service), idp, `${path}/with/microsoft`)).text)).toBe(
      'This account is linked to somebody else',
    )
  })

  it('let linked people join another organization with the same address, and ask others for their password', async () => {
    const [one, other] = [await service.make.organization(), await service.make.organization()]
    const { email } = await joinAndLink(one)
    const path = await joinPath(service, other, email)
    const browser = browse(service)
    expect((await goThrough(browser, idp, `${path}/with/microsoft`)).headers.location).toBe(homeOf(other))
    for (const organization of [one, other]) expect((await browser.get(homeOf(organization))).status).toBe(200)
    const stranger = await joinWithPassword(one)
    idp.person = somebody()
    const third = await joinPath(service, other, stranger.email)
    expect(titleOf((await goThrough(browse(service), idp, `${third}/with/microsoft`)).text)).toBe('You have an account already')
  })

  it('are no second factor, which is still required', async () => {
    const organization = await service.make.organization()
    const member = await joinAndLink(organization)
    const plain = browse(service)
    await signIn(plain)
    const secondFactorFrom = service.clock.now()
    const rule = { organizationId: organization.id, secondFactorFrom, updatedAt: secondFactorFrom }
    await db.organizationSecurity.create({ data: rule })
    expect((await plain.get(member.home)).headers.location).toMatch(/^\/portal\/factors/)
    const { secret } = await enrolApp(member, service.clock.now)
    service.clock.advance(60_000)
    const browser = browse(service)
    expect(await signIn(browser)).toBe('/portal/second-step?next=%2Fportal')
    expect((await browser.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
    const code = codeAt(secret, service.clock.now())
    expect((await browser.post('/portal/second-step', { code, next: member.home })).headers.location).toBe(member.home)
    expect((await browser.get(member.home)).status).toBe(200)
    const { proofs } = await db.session.findFirstOrThrow({ orderBy: { createdAt: 'desc' }, include: { proofs: true } })
    expect(proofs.map(({ kind, providerId }) => [kind, providerId]).toSorted()).toEqual([
      ['oidc', MICROSOFT],
      ['totp', null],
    ])
  })

  it("don't open or join an organization that requires its own provider", async () => {
    const sso = await setUpSso(service, { provisionsMembers: 'yes' })
    const member = await joinAndLink(sso.organization)
    await makeOnlyWayIn(service, sso)
    idp.person = member.person
    const browser = browse(service)
    expect(await signIn(browser)).toBe('/portal')
    const { status, text } = await browser.get(member.home)
    expect([status, titleOf(text)]).toEqual([403, 'Sign in with your organization'])
    const path = await joinPath(service, sso.organization, `new@${sso.domain}`)
    const page = (await browse(service).get(path)).text
    expect(page).toContain('Join with Acme Login')
    expect(page).not.toMatch(/name="password"|with\/microsoft/)
    idp.person = somebody({ email: `new@${sso.domain}`, email_verified: true })
    expect(titleOf((await goThrough(browse(service), idp, `${path}/with/microsoft`)).text)).toBe('Join through your organization')
    const posted = await browse(service).post(path, { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD })
    expect([posted.status, posted.text]).toEqual([422, expect.stringContaining('This organization requires single sign-on')])
  })

  it("are removed with an admin's reset of a member's second factor", async () => {
    const organization = await service.make.organization()
    const member = await joinAndLink(organization)
    await enrolApp(member, service.clock.now)
    const { id } = await db.member.findFirstOrThrow({ where: { email: member.email } })
    await resetMemberFactors(asOperator(service, organization), id, 'phone lost')
    idp.person = member.person
    expect(await signIn()).toBe('You are not a member yet')
  })

  it("require the second factor in sessions that rest on an organization's provider", async () => {
    const sso = await setUpSso(service, { provisionsMembers: 'yes' })
    const elsewhere = await service.make.organization()
    const email = `grace@${sso.domain}`
    const member = await joinWithPassword(elsewhere, email)
    idp.person = somebody()
    await goThrough(member, idp, `${member.home}account/link/microsoft`)
    await enrolApp(member, service.clock.now)
    const browser = browse(service)
    sso.idp.person = sso.person('grace')
    expect((await goThrough(browser, sso.idp, sso.begin)).headers.location).toBe(homeOf(sso.organization))
    expect(await signIn(browser)).toBe('/portal/second-step?next=%2Fportal')
    expect((await browser.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
  })

  it("are linked only from the portal's own pages", async () => {
    const member = await joinWithPassword(await service.make.organization())
    const link = `${member.home}account/link/microsoft`
    const asked = await member.get(link).set('sec-fetch-site', 'cross-site')
    expect([asked.status, titleOf(asked.text)]).toEqual([200, 'Link an account?'])
    expect(asked.text).toContain(`href="${link}"`)
    expect((await member.get(link).set('sec-fetch-site', 'same-origin')).headers.location).toContain(idp.issuer)
  })

  it('are unlinked under My account, which ends their other sessions, unless nothing else is left', async () => {
    const organization = await service.make.organization()
    const member = await joinAndLink(organization)
    const elsewhere = browse(service)
    await signIn(elsewhere)
    const { headers } = await member.post(await removeOf(member))
    expect(headers.location).toBe(`${member.home}account?done=unlinked`)
    expect(await signIn()).toBe('You are not a member yet')
    expect((await elsewhere.get(member.home)).headers.location).toMatch(/^\/portal\/sign-in/)
    expect(await actionsOf(organization)).toContain('unlinked_identity')

    const email = newEmail()
    idp.person = somebody()
    const only = { ...browse(service), home: homeOf(organization) }
    await goThrough(only, idp, `${await joinPath(service, organization, email)}/with/microsoft`)
    const refused = await only.post(await removeOf(only))
    expect([refused.status, titleOf(refused.text)]).toEqual([422, 'Your only sign-in method'])
    expect(await signIn()).toBe('/portal')
  })

  it("confirm a person's presence if they report the time of authentication", async () => {
    const organization = await service.make.organization()
    await joinAndLink(organization)
    const browser = browse(service)
    await signIn(browser)
    service.clock.advance(16 * 60_000)
    const link = `${homeOf(organization)}account/link/google`
    expect((await browser.get(link)).headers.location).toMatch(/^\/portal\/prove/)
    const prove = `/portal/prove?${new URLSearchParams({ next: link })}`
    expect((await browser.get(prove)).text).toContain('Sign in at Microsoft again')
    const { headers } = await goThrough(browser, idp, `/portal/prove/with/microsoft?${new URLSearchParams({ next: link })}`)
    expect(headers.location).toBe(link)
  })
})

describe('a provider that the operator has removed', () => {
  it('lets nobody sign in, and its sessions end', async () => {
    const organization = await service.make.organization()
    const { home } = await joinAndLink(organization)
    const browser = browse(service)
    await signIn(browser)
    const { operatorProviders } = service.deps
    service.deps.operatorProviders = []
    try {
      expect((await browser.get(home)).headers.location).toMatch(/^\/portal\/sign-in/)
      expect((await browse(service).get(WITH_MICROSOFT)).status).toBe(404)
    } finally {
      service.deps.operatorProviders = operatorProviders
    }
    expect((await browser.get(home)).status).toBe(200)
  })
})
