import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { signUnsubscribeToken } from '../../../src/domain/secrets/unsubscribe-tokens.ts'
import { candidateOf, consent } from '../../support/candidate.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile({
  RATE_LIMIT_CANDIDATE_LINK: '60',
  RATE_LIMIT_CANDIDATE_NETWORK: '120', // lower than the default, to make the test faster
  TRUST_PROXY: 'true',
})

let network = 0
/** Each test uses its own network. */
let address: string
beforeEach(() => {
  address = `198.51.100.${++network}`
})

async function createCandidates(count: number) {
  const { id } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  await service.make.question(assessment)
  const plain = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false, facePhotoRequired: false }
  const invites = await Promise.all(Array.from({ length: count }, () => service.make.invite(assessment, plain)))
  return invites.map((invite) => ({ ...candidateOf(service, invite), invite }))
}

const load = (path: string, from = address) => service.app.inject({ url: path, headers: { 'x-forwarded-for': from } })

/** @returns the number of responses by status. */
async function loadMany(paths: string[], from?: (i: number) => string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const [i, path] of paths.entries()) {
    const { statusCode } = await load(path, from?.(i))
    counts[statusCode] = (counts[statusCode] ?? 0) + 1
  }
  return counts
}

const times = <T>(count: number, item: T): T[] => Array(count).fill(item)

describe('the page limiter of candidate links', () => {
  it("answers 429 with Retry-After in the reader's language after 60 loads of a link in a minute", async () => {
    const [one, other] = await createCandidates(2)
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await loadMany(times(70, one!.path))).toEqual({ 200: 60, 429: 10 })
    vi.setSystemTime(Date.now() + 20_000)
    const headers = { 'x-forwarded-for': address, 'accept-language': 'de' }
    const refused = await service.app.inject({ url: one!.path, headers })
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '40'])
    expect(refused.body).toContain('Bitte warten Sie eine Minute')
    expect((await load(`${one!.path}/practice`)).statusCode).toBe(429)
    expect((await load(`${one!.path}/return`)).statusCode).toBe(429)
    expect((await load(other!.path)).statusCode).toBe(200)
    vi.setSystemTime(Date.now() + 40_000)
    expect((await load(one!.path)).statusCode).toBe(200)
  })

  it('limits loads per network as configured, and counts an IPv6 /64 as one network', async () => {
    const candidates = await createCandidates(3)
    const paths = candidates.flatMap(({ path }) => times(50, path))
    const inNetwork = (i: number) => `2001:db8:0:${network}::${(i + 1).toString(16)}`
    expect(await loadMany(paths, inNetwork)).toEqual({ 200: 120, 429: 30 })
    expect((await load(candidates[2]!.path, `2001:db8:1:${network}::1`)).statusCode).toBe(200)
  })

  it("leaves the network's limit to other links when one link is rejected", async () => {
    const [one, other] = await createCandidates(2)
    await loadMany(times(130, one!.path))
    expect((await load(other!.path)).statusCode).toBe(200)
  })

  it('counts loads of the unsubscribe page', async () => {
    const [candidate] = await createCandidates(1)
    const path = `/u/${signUnsubscribeToken(service.site.secretKeys, candidate!.invite.id)}`
    expect(await loadMany(times(61, path))).toEqual({ 200: 60, 429: 1 })
    const form = await service.http().post(path).set('x-forwarded-for', address)
    expect(form.status).toBe(200)
  })

  it('still accepts answers, saves, and status requests when page loads are rejected', async () => {
    const [candidate] = await createCandidates(1)
    const { path, press, session, invite } = candidate!
    await press('accept')
    await consent(candidate!)
    await press('start')
    await press('open', { number: '1' })
    await loadMany(times(61, path))
    expect((await load(path)).statusCode).toBe(429)

    const tab = service.deps.newId()
    expect((await session('post', '/tab', { body: { tab } })).status).toBe(200)
    expect((await session('get')).status).toBe(200)
    const saved = await session('put', '/questions/1/text', { tab, body: { text: 'A text', revision: 1 } })
    expect(saved.status).toBe(200)
    const answered = await candidate!.answer(1, 'The answer', 'next')
    expect([answered.status, answered.headers.location]).toEqual([303, path])
    expect((await press('finish')).status).toBe(303)
    expect(await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).toMatchObject({ status: 'completed' })
  })
})
