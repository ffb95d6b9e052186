import { describe, expect, it } from 'vitest'
import { signInvitation, signSession } from '../../../src/domain/secrets/invitation-tokens.ts'
import { candidateOf, prepare } from '../../support/candidate.ts'
import { SECRET_KEY, startServiceForFile, startServiceForTest } from '../../support/service.ts'

const PLAYER_URL = 'https://player.example.org/run?theme=dark'

const service = await startServiceForFile({ PLAYER_URL })

async function makeAccepted(of = service) {
  const { id, key } = await of.make.organization()
  const assessment = await of.make.assessment(id)
  const invite = await of.make.invite(assessment, { status: 'accepted' })
  const stored = () => of.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  return { key, assessment, invite, stored, candidate: candidateOf(of, invite) }
}

/** Starts an accepted invite. Its reference is the one that the player received. */
async function makeStarted() {
  const accepted = await makeAccepted()
  const { headers } = await accepted.candidate.press('start')
  return { ...accepted, location: headers.location!, reference: referenceIn(headers.location!) }
}
const referenceIn = (location: string) => new URL(location).searchParams.get('session')!
const complete = (reference: string) => service.http().post(`/player/sessions/${reference}/complete`)
const notFound = [404, { error: 'Invite not found' }]

describe('the Start button', () => {
  it('leads to the player, with a reference that is not the link', async () => {
    const { location, reference, candidate, stored } = await makeStarted()
    expect(location).toBe(`${PLAYER_URL}&session=${reference}`)
    expect(reference).toMatch(/^[A-Za-z0-9_-]{64}$/)
    expect(location).not.toContain(candidate.token)
    expect((await stored()).status).toBe('started')
  })

  it('leads to the same session even if pressed several times at once', async () => {
    for (let round = 0; round < 10; round++) {
      const { candidate } = await makeAccepted()
      const answers = await Promise.all([1, 2, 3].map(() => candidate.press('start')))
      const locations = [...answers, await candidate.press('start')].map(({ headers }) => headers.location)
      expect(new Set(locations).size).toBe(1)
      expect(locations[0]).toContain('https://player.example.org/')
    }
  })

  it('leads back to the page, not to the player, after a revocation', async () => {
    const { key, invite, candidate } = await makeAccepted()
    await service.v1(key).post(`/invites/${invite.id}/revoke`)
    expect((await candidate.press('start')).headers.location).toBe(candidate.path)
  })
})

