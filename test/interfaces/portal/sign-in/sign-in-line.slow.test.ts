import { beforeAll, describe, expect, it } from 'vitest'
import { joinAs, PASSWORD, visit } from '../../../support/portal.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'

const OTHERS = '198.51.100.7'
const OWN = '192.0.2.1'

// The shortest wait: queued sign-ins must not look like an overload.
const service = await startServiceForFile({ TRUST_PROXY: 'true', MAX_REQUEST_WAIT: '1' })
beforeAll(async () => void (await service.app.listen({ port: 0, host: '127.0.0.1' })))

const signIn = (from: string, email: string, password = PASSWORD, at = service) =>
  visit(at).post('/portal/sign-in', { email, password }).set('X-Forwarded-For', from)
const count = (answers: { status: number }[], status: number) => answers.filter((answer) => answer.status === status).length

describe('a burst of sixty wrong sign-ins, three times as many as may wait,', () => {
  it('locks out no other network and no API request, and asks the rejected ones to retry', async () => {
    const organization = await service.make.organization()
    const { email } = await joinAs(service, organization)
    const wrong = Promise.all(Array.from({ length: 60 }, (_, i) => signIn(OTHERS, `nobody-${i}@example.com`)))
    let areAnswered = false
    const over = wrong.finally(() => {
      areAnswered = true
    })
    const right: number[] = []
    const asked: number[] = []
    while (!areAnswered) {
      asked.push((await service.v1(organization.key).get('/tags')).status)
      right.push((await signIn(OWN, email)).status)
    }
    expect(new Set([...right, ...asked])).toEqual(new Set([303, 200]))
    const answers = await over
    expect(count(answers, 422) + count(answers, 429)).toBe(60)
    const refused = answers.find(({ status }) => status === 429)!
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
    expect(refused.text).toContain('try again in a few seconds')
  })

  it('counts no sign-in that was rejected unchecked', async () => {
    const { email } = await joinAs(service, await service.make.organization())
    const wrong = await Promise.all(Array.from({ length: 60 }, () => signIn('198.51.100.8', email, 'not the password')))
    expect(count(wrong, 429)).toBeGreaterThan(0)
    const [{ attempts }] = await service.db.$queryRaw<[{ attempts: number }]>`
      SELECT max(count)::integer AS attempts FROM sign_in_attempts WHERE count <= 60 - ${count(wrong, 429)}::integer`
    expect(attempts).toBeLessThanOrEqual(60 - count(wrong, 429))
  })
})

describe('the service behind an untrusted proxy', () => {
  it('lets everybody sign in after 51 wrong passwords of somebody else, and logs the proxy', async () => {
    const proxied = await startServiceForTest()
    const { email } = await joinAs(proxied, await proxied.make.organization())
    expect((await signIn(OTHERS, 'nobody@example.com', 'wrong', proxied)).status).toBe(422)
    const tried = 48 // each attempt would take the time of hashing a password
    await proxied.db.signInAttempt.updateMany({ data: { count: tried } })
    for (let i = tried; i < 51; i++) expect((await signIn(OTHERS, `nobody-${i}@example.com`, 'wrong', proxied)).status).toBe(422)
    expect((await signIn(OWN, email, PASSWORD, proxied)).status).toBe(303)
    const proxyWarnings = proxied.logLines.filter((line) => line.includes('TRUST_PROXY'))
    expect(proxyWarnings).toHaveLength(1)
    expect(JSON.parse(proxyWarnings[0]!)).toMatchObject({ level: 40, proxy: expect.stringContaining('127.0.0.1') })
    // Forwarding headers of unknown proxies are ignored, so these count against the same address.
    for (let i = 0; i < 5; i++) await signIn(`203.0.113.${i}`, email, 'wrong', proxied)
    expect((await signIn('203.0.113.9', email, PASSWORD, proxied)).status).toBe(422)
  })

  it('has queues per account', async () => {
    const proxied = await startServiceForTest({ MAX_REQUEST_WAIT: '1' })
    const { email } = await joinAs(proxied, await proxied.make.organization())
    const wrong = Promise.all(Array.from({ length: 60 }, () => signIn(OTHERS, 'nobody@example.com', 'wrong', proxied)))
    expect((await signIn(OWN, email, PASSWORD, proxied)).status).toBe(303)
    expect(count(await wrong, 429)).toBeGreaterThan(0)
  })

  it('reports the proxy by the readiness check', async () => {
    const proxied = await startServiceForTest()
    expect((await proxied.http().get('/readyz')).body).toEqual({ status: 'ready', problems: [] })
    const asked = await proxied.http().get('/readyz').set('X-Forwarded-For', OTHERS)
    expect([asked.status, asked.body]).toEqual([200, { status: 'ready', problems: [], untrustedProxy: true }])
    expect((await service.http().get('/readyz').set('X-Forwarded-For', OTHERS)).body).toEqual({ status: 'ready', problems: [] })
  })
})
