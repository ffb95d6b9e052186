import { describe, expect, it } from 'vitest'
import { CLIENT, type Person } from '../../../support/idp.ts'
import { joinAs, PASSWORD } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import {
  type Browser,
  browse,
  goThrough,
  IDP_ON_LOOPBACK,
  makeOnlyWayIn,
  providerFields,
  setUpSso,
} from '../../../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { db, clock } = service
const MINUTE_MS = 60_000

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const linkIn = (text: string, part: string) =>
  text
    .match(/href="[^"]*"/g)
    ?.map((link) => link.slice('href="'.length, -1).replaceAll('&amp;', '&'))
    .find((link) => link.includes(part))
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }

async function setUp() {
  const sso = await setUpSso(service, { provisionsMembers: 'yes' })
  const { idp, begin, organization } = sso
  const seconds = () => Math.floor(clock.now().getTime() / 1000)
  const claims = (more: Record<string, unknown> = {}) => ({
    iss: idp.issuer,
    aud: CLIENT.clientId,
    iat: seconds(),
    exp: seconds() + 120,
    jti: service.deps.newId(),
    events: EVENTS,
    ...more,
  })
  const send = async (token: string) =>
    (await service.http().post(`${begin}/logout`).type('form').send({ logout_token: token })).status
  const signIn = async (person: Person, sid: string, browser: Browser = browse(service)) => {
    idp.person = person
    idp.claims = { sid }
    expect((await goThrough(browser, idp, begin)).status).toBe(303)
    return browser
  }
  const isIn = async (browser: Browser) => (await browser.get(`/portal/${organization.id}/`)).status === 200
  return { ...sso, seconds, claims, send, signIn, isIn }
}

describe('back-channel logout', () => {
  it('ends only the named session, or all of the person without a name', async () => {
    const { idp, claims, send, signIn, isIn, organization, person } = await setUp()
    const [grace, alan] = [person('grace'), person('alan')]
    const [first, second, third] = [await signIn(grace, '1'), await signIn(grace, '2'), await signIn(grace, '3')]
    const other = await signIn(alan, '4')
    expect(await send(await idp.sign(claims({ sid: '1', sub: grace.sub }), { typ: 'logout+jwt' }))).toBe(200)
    expect([await isIn(first), await isIn(second), await isIn(third), await isIn(other)]).toEqual([false, true, true, true])
    const entries = await db.auditEntry.findMany({
      where: { organizationId: organization.id, action: 'ended_member_sessions' },
    })
    expect(entries.map(({ details }) => details)).toEqual([{ provider: 'Acme Login' }])
    expect(await send(await idp.sign(claims({ sub: grace.sub })))).toBe(200)
    expect([await isIn(second), await isIn(third), await isIn(other)]).toEqual([false, false, true])
    // A session id of another person ends nothing.
    expect(await send(await idp.sign(claims({ sub: grace.sub, sid: '4' })))).toBe(200)
    expect(await isIn(other)).toBe(true)
  })

  it("ends only the organization's access in a session that opens others, too", async () => {
    const { idp, claims, send, signIn, isIn, domain, person } = await setUp()
    const elsewhere = await joinAs(service, await service.make.organization(), { email: `grace@${domain}` })
    const grace = await signIn(person('grace'), '1')
    await grace.post('/portal/sign-in', { email: elsewhere.email, password: PASSWORD, next: '/portal' })
    const again = await signIn({ ...idp.person }, '2', grace)
    expect([await isIn(again), (await again.get(elsewhere.home)).status]).toEqual([true, 200])
    expect(await send(await idp.sign(claims({ sid: '2' })))).toBe(200)
    expect([await isIn(again), (await again.get(elsewhere.home)).status]).toEqual([false, 200])
    expect(await isIn(await signIn({ ...idp.person }, '3', again))).toBe(true)
  })

  it('accepts each valid token once, and only its own kind, for this client, and recent', async () => {
    const { idp, claims, send, signIn, isIn, person, seconds } = await setUp()
    const other = await setUp()
    const grace = await signIn(person('grace'), '1')
    const stranger = await idp.makeKey('first')
    const good = claims({ sid: '1' })
    const { jti: _jti, ...nameless } = good
    const nobody = claims()
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const refused: Record<string, string> = {
      'no token': '',
      'no signature': `${encode({ alg: 'none', typ: 'logout+jwt' })}.${encode(good)}.`,
      'a stranger’s': await idp.sign(good, { key: stranger }),
      'another provider’s': await other.idp.sign(good),
      'of another issuer': await idp.sign({ ...good, iss: 'https://evil.example' }),
      'for another client': await idp.sign({ ...good, aud: 'another' }),
      'an ID token': await idp.sign({ ...good, nonce: 'n' }),
      'without the event': await idp.sign({ ...good, events: {} }),
      'of another type': await idp.sign(good, { typ: 'at+jwt' }),
      'of five minutes ago': await idp.sign({ ...good, iat: seconds() - 300 }),
      expired: await idp.sign({ ...good, exp: seconds() - 120 }),
      'without an id': await idp.sign(nameless),
      'of nobody': await idp.sign(nobody),
    }
    for (const [what, token] of Object.entries(refused)) expect([what, await send(token)]).toEqual([what, 400])
    expect(await isIn(grace)).toBe(true)
    const token = await idp.sign(good)
    expect(await send(token)).toBe(200)
    expect(await isIn(grace)).toBe(false)
    const again = await signIn({ ...idp.person }, '1')
    expect(await send(token)).toBe(200)
    expect(await isIn(again)).toBe(true)
  })
})

