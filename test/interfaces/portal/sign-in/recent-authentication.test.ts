import { describe, expect, it } from 'vitest'
import { DAY_MS, unknownId } from '../../../support/factories.ts'
import { codeAt, enrolApp, giveApp } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { joinAs, PASSWORD, signInAs, visit } from '../../../support/portal.ts'
import { listByFreshness } from '../../../support/portal-routes.ts'
import { startServiceForFile } from '../../../support/service.ts'

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS

const service = await startServiceForFile()
const now = service.clock.now
const routes = await listByFreshness()

/** Actions that need recent authentication. A new form below one of these addresses needs it, too, or is listed as an exception. */
const SENSITIVE: [what: string, addresses: RegExp, not: readonly string[]][] = [
  ['factors', /^POST \/factors/, ['POST /factors/:factorId']],
  ['the password', /^POST \/:organizationId\/account\/password$/, []],
  [
    'members and their roles',
    /^POST \/:organizationId\/members/,
    ['end-all', ':sessionId/end'].map((action) => `POST /:organizationId/members/:memberId/sessions/${action}`),
  ],
  ['security', /^POST \/:organizationId\/settings\/(security|sign-in)/, []],
  [
    'API keys',
    /^POST \/:organizationId\/settings\/integrations/,
    ['POST /:organizationId/settings/integrations/:keyId/limit', 'POST /:organizationId/settings/integrations/:keyId/revoke'],
  ],
  [
    'webhooks and their secrets',
    /^POST \/:organizationId\/settings\/webhooks/,
    [
      ...['enable', 'disable', 'replay', 'test', 'delete', 'deliveries/:deliveryId/replay'].map(
        (action) => `POST /:organizationId/settings/webhooks/:webhookId/${action}`,
      ),
    ],
  ],
  [
    'keys of recruiting systems',
    /^POST \/:organizationId\/settings\/ats/,
    ['keys/:atsKeyId/revoke', 'connections/:connectionId/test', 'orders/:orderId/report'].map(
      (action) => `POST /:organizationId/settings/ats/${action}`,
    ),
  ],
  ['personal archives', /^POST \/:organizationId\/(archives|account|members|candidates).*\/(archive|file)$/, []],
  ['who is erased', /^POST \/:organizationId\/(candidates|settings\/erase-organization)/, []],
  ['exports', /^POST \/:organizationId\/(?!questions).*\/export$/, []],
]

it.each(SENSITIVE)(
  'requires recent authentication before anything is changed or exported by the forms of %s',
  (_what, addresses, not) => {
    const forms = [...routes.fresh, ...routes.others].filter((name) => addresses.test(name))
    expect(forms.length).toBeGreaterThan(0)
    expect(routes.others.filter((name) => addresses.test(name))).toEqual([...not].sort())
  },
)

it('ends recent authentication after a quarter of an hour, in every organization', async () => {
  const organization = await service.make.organization()
  const person = await joinAs(service, organization)
  service.clock.advance(QUARTER_MS)
  for (const name of routes.fresh) {
    const [verb, path] = name.split(' ') as ['GET' | 'POST', string]
    const address = `/portal${path.replace(':organizationId', organization.id).replace(/:\w+/g, unknownId)}`
    for (const from of [address, `${address}?next=/portal&fresh=true`, address.replace('/portal/', '/portal/test/')]) {
      if (from !== address && from.startsWith('/portal/test/factors')) continue
      const answer = verb === 'GET' ? await person.get(from) : await person.post(from, { fresh: 'true' })
      expect([name, answer.status]).toEqual([name, 303])
      expect(answer.headers.location).toMatch(/^\/portal\/prove(\?next=|$)/)
    }
  }
  // Using the session does not extend the recent authentication, and nothing was changed.
  const { credentialId } = await service.db.member.findFirstOrThrow({ where: { organizationId: organization.id } })
  expect(await service.db.secondFactor.count({ where: { credentialId: credentialId! } })).toBe(0)
  expect(
    await service.db.auditEntry.count({ where: { organizationId: organization.id, action: { startsWith: 'exported' } } }),
  ).toBe(0)
})

