import { describe, expect, it } from 'vitest'
import { signForm } from '../../../../src/domain/secrets/invitation-tokens.ts'
import { candidateOf } from '../../../support/candidate.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'
import { makeTaking } from '../../../support/taking.ts'

const service = await startServiceForFile()

async function makeInvite(of = service) {
  const { id } = await of.make.organization()
  const invite = await of.make.invite(await of.make.assessment(id))
  const stored = () => of.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  return { invite, stored, candidate: candidateOf(of, invite) }
}
const actions = ['accept', 'start', 'finish', 'decline'] as const
const refusal = [400, 'text/html', expect.stringContaining('<h1>This did not work</h1>')]
const unknown = [404, 'text/html', expect.stringContaining('<h1>This link is not valid</h1>')]
const summary = ({ status, type, text }: { status: number; type: string; text: string }) => [status, type, text]

describe('a form without the proof of its page', () => {
  type Proof = (own: string, foreign: string) => object
  const proofs: [what: string, proof: Proof][] = [
    ['none', () => ({})],
    ['an empty one', () => ({ proof: '' })],
    ['a made-up one', () => ({ proof: 'x'.repeat(22) })],
    ["another invite's", (_, foreign) => ({ proof: foreign })],
    ['half of it', (own) => ({ proof: own.slice(0, 11) })],
    ['more than it', (own) => ({ proof: `${own}A` })],
    ['it in another field', (own) => ({ Proof: own })],
    ['one of another key', () => ({ proof: signForm(['another secret key 0123456789abcdefghij'], 'x') })],
  ]

  it.each(proofs)('is rejected with a page, and changes nothing: %s', async (_what, proof) => {
    const { invite, stored, candidate } = await makeInvite()
    const { candidate: other } = await makeInvite()
    for (const action of actions) {
      const form = proof(candidate.proof, other.proof)
      expect(summary(await service.http().post(`${candidate.path}/${action}`).type('form').send(form))).toEqual(refusal)
    }
    expect(await stored()).toEqual(invite)
  })

  it('is rejected even if the proof is in the address', async () => {
    const { invite, stored, candidate } = await makeInvite()
    const answer = await service.http().post(`${candidate.path}/accept?proof=${candidate.proof}`).type('form').send({})
    expect(summary(answer)).toEqual(refusal)
    expect(await stored()).toEqual(invite)
  })
})

describe('a body that is not a form', () => {
  const types = ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'image/png', 'x', '*/*']

  it.each(types)('is rejected with a page, not with JSON, and changes nothing: %s', async (type) => {
    const { invite, stored, candidate } = await makeInvite()
    const body = type === 'application/json' ? JSON.stringify({ proof: candidate.proof }) : `proof=${candidate.proof}`
    const answer = await service.http().post(`${candidate.path}/accept`).set('content-type', type).send(body)
    expect(summary(answer)).toEqual(refusal)
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(await stored()).toEqual(invite)
  })

  it('is rejected with a page if it is missing or too large', async () => {
    const { invite, stored, candidate } = await makeInvite()
    expect(summary(await service.http().post(`${candidate.path}/accept`))).toEqual(refusal)
    const large = { proof: candidate.proof, more: 'x'.repeat(70_000) }
    expect(summary(await service.http().post(`${candidate.path}/accept`).type('form').send(large))).toEqual(refusal)
    expect(await stored()).toEqual(invite)
  })

  it('is accepted as a form if its type names a charset', async () => {
    const { stored, candidate } = await makeInvite()
    const type = 'application/x-www-form-urlencoded; charset=UTF-8'
    await service.http().post(`${candidate.path}/accept`).set('content-type', type).send(`proof=${candidate.proof}&__proto__=x`)
    expect((await stored()).status).toBe('accepted')
  })
})

describe('an action without a button on the page', () => {
  it.each([
    'complete',
    'revoke',
    'reactivate',
    'extend',
    'resend',
    'ACCEPT',
    'constructor',
    '__proto__',
    'toString',
    'accept/again',
  ])('gets the page of unknown links, and changes nothing: %s', async (action) => {
    const { invite, stored, candidate } = await makeInvite()
    const answer = await service.http().post(`${candidate.path}/${action}`).type('form').send({ proof: candidate.proof })
    expect(summary(answer)).toEqual(unknown)
    expect(await stored()).toEqual(invite)
  })

  it.each(['put', 'patch', 'delete'] as const)(
    'gets the page of unknown links for the method %s, and changes nothing',
    async (method) => {
      const { invite, stored, candidate } = await makeInvite()
      for (const path of [candidate.path, `${candidate.path}/accept`]) {
        expect(summary(await service.http()[method](path).type('form').send({ proof: candidate.proof }))).toEqual(unknown)
      }
      expect(await stored()).toEqual(invite)
    },
  )
})

describe('a late form', () => {
  it('is answered once, and leaves nothing of its address in the log', async () => {
    const late = await startServiceForTest({ ROLE: 'api' })
    const { candidate } = await makeTaking(late, { timeLimit: 600 })
    late.clock.advance(24 * 3_600_000)
    const answer = await candidate.answer(1, 'Too late', 'save')
    expect([answer.status, answer.headers.location]).toEqual([303, `${candidate.path}?late=1`])
    expect(late.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level > 30)).toEqual([])
    expect(late.logLines.join()).not.toContain(candidate.token)
  })
})

describe('an internal error', () => {
  it('shows a page without the cause, which is logged', async () => {
    const broken = await startServiceForTest()
    const { candidate } = await makeInvite(broken)
    await broken.db.$executeRaw`ALTER TABLE invites RENAME TO mislaid`
    for (const answer of [await candidate.open(), await candidate.press('accept')]) {
      expect(summary(answer)).toEqual([500, 'text/html', expect.stringContaining('Something went wrong on our side')])
      expect(answer.text).not.toMatch(/invites|prisma|sql/i)
    }
    expect(broken.logLines.filter((line) => line.includes('request failed'))).toHaveLength(2)
    expect(broken.logLines.join()).not.toContain(candidate.token)
  })
})