describe('the page with an external player', () => {
  it('loads no script except the clock script', async () => {
    for (const { candidate } of [await makeAccepted(), await makeStarted()])
      expect(
        [...(await candidate.open()).text.matchAll(/<script[^>]*src="\/i\/assets\/([a-z.]+)\./g)].map(([, name]) => name),
      ).toEqual(['candidate.clock'])
  })

  it("allows its forms to lead to the player's origin, and nowhere else", async () => {
    for (const { candidate } of [await makeAccepted(), await makeStarted()]) {
      const policy = (await candidate.open()).headers['content-security-policy']
      expect(policy!.split('; ')).toContain("form-action 'self' https://player.example.org")
    }
  })

  it('leads from a started invite to the player, without showing questions', async () => {
    const { assessment, candidate, location } = await makeStarted()
    await service.make.question(assessment, { script: 'Not to be seen here' })
    const { text } = await candidate.open()
    expect(text).toContain(`<a class="btn btn-primary btn-lg" href="${location.replace('&', '&amp;')}">Continue</a>`)
    expect(text).not.toMatch(/Not to be seen here|<form/)
  })

  it('does not mention the player in any other state', async () => {
    const { candidate } = await makeAccepted()
    expect((await candidate.open()).text).not.toContain('player.example.org')
  })
})

describe('POST /player/sessions/{reference}/complete', () => {
  it('completes the invite', async () => {
    const { reference, stored, candidate } = await makeStarted()
    service.clock.advance(60_000)
    const { status, body } = await complete(reference)
    expect([status, body]).toEqual([200, { status: 'completed' }])
    expect(await stored()).toMatchObject({ status: 'completed', completedAt: service.clock.now() })
    expect((await candidate.open()).text).toContain('You have completed this assessment')
  })

  it('gives the same response when repeated, and changes nothing more', async () => {
    const { reference, stored } = await makeStarted()
    await complete(reference)
    const completed = await stored()
    service.clock.advance(60_000)
    const { status, body } = await complete(reference)
    expect([status, body]).toEqual([200, { status: 'completed' }])
    expect(await stored()).toEqual(completed)
  })

  it.each([
    ['application/json', '{"score":5}'],
    ['application/json', '{broken'],
    ['text/plain', 'done'],
    ['application/octet-stream', 'x'],
  ])('requires only the reference, and accepts any body (%s %s)', async (type, text) => {
    const { reference } = await makeStarted()
    expect((await complete(reference).set('content-type', type).send(text)).status).toBe(200)
  })

  it('accepts the reference of a started invite that is past its expiry', async () => {
    const { reference, invite } = await makeStarted()
    service.clock.set(new Date(invite.expiresAt.getTime() + 1))
    expect((await complete(reference)).body).toEqual({ status: 'completed' })
  })

  it('changes nothing by a GET request', async () => {
    const { reference, stored } = await makeStarted()
    const before = await stored()
    expect((await service.http().get(`/player/sessions/${reference}/complete`)).status).toBe(404)
    expect(await stored()).toEqual(before)
  })
})

describe('a reference of no current session', () => {
  it('completes nothing if it is forged, or of another invite, key, or purpose', async () => {
    const [own, other] = [await makeStarted(), await makeStarted()]
    const before = [await own.stored(), await other.stored()]
    const [a, b] = before as [(typeof before)[0], (typeof before)[0]]
    const changed = own.reference.slice(0, 30) + (own.reference[30] === 'A' ? 'B' : 'A') + own.reference.slice(31)
    const forged = [
      changed,
      `${own.reference}A`,
      own.candidate.token,
      a.assessmentSession!,
      'x',
      '%00',
      'x'.repeat(190),
      signSession([SECRET_KEY], { inviteId: a.id, session: b.assessmentSession! }),
      signSession(['another secret key 0123456789abcdefghij'], { inviteId: a.id, session: a.assessmentSession! }),
      signInvitation([SECRET_KEY], { inviteId: a.id, linkVersion: 1 }),
    ]
    for (const reference of forged) {
      const { status, body } = await complete(reference)
      expect([reference, status, body]).toEqual([reference, ...notFound])
    }
    expect([await own.stored(), await other.stored()]).toEqual(before)
  })

  it('is rejected, with the state, if the invite has been revoked meanwhile', async () => {
    const { key, invite, reference, stored } = await makeStarted()
    await service.v1(key).post(`/invites/${invite.id}/revoke`)
    const { status, body } = await complete(reference)
    expect([status, body]).toEqual([409, { error: 'The invite is revoked and can not be completed' }])
    expect((await stored()).completedAt).toBeNull()
  })

  it('stays invalid after the invite was reactivated and started again', async () => {
    const { key, invite, reference, stored } = await makeStarted()
    await service.v1(key).post(`/invites/${invite.id}/revoke`)
    await service.v1(key).post(`/invites/${invite.id}/reactivate`)
    expect((await complete(reference)).status).toBe(404)
    const again = candidateOf(service, await stored())
    await again.press('accept')
    const { headers } = await again.press('start')
    expect((await complete(reference)).status).toBe(404)
    expect((await stored()).status).toBe('started')
    expect((await complete(referenceIn(headers.location!))).status).toBe(200)
  })
})

it("keeps Start on the service's own page if no player is configured", async () => {
  const plain = await startServiceForTest()
  const { candidate, invite } = await makeAccepted(plain)
  await prepare(plain, invite)
  expect((await candidate.press('start')).headers.location).toBe(candidate.path)
  expect((await candidate.open()).headers['content-security-policy']).toContain("form-action 'self';")
})
