import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { NO_PASSWORD } from '../../../../src/domain/sign-in/passwords.ts'
import { codeAt, giveApp } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { CLIENT } from '../../../support/idp.ts'
import { joinAs, joinPath, PASSWORD, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { browse, goThrough, IDP_ON_LOOPBACK, providerFields, setUpSso, wayBack } from '../../../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { db } = service

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const auditOf = (organizationId: string, action: string) =>
  db.auditEntry.findMany({ where: { organizationId, action }, orderBy: { id: 'asc' } })
const homeOf = ({ id }: { id: string }) => `/portal/${id}/`

describe('a new colleague', () => {
  it('joins by the address of a verified domain, with the default roles', async () => {
    const { organization, idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes', defaultRoles: ['grader'] })
    idp.person = person('grace')
    const browser = browse(service)
    const { status, headers } = await goThrough(browser, idp, begin)
    expect([status, headers.location]).toEqual([303, homeOf(organization)])
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    const email = idp.person.email!
    const member = await db.member.findFirstOrThrow({
      where: { organizationId: organization.id, email },
      include: { user: true, credential: true },
    })
    expect([member.roles, member.user.firstName, member.user.lastName, member.credential!.passwordHash]).toEqual([
      ['grader'],
      'Grace',
      'Hopper',
      NO_PASSWORD,
    ])
    expect((await auditOf(organization.id, 'signed_in')).at(-1)?.details).toEqual({ proofs: ['oidc'], provider: 'Acme Login' })
    // The second sign-in finds the member by the provider's subject, even after a change of the address.
    idp.person = { ...idp.person, email: 'married@elsewhere.example' }
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    expect(await db.member.count({ where: { organizationId: organization.id } })).toBe(2)
  })

  it('is rejected if the provider creates no members', async () => {
    const { organization, idp, begin, person } = await setUpSso(service)
    idp.person = person('grace')
    const { status, text } = await goThrough(browse(service), idp, begin)
    expect([status, titleOf(text)]).toEqual([403, 'You are not a member yet'])
    expect(await db.member.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('is offered the provider by their address, without revealing if an account exists', async () => {
    const { admin, idp, domain, begin, page, person } = await setUpSso(service)
    idp.person = person('ada')
    const continueWith = async (email: string) => (await browse(service).post('/portal/sign-in/sso', { email, next: '' })).text
    expect(titleOf(await continueWith(`anybody@${domain}`))).toBe('No single sign-on for this address')
    expect(titleOf((await goThrough(admin, idp, `${page}/try`)).text)).toBe('It works')
    const [known, unknown] = [await continueWith(`ada@${domain}`), await continueWith(`nobody@${domain}`)]
    expect(known).toContain(`href="${begin}?next=%2Fportal"`)
    expect(known).toContain(`Continue to Acme Login (${new URL(idp.issuer).host})`)
    expect(known.replaceAll(`ada@${domain}`, '')).toBe(unknown.replaceAll(`nobody@${domain}`, ''))
  })
})

describe('single sign-on', () => {
  it('rejects another subject, inactive member, unverified address, or foreign provider, recording each', async () => {
    const one = await setUpSso(service, { provisionsMembers: 'yes' })
    const other = await setUpSso(service, { provisionsMembers: 'yes' })
    const { organization, idp, begin, person } = one
    idp.person = person('grace')
    await goThrough(browse(service), idp, begin)
    const gone = person('gone')
    idp.person = gone
    await goThrough(browse(service), idp, begin)
    await db.member.updateMany({ where: { email: gone.email! }, data: { status: 'inactive' } })
    const rows = async () => [
      await db.member.findMany({
        where: { organizationId: { in: [organization.id, other.organization.id] } },
        orderBy: { id: 'asc' },
      }),
      await db.identity.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } }),
      await db.credential.count(),
      await db.session.count(),
    ]
    const before = await rows()
    const tries = [
      [one, person('grace')],
      [one, gone],
      [one, person('alan', { email_verified: false })],
      [other, person('grace')],
    ] as const
    const titles: (string | undefined)[] = []
    for (const [{ idp, begin }, who] of tries) {
      idp.person = who
      const { status, text } = await goThrough(browse(service), idp, begin)
      titles.push(`${status} ${titleOf(text)}`)
    }
    expect(titles).toEqual([
      '403 This address belongs to another account',
      '403 Your membership has ended',
      '403 You are not a member yet',
      '403 You are not a member yet',
    ])
    expect(await rows()).toEqual(before)
    const problems = async ({ id }: { id: string }) =>
      (await auditOf(id, 'refused_sign_in')).map(({ details }) => (details as { problem: string }).problem)
    expect(await problems(organization)).toEqual(['otherIdentity', 'inactive', 'notInvited'])
    expect(await problems(other.organization)).toEqual(['notInvited'])
  })

  it('accepts a new account after an admin has removed the old one', async () => {
    const { organization, admin, idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('grace')
    await goThrough(browse(service), idp, begin)
    const { id: adminId } = await db.member.findFirstOrThrow({ where: { email: admin.email } })
    const { id, memberId } = await db.identity.findFirstOrThrow({ where: { organizationId: organization.id } })
    const page = `${admin.home}members/${memberId}`
    expect((await admin.get(page)).text).toContain(`identities/${id}/remove`)
    // Only owners can remove an owner's identity.
    const other = await signInAs(service, organization.id, ['admin'])
    await db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
    await db.member.updateMany({ where: { id: { in: [memberId!, adminId] } }, data: { portalRoles: ['owner'] } })
    expect((await other.post(`${page}/identities/${id}/remove`)).status).toBe(400)
    expect((await admin.post(`${page}/identities/${id}/remove`)).status).toBe(303)
    idp.person = person('grace')
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    expect(
      await db.identity.findMany({ where: { organizationId: organization.id }, select: { subject: true, memberId: true } }),
    ).toEqual([{ subject: idp.person.sub, memberId }])
  })

  it('rejects flows of another browser, and used ones', async () => {
    const { idp, begin, person, organization } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('grace')
    const browser = browse(service)
    const back = await wayBack(browser, idp, begin)
    expect(titleOf((await browse(service).get(back)).text)).toBe('Please start again')
    const kept = new Map(browser.cookies)
    expect((await browser.get(back)).status).toBe(303)
    for (const [name, value] of kept) browser.cookies.set(name, value)
    const asked = idp.asked.length
    expect(titleOf((await browser.get(back)).text)).toBe('Please start again')
    expect(idp.asked.length).toBe(asked)
    expect(await db.identity.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('accepts one of 20 concurrent uses of a code', async () => {
    const { idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('grace')
    const browser = browse(service)
    const back = await wayBack(browser, idp, begin)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.http().get(back).set('cookie', cookie)))
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  it('rejects tokens of other issuers, clients, and times, and shows owners the reason', async () => {
    const { admin, idp, begin, person, page, organization } = await setUpSso(service, { provisionsMembers: 'yes' })
    const stranger = await idp.makeKey('first')
    const seconds = () => Math.floor(service.clock.now().getTime() / 1000)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const unsigned = (header: object, claims: object) => `${encode(header)}.${encode(claims)}`
    const tampers: Record<string, [title: string, code: string, tamper: typeof idp.tamper]> = {
      'signed by a stranger': [
        'The sign-in can’t be trusted',
        'badToken',
        (_token, claims) => idp.sign(claims, { key: stranger }),
      ],
      'signed with our secret': [
        'The sign-in can’t be trusted',
        'badToken',
        async (_token, claims) => {
          const text = unsigned({ alg: 'HS256', typ: 'JWT' }, claims)
          return `${text}.${createHmac('sha256', CLIENT.clientSecret).update(text).digest('base64url')}`
        },
      ],
      'not signed': [
        'The sign-in can’t be trusted',
        'badToken',
        async (_token, claims) => `${unsigned({ alg: 'none' }, claims)}.`,
      ],
      'for another client': [
        'The sign-in can’t be trusted',
        'badToken',
        (_token, claims) => idp.sign({ ...claims, aud: 'somebody' }),
      ],
      'for others as well': [
        'The sign-in can’t be trusted',
        'badToken',
        (_token, claims) => idp.sign({ ...claims, aud: [CLIENT.clientId, 'x'], azp: 'x' }),
      ],
      'of another issuer': [
        'The sign-in can’t be trusted',
        'badToken',
        (_token, claims) => idp.sign({ ...claims, iss: 'https://evil.example' }),
      ],
      'with another nonce': [
        'The sign-in can’t be trusted',
        'badToken',
        (_token, claims) => idp.sign({ ...claims, nonce: 'another' }),
      ],
      'not yet, our clock being five minutes behind': [
        'The clocks differ',
        'clock',
        (_token, claims) => idp.sign({ ...claims, nbf: seconds() + 300, iat: seconds() }),
      ],
      'made in five minutes': ['The clocks differ', 'clock', (_token, claims) => idp.sign({ ...claims, iat: seconds() + 300 })],
      'made five minutes ago, our clock being ahead': [
        'The clocks differ',
        'clock',
        (_token, claims) => idp.sign({ ...claims, iat: seconds() - 300 }),
      ],
      expired: ['The clocks differ', 'clock', (_token, claims) => idp.sign({ ...claims, exp: seconds() - 300 })],
    }
    for (const [what, [title, code, tamper]] of Object.entries(tampers)) {
      idp.person = person('grace')
      idp.tamper = tamper
      const { status, text } = await goThrough(browse(service), idp, begin)
      expect([what, status, titleOf(text)]).toEqual([what, 403, title])
      expect((await admin.get(page)).text, what).toContain(`${code}: `)
    }
    expect(await db.identity.count({ where: { organizationId: organization.id } })).toBe(0)
  })

  it('rejects accounts without the required claims', async () => {
    const { idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes', requiredClaims: 'hd=acme.example' })
    idp.person = person('grace')
    expect(titleOf((await goThrough(browse(service), idp, begin)).text)).toBe('This account is not let in')
    idp.claims = { hd: 'acme.example' }
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
  })

  it("trusts a public provider's addresses only with a claim of the organization", async () => {
    const { admin, idp, page, providerId, begin, domain } = await setUpSso(service, { provisionsMembers: 'yes' })
    const save = (issuer: string, requiredClaims = '') =>
      admin.post(page, providerFields({ issuer }, { clientSecret: '', provisionsMembers: 'yes', requiredClaims }))
    const tenant = '72f988bf-86f1-41af-91ab-2d7cd011db47'
    const microsoft = 'https://login.microsoftonline.com'
    for (const [issuer, claims, status] of [
      [`${microsoft}/common/v2.0`, '', 422],
      [`${microsoft}/organizations/v2.0`, `hd=${domain}`, 422],
      [`${microsoft}/acme.onmicrosoft.com/v2.0`, '', 422],
      [`${microsoft}/common/v2.0`, `tid=${tenant}`, 303],
      [`${microsoft}/${tenant}/v2.0`, '', 303],
      ['https://accounts.google.com', `tid=${tenant}`, 422],
      ['https://accounts.google.com', `hd=${domain}`, 303],
    ] as const) {
      const answer = await save(issuer, claims)
      expect([issuer, claims, answer.status]).toEqual([issuer, claims, status])
      if (status === 422) expect(mistakesIn(answer).join()).toContain('Anybody can have an account at this issuer')
    }
    // A provider from before that rule: a stranger's tenant claims an address of the organization.
    const data = { issuer: `${microsoft}/common/v2.0`, requiredClaims: {} }
    await db.signInProvider.update({ where: { id: providerId }, data })
    const claims = { email: admin.email, tid: 'of a stranger' }
    const token = {
      ...{ issuer: `${microsoft}/of-a-stranger/v2.0`, subject: 'mallory', email: admin.email, emailVerified: null },
      ...{ givenName: '', familyName: '', sid: null, amr: [], acr: null, authTime: null, claims },
    }
    const { identityProviders } = service.deps
    const authorizationUrl: typeof identityProviders.authorizationUrl = async (_client, { state }) => ({
      url: `${idp.issuer}/${state}`,
    })
    service.deps.identityProviders = { ...identityProviders, authorizationUrl, redeem: async () => ({ token }) }
    try {
      const browser = browse(service)
      const state = (await browser.get(begin)).headers.location!.split('/').at(-1)
      const { status, text } = await browser.get(`${begin}/callback?code=any&state=${state}`)
      expect([status, titleOf(text)]).toEqual([403, 'This account is not let in'])
    } finally {
      service.deps.identityProviders = identityProviders
    }
    expect(await db.identity.count({ where: { providerId } })).toBe(0)
    expect((await admin.get(page)).text).toContain('claimMissing: tid')
  })

  it("explains a provider's error, and shows that a provider is down", async () => {
    const { idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = { sub: '' }
    expect(titleOf((await goThrough(browse(service), idp, begin)).text)).toBe('Sign-in was canceled')
    idp.person = person('grace')
    const browser = browse(service)
    const back = await wayBack(browser, idp, begin)
    await idp.close()
    const { status, text } = await browser.get(back)
    expect([status, titleOf(text)]).toEqual([403, 'The sign-in service can’t be reached'])
  })
})

describe("a provider's key rotation", () => {
  it('breaks no sign-in right after the keys were fetched', async () => {
    const { idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes' })
    const statuses: number[] = []
    for (const name of ['a', 'b', 'c']) {
      idp.person = person(name)
      statuses.push((await goThrough(browse(service), idp, begin)).status)
      await idp.rotateKeys()
    }
    expect(statuses).toEqual([303, 303, 303])
  })
})

describe('a session of a provider', () => {
  it('opens only its own organization, and changes no account settings', async () => {
    const { organization, idp, begin, person, domain } = await setUpSso(service)
    const elsewhere = await service.make.organization()
    const email = `grace@${domain}`
    await joinAs(service, elsewhere, { email })
    await service.make.member(organization.id, { email, roles: ['grader'] })
    idp.person = person('grace')
    const browser = browse(service)
    expect((await goThrough(browser, idp, begin)).status).toBe(303)
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    expect((await browser.get(homeOf(elsewhere))).headers.location).toMatch(/^\/portal\/sign-in\?/)
    const before = await db.user.findMany({ where: { email } })
    const forms = [
      ['account/name', { firstName: 'Mallory', lastName: 'M' }],
      ['account/password', { current: PASSWORD, password: 'another long password of mine' }],
      ['account/sessions/end-others', {}],
    ] as const
    for (const [path, fields] of forms) expect((await browser.post(homeOf(organization) + path, fields)).status, path).toBe(403)
    expect((await browser.get('/portal/factors')).status).toBe(403)
    expect(await db.user.findMany({ where: { email } })).toEqual(before)
    // Members with a second factor need it here, too, as at sign-in.
    const { id } = await db.credential.findFirstOrThrow({ where: { email } })
    await giveApp(service, id)
    await browser.post('/portal/prove', { current: PASSWORD, next: '/portal' })
    expect((await browser.get(homeOf(elsewhere))).headers.location).toMatch(/^\/portal\/sign-in\?/)
    await db.secondFactor.deleteMany({ where: { credentialId: id } })
    // The password still opens both organizations, and is added to the same session.
    await browser.post('/portal/sign-in', { email, password: PASSWORD, next: '/portal' })
    expect((await browser.get(homeOf(elsewhere))).status).toBe(200)
  })

  it("requires the service's second factor unless the provider is trusted or states its level", async () => {
    const cases = [
      [{}, {}, 303],
      [{ secondFactor: 'trusted' }, {}, 200],
      [{ secondFactor: 'acr', acrValues: 'mfa' }, {}, 303],
      [{ secondFactor: 'acr', acrValues: 'mfa' }, { acr: 'mfa' }, 200],
    ] as const
    for (const [settings, claims, status] of cases) {
      const { organization, idp, begin, person } = await setUpSso(service, { provisionsMembers: 'yes', ...settings })
      await db.organizationSecurity.create({
        data: { organizationId: organization.id, secondFactorFrom: new Date(0), updatedAt: service.clock.now() },
      })
      idp.person = person('grace')
      idp.claims = claims
      const browser = browse(service)
      expect((await goThrough(browser, idp, begin)).status).toBe(303)
      const answer = await browser.get(homeOf(organization))
      expect([settings, claims, answer.status]).toEqual([settings, claims, status])
      if (status === 200) continue
      expect(answer.headers.location).toMatch(/^\/portal\/factors\?/)
      const { credentialId } = await db.identity.findFirstOrThrow({ where: { organizationId: organization.id } })
      const secret = await giveApp(service, credentialId)
      expect((await browser.get(homeOf(organization))).headers.location).toMatch(/^\/portal\/second-step\?/)
      await browser.post('/portal/second-step', { code: codeAt(secret, service.clock.now()), next: '/portal' })
      expect((await browser.get(homeOf(organization))).status).toBe(200)
    }
  })

  it('ends with the provider, and then counts as no password', async () => {
    const { organization, admin, idp, begin, page, person } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('grace')
    const browser = browse(service)
    await goThrough(browser, idp, begin)
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    await admin.post(`${page}/remove`)
    expect((await browser.get(homeOf(organization))).headers.location).toMatch(/^\/portal\/sign-in/)
  })
})

describe('an account at the provider', () => {
  it('joins by a link as its member, without a password', async () => {
    const { organization, admin, idp, page, person } = await setUpSso(service)
    idp.person = person('ada')
    await goThrough(admin, idp, `${page}/try`)
    const path = await joinPath(service, organization, 'contractor@elsewhere.example', ['grader'])
    const browser = browse(service)
    const way = /href="(\/portal\/join\/[^"]+\/with\/[^"]+)"/.exec((await browser.get(path)).text)![1]!
    idp.person = { sub: 'contractor-1', email: 'c@other.example', given_name: 'Con', family_name: 'Tractor' }
    const joined = await goThrough(browser, idp, way)
    expect([joined.status, joined.headers.location]).toEqual([303, homeOf(organization)])
    expect((await browser.get(homeOf(organization))).status).toBe(200)
    expect((await browse(service).get(path)).status).toBe(404)
  })

  it('creates no second account for somebody who has one', async () => {
    const { organization, admin, idp, page, person } = await setUpSso(service)
    idp.person = person('ada')
    await goThrough(admin, idp, `${page}/try`)
    const email = `victim-${service.deps.newId()}@example.com`
    await joinAs(service, await service.make.organization(), { email })
    const path = await joinPath(service, organization, email, ['grader'])
    const browser = browse(service)
    const way = /href="(\/portal\/join\/[^"]+\/with\/[^"]+)"/.exec((await browser.get(path)).text)![1]!
    idp.person = { sub: 'mallory', email }
    const { status, text } = await goThrough(browser, idp, way)
    expect([status, titleOf(text)]).toEqual([403, 'You have an account already'])
  })

  it('is linked under My account, signs in, and is unlinked', async () => {
    const { organization, admin, idp, begin, page, providerId, person } = await setUpSso(service)
    idp.person = person('ada')
    await goThrough(admin, idp, `${page}/try`)
    idp.person = { sub: 'another account of Ada', email: 'ada@home.example' }
    const browser = browse(service)
    await browser.post('/portal/sign-in', { email: admin.email, password: PASSWORD, next: '' })
    const account = `${homeOf(organization)}account`
    expect((await browser.get(account)).text).toContain(`account/link/${providerId}`)
    const linked = await goThrough(browser, idp, `${account}/link/${providerId}`)
    expect(linked.headers.location).toBe(`${account}?done=linked`)
    const other = browse(service)
    expect((await goThrough(other, idp, begin)).status).toBe(303)
    expect((await other.get(homeOf(organization))).status).toBe(200)
    const [, unlink] = /action="([^"]*\/identities\/[^"]*\/remove)"/.exec((await browser.get(account)).text)!
    await browser.post(unlink!)
    expect(titleOf((await goThrough(browse(service), idp, begin)).text)).toBe('You are not a member yet')
  })
})
