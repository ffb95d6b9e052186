import { describe, expect, it } from 'vitest'
import { createResetLink } from '../../../src/domain/members/invite-member.ts'
import { recordFailedSignIn } from '../../../src/domain/sign-in/sign-in.ts'
import { joinPath, PASSWORD, type Visitor, visit } from '../../support/portal.ts'
import { scaled } from '../../support/scale.ts'
import { startServiceForFile } from '../../support/service.ts'

// No queue workers run, so the test itself records failed sign-ins.
const service = await startServiceForFile({ TRUST_PROXY: 'true', ROLE: 'api' })

const DAY_MS = 86_400_000
const HOME = '203.0.113.5'
const ELSEWHERE = '203.0.113.77'
const HOTEL = '203.0.113.88'

const signIn = (visitor: Visitor, from: string, email: string, password = PASSWORD) =>
  visitor.post('/portal/sign-in', { email, password }).set('x-forwarded-for', from)

/** Creates a person who has joined from {@link HOME} in their own browser. */
async function joinFromHome() {
  const organization = await service.make.organization()
  const email = `${service.deps.newId()}@example.com`
  const browser = visit(service)
  const path = await joinPath(service, organization, email)
  const names = { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD }
  expect((await browser.post(path, names).set('x-forwarded-for', HOME)).status).toBe(303)
  return { email, browser }
}

/** Creates a reset link for the address. @returns the path in its mail. */
async function mailedLink(email: string): Promise<string> {
  await createResetLink(service.system, email, { mails: false })
  const { id, kind } = await service.db.accountLink.findFirstOrThrow({
    where: { credential: { email } },
    orderBy: { id: 'desc' },
  })
  return new URL(service.deps.links.accountUrl({ id, kind, provesAddress: true })).pathname
}

/** Tries wrong passwords as a stranger. @returns the number of passwords that were checked. */
async function guess(email: string, { count, networks }: { count: number; networks: number }): Promise<number> {
  let looked = 0
  for (let i = 0; i < count; i++) {
    const n = i % networks
    const { text } = await signIn(visit(service), `198.51.${n >> 8}.${n & 255}`, email, `wrong password ${i}`)
    if (text.includes('is not right')) looked++
  }
  return looked
}

describe('a stranger who tries many wrong passwords from many networks', () => {
  it("gets 30 passwords checked a day, and locks out neither the person's own browsers and networks nor mailed links", async () => {
    const { email, browser } = await joinFromHome()
    expect(await guess(email, { count: scaled(100, 1_000), networks: scaled(60, 300) })).toBe(30)
    expect((await signIn(visit(service), HOME, email)).status).toBe(303)
    expect((await signIn(browser, ELSEWHERE, email)).status).toBe(303)
    const unknown = visit(service)
    const refused = await signIn(unknown, HOTEL, email)
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('emails you a link')])
    const path = await mailedLink(email)
    expect((await unknown.get(path)).text).toContain('let this browser in')
    expect((await unknown.post(`${path}/browser`)).headers.location).toBe('/portal/sign-in?done=browser')
    expect((await signIn(unknown, HOTEL, email)).status).toBe(303)
    expect((await visit(service).post(`${path}/browser`)).status).toBe(404)
  })

  it('gets the same responses for a known and an unknown address', async () => {
    const { email } = await joinFromHome()
    const answersTo = async (address: string) => {
      const said: unknown[] = []
      for (let i = 0; i < 34; i++) {
        const { status, text } = await signIn(visit(service), `198.18.0.${i}`, address, 'wrong password')
        said.push([status, text.replaceAll(address, '').replaceAll(/challenge&quot;:&quot;[\w-]+/g, '')]) // the challenge is random
      }
      return said
    }
    expect(await answersTo(email)).toEqual(await answersTo(`${service.deps.newId()}@example.com`))
  })
})

describe('a known browser', () => {
  it('has its own limit, and counts as unknown for a quarter of an hour after exceeding it', async () => {
    const { email, browser } = await joinFromHome()
    for (let i = 0; i < 15; i++) await signIn(browser, ELSEWHERE, email, 'wrong password')
    expect((await signIn(browser, ELSEWHERE, email)).text).toContain('too many attempts')
    service.clock.advance(DAY_MS / 96)
    expect((await signIn(browser, ELSEWHERE, email)).status).toBe(303)
  })

  it('gets a new token each time, which invalidates the previous one', async () => {
    const { email, browser } = await joinFromHome()
    const deviceOf = async () => {
      const { headers } = await signIn(browser, HOME, email)
      return [headers['set-cookie'] ?? []]
        .flat()
        .find((line) => line.startsWith('device='))!
        .split(';')[0]!
    }
    const [stolen, now] = [await deviceOf(), await deviceOf()]
    expect(stolen).not.toBe(now)
    expect(await service.db.device.count({ where: { credential: { email } } })).toBe(1)
    await service.db.signInAttempt.deleteMany({})
    await guess(email, { count: 31, networks: 31 })
    expect((await signIn(visit(service, stolen), ELSEWHERE, email)).status).toBe(422)
    expect((await signIn(visit(service, now), ELSEWHERE, email)).status).toBe(303)
  })
})

it('locks out new browsers after a hundred wrong passwords in a row, until the person has signed in', async () => {
  const { email, browser } = await joinFromHome()
  for (let i = 0; i < 100; i++) await recordFailedSignIn(service.system, email)
  service.clock.advance(DAY_MS)
  expect((await signIn(visit(service), ELSEWHERE, email)).text).toContain('is not right')
  expect((await signIn(browser, ELSEWHERE, email)).status).toBe(303)
  expect((await signIn(visit(service), '203.0.113.99', email)).status).toBe(303)
})