describe('the form for the password', () => {
  it('grants another quarter of an hour, with a new cookie', async () => {
    const { home, email, ...person } = await joinAs(service, await service.make.organization())
    service.clock.advance(QUARTER_MS)
    const asked = await person.get('/portal/factors/app?next=/portal')
    expect(asked.headers.location).toBe('/portal/prove?next=%2Fportal%2Ffactors%2Fapp%3Fnext%3D%2Fportal')
    const page = await person.get(asked.headers.location!)
    expect([page.status, page.text.includes(email)]).toEqual([200, true])
    const wrong = await person.post('/portal/prove', { current: 'not the password', next: '/portal/factors/app' })
    expect([wrong.status, mistakesIn(wrong)]).toEqual([422, ['The current password is not right.']])
    const before = person.cookie()
    const right = await person.post('/portal/prove', { current: PASSWORD, next: '/portal/factors/app' })
    expect([right.status, right.headers.location]).toEqual([303, '/portal/factors/app'])
    expect((await visit(service, before).get(home)).headers.location).toMatch(/^\/portal\/sign-in/)
    service.clock.advance(QUARTER_MS - 1)
    expect((await person.get('/portal/factors/app')).status).toBe(200)
    service.clock.advance(1)
    expect((await person.get('/portal/factors/app')).status).toBe(303)
  })

  it('is limited like signing in', async () => {
    const { email, ...person } = await joinAs(service, await service.make.organization())
    let checkedCount = 0
    for (let i = 0; i < 20; i++) {
      const answer = await person.post('/portal/prove', { current: `wrong ${i}`, next: '/portal' })
      if (answer.text.includes('The current password is not right.')) checkedCount++
    }
    // The limits of known and of unknown browsers add up.
    expect(checkedCount).toBe(15)
    expect(mistakesIn(await person.post('/portal/prove', { current: PASSWORD, next: '/portal' }))).toEqual([
      'There were too many attempts. Please try again in 15 minutes.',
    ])
  })

  it('redirects only within the portal, and requires a session', async () => {
    const person = await joinAs(service, await service.make.organization())
    const answer = await person.post('/portal/prove', { current: PASSWORD, next: 'https://evil.example/' })
    expect(answer.headers.location).toBe('/portal')
    expect((await visit(service).get('/portal/prove?next=/portal/x/y')).headers.location).toMatch(/^\/portal\/sign-in\?next=/)
    expect((await visit(service).post('/portal/prove', { current: PASSWORD })).headers.location).toBe('/portal/sign-in')
  })
})

describe('a person with a second factor', () => {
  it('must use it: neither the password nor a remembered browser suffices', async () => {
    const { home, email, ...person } = await joinAs(service, await service.make.organization())
    const { secret } = await enrolApp(person, now)
    service.clock.advance(QUARTER_MS)
    const asked = await person.post(`${home}members/export`)
    expect(asked.headers.location).toMatch(/^\/portal\/second-step\?next=%2Fportal%2Fresume%2F/)
    // Neither the password page nor its form suffices.
    expect((await person.get('/portal/prove')).headers.location).toMatch(/^\/portal\/second-step/)
    await person.post('/portal/prove', { current: PASSWORD, next: '/portal' })
    expect((await person.post(`${home}members/export`)).headers.location).toMatch(/^\/portal\/second-step/)
    const { credentialId } = await service.db.member.findFirstOrThrow({ where: { email } })
    const { id: sessionId } = await service.db.session.findFirstOrThrow({ where: { credentialId: credentialId! } })
    await service.db.sessionAuthentication.create({ data: { id: service.deps.newId(), sessionId, kind: 'device', at: now() } })
    expect((await person.post(`${home}members/export`)).headers.location).toMatch(/^\/portal\/second-step/)
    const right = await person.post('/portal/second-step', { code: codeAt(secret, now()), next: home })
    expect(right.headers.location).toBe(home)
    expect((await person.post(`${home}members/export`)).status).toBe(200)
  })

  it('can try five codes in a quarter of an hour', async () => {
    const { home, email, ...person } = await joinAs(service, await service.make.organization())
    const { credentialId } = await service.db.member.findFirstOrThrow({ where: { email } })
    const secret = await giveApp(service, credentialId!)
    for (let i = 0; i < 5; i++)
      expect(mistakesIn(await person.post('/portal/second-step', { code: '000000x', next: home }))).toEqual([
        'The code is not right.',
      ])
    const refused = await person.post('/portal/second-step', { code: codeAt(secret, now()), next: home })
    expect(mistakesIn(refused)).toEqual(['There were too many attempts. Please try again in 15 minutes.'])
  })
})

it('sends a script the address of the sign-in, and changes nothing', async () => {
  const { id } = await service.make.organization()
  const person = await signInAs(service, id, ['admin'])
  service.clock.advance(DAY_MS)
  const send = (path: string) =>
    service
      .http()
      .post(path)
      .set({ cookie: person.cookie()!, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })
      .type('form')
      .send('')
  const answer = await send(`${person.home}assessments`)
  expect([answer.status, answer.body]).toEqual([401, { signIn: '/portal/sign-in' }])
  const other = await signInAs(service, id, ['admin'])
  service.clock.advance(QUARTER_MS)
  const stale = await service
    .http()
    .post(`${other.home}members/export`)
    .set({ cookie: other.cookie()!, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })
    .type('form')
    .send('')
  expect([stale.status, stale.body]).toEqual([401, { signIn: '/portal/prove' }])
})