describe('signing out', () => {
  it("links to the provider's sign-out if owners enabled it", async () => {
    const { idp, page, admin, signIn, person } = await setUp()
    const before = await signIn(person('grace'), '1')
    expect((await before.post('/portal/sign-out')).headers.location).toBe('/portal/sign-in')
    await admin.post(page, providerFields(idp, { clientSecret: '', provisionsMembers: 'yes', logsOutAtProvider: 'yes' }))
    const after = await signIn(person('alan'), '2')
    const { headers } = await after.post('/portal/sign-out')
    const { text } = await after.get(headers.location!)
    expect(titleOf(text)).toBe('You are signed out')
    expect(linkIn(text, idp.issuer)).toBe(`${idp.issuer}/session/end?client_id=${CLIENT.clientId}`)
  })
})

describe('sign-in initiated by the provider', () => {
  it("starts the service's own flow, only for the issuer's provider", async () => {
    const { idp, begin, organization, person } = await setUp()
    idp.person = person('grace')
    const target = `/portal/${organization.id}/account`
    const query = (values: Record<string, string>) => new URLSearchParams(values).toString()
    const browser = browse(service)
    const good = query({ iss: idp.issuer, login_hint: 'grace@acme.example', target_link_uri: target })
    const { headers } = await browser.get(`${begin}/initiate?${good}`)
    expect(new URL(headers.location!).searchParams.get('login_hint')).toBe('grace@acme.example')
    expect((await goThrough(browser, idp, `${begin}/initiate?${good}`)).headers.location).toBe(target)
    const elsewhere = query({ iss: idp.issuer, target_link_uri: 'https://evil.example/portal' })
    expect((await goThrough(browse(service), idp, `${begin}/initiate?${elsewhere}`)).headers.location).toBe(
      `/portal/${organization.id}/`,
    )
    for (const iss of ['', 'https://evil.example'])
      expect(titleOf((await browse(service).get(`${begin}/initiate?${query({ iss })}`)).text)).toBe('Please start again')
  })
})

describe('recent authentication', () => {
  it("accepts a new sign-in at the person's provider", async () => {
    const { idp, page, begin, organization, person, admin, seconds, ...sso } = await setUp()
    await makeOnlyWayIn(service, { ...sso, idp, page, begin, organization, person, admin })
    const owner = await service.make.member(organization.id, { email: `owner@${sso.domain}`, roles: ['admin'] })
    const who = person('owner')
    const browser = browse(service)
    idp.person = who
    idp.claims = { auth_time: seconds() - 3600 }
    expect((await goThrough(browser, idp, begin)).status).toBe(303)
    const home = `/portal/${organization.id}/`
    const change = () => browser.post(`${home}settings/security`, { idleMinutes: '60', sessionHours: '24' })
    const asked = await change()
    expect(asked.headers.location).toMatch(/^\/portal\/prove\?/)
    const { text } = await browser.get(asked.headers.location!)
    const way = linkIn(text, '/prove/with/')!
    expect(text).not.toContain('type="password"')
    expect(new URL((await browser.get(way)).headers.location!).searchParams.get('max_age')).toBe('0')
    // A sign-in of another person, an old one, and one without its time are rejected.
    idp.claims = {}
    idp.person = person('mallory')
    const members = await db.member.count()
    expect(titleOf((await goThrough(browser, idp, way)).text)).toBe('That is somebody else')
    expect(await db.member.count()).toBe(members)
    idp.person = who
    idp.claims = { auth_time: seconds() - 600 }
    expect((await goThrough(browser, idp, way)).status).toBe(403)
    idp.claims = { auth_time: undefined }
    expect((await goThrough(browser, idp, way)).status).toBe(403)
    expect((await change()).headers.location).toMatch(/^\/portal\/prove\?/)
    idp.claims = {}
    const back = await goThrough(browser, idp, way)
    expect(back.headers.location).toMatch(/^\/portal\/resume\//)
    expect((await change()).headers.location).toMatch(/done=saved/)
    clock.advance(16 * MINUTE_MS)
    expect((await change()).headers.location).toMatch(/^\/portal\/prove\?/)
    expect(owner.id).toBeDefined()
  })
})
