import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { type Button, candidateOf, prepare } from '../../support/candidate.ts'
import { DAY_MS } from '../../support/factories.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' }) // so that concurrent requests share one server
})
afterAll(() => service.close())

const ROUNDS = scaled(3, 8)
type State = 'pending' | 'accepted' | 'started' | 'completed' | 'expired' | 'revoked'
type Racing = Awaited<ReturnType<typeof makeInvite>>

let key: string
let assessment: Awaited<ReturnType<Service['make']['assessment']>>
beforeEach(async () => {
  const organization = await service.make.organization()
  key = organization.key
  assessment = await service.make.assessment(organization.id)
})

/** Creates another invite of the test's organization. */
async function makeInvite(status: State) {
  const invite = await service.make.invite(assessment, { status })
  if (status === 'accepted') await prepare(service, invite)
  const stored = () => service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  const mails = () => service.db.inviteEmail.count({ where: { inviteId: invite.id } })
  return { key, invite, stored, mails, candidate: candidateOf(service, invite) }
}

const press =
  (button: Button) =>
  async ({ candidate }: Racing) =>
    String((await candidate.press(button)).status)
const operate =
  (move: string, body = {}) =>
  async ({ key, invite }: Racing) => {
    const answer = await service.v1(key).post(`/invites/${invite.id}/${move}`).send(body)
    return answer.status === 409 ? answer.body.error : String(answer.status)
  }
const refused = (state: State, participle: string) => `The invite is ${state} and can not be ${participle}`

/** Two concurrent moves. `outcomes` has the answers and the final state of either order. */
type Race = {
  title: string
  from: State
  moves: [(of: Racing) => Promise<string>, (of: Racing) => Promise<string>]
  outcomes: [first: string, second: string, left: State][]
}
const races: Race[] = [
  {
    title: 'the candidate finishes while the organization revokes',
    from: 'started',
    moves: [press('finish'), operate('revoke')],
    outcomes: [
      ['303', refused('completed', 'revoked'), 'completed'],
      ['303', '200', 'revoked'],
    ],
  },
  {
    title: 'the candidate finishes and declines',
    from: 'started',
    moves: [press('finish'), press('decline')],
    outcomes: [
      ['303', '303', 'completed'],
      ['303', '303', 'revoked'],
    ],
  },
  {
    title: 'the candidate starts while the organization extends',
    from: 'accepted',
    moves: [press('start'), operate('extend', { expiresInDays: 60 })],
    outcomes: [
      ['303', refused('started', 'extended'), 'started'],
      ['303', '200', 'started'],
    ],
  },
  {
    title: 'one revokes while another resends',
    from: 'pending',
    moves: [operate('revoke'), operate('resend')],
    outcomes: [
      ['200', refused('revoked', 'sent again'), 'revoked'],
      ['200', '200', 'revoked'],
    ],
  },
  {
    title: 'one revokes while another extends',
    from: 'pending',
    moves: [operate('revoke'), operate('extend', { expiresInDays: 60 })],
    outcomes: [
      ['200', refused('revoked', 'extended'), 'revoked'],
      ['200', '200', 'revoked'],
    ],
  },
  {
    title: 'the candidate accepts while the organization revokes',
    from: 'pending',
    moves: [press('accept'), operate('revoke')],
    outcomes: [['303', '200', 'revoked']],
  },
  {
    title: 'one reactivates an expired invite while another revokes it',
    from: 'expired',
    moves: [operate('reactivate'), operate('revoke')],
    outcomes: [
      ['200', refused('expired', 'revoked'), 'pending'],
      ['200', '200', 'revoked'],
    ],
  },
]

it.each(races)(
  'ends two concurrent moves as if one had followed the other: $title',
  async ({ from, moves: [first, second], outcomes }) => {
    for (let round = 0; round < ROUNDS; round++) {
      const racing = await makeInvite(from)
      const [one, other] = round % 2 ? [first, second] : [second, first]
      const answers = await Promise.all([one(racing), other(racing)])
      const { status, completedAt, revokedAt } = await racing.stored()
      const [a, b] = round % 2 ? answers : answers.toReversed()
      expect(outcomes).toContainEqual([a, b, status])
      expect([completedAt !== null, revokedAt !== null]).toEqual([status === 'completed', status === 'revoked'])
    }
  },
)

it.each([
  ['accept', 'pending', 'accepted'],
  ['start', 'accepted', 'started'],
  ['finish', 'started', 'completed'],
  ['decline', 'pending', 'revoked'],
] as const)('makes one %s of a button pressed five times at once', async (button, from, to) => {
  for (let round = 0; round < ROUNDS; round++) {
    const racing = await makeInvite(from)
    const answers = await Promise.all(Array.from({ length: 5 }, () => racing.candidate.press(button)))
    for (const { status, headers } of answers) expect([status, headers.location]).toEqual([303, racing.candidate.path])
    expect((await racing.stored()).status).toBe(to)
  }
})

it.each([
  ['revoke', 'started', 0, 1],
  ['reactivate', 'revoked', 1, 2],
] as const)(
  'returns five equal responses to five concurrent %s requests, and does it once',
  async (move, from, mails, version) => {
    for (let round = 0; round < ROUNDS; round++) {
      const racing = await makeInvite(from)
      const post = () => service.v1(racing.key).post(`/invites/${racing.invite.id}/${move}`).send({})
      const answers = await Promise.all(Array.from({ length: 5 }, post))
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(answers[0]!.status).toBe(200)
      expect([await racing.mails(), (await racing.stored()).linkVersion]).toEqual([mails, version])
    }
  },
)

it('returns to each of many concurrent pairs of revoke and reactivate its own outcome', async () => {
  const own = ['revoke 200 revoked', 'reactivate 200 pending', `reactivate 409 ${refused('pending', 'reactivated')}`]
  const move = async ({ key, invite }: Racing, move: string) => {
    const { status, body } = await service.v1(key).post(`/invites/${invite.id}/${move}`).send({})
    return `${move} ${status} ${body.invite?.status ?? body.error}`
  }
  for (let round = 0; round < scaled(3, 30); round++) {
    const racing = await Promise.all(Array.from({ length: 10 }, () => makeInvite('pending')))
    const outcomes = new Set(await Promise.all(racing.flatMap((of) => [move(of, 'revoke'), move(of, 'reactivate')])))
    expect([...outcomes].filter((outcome) => !own.includes(outcome))).toEqual([])
  }
})

it('sends one mail for five concurrent resends', async () => {
  const racing = await makeInvite('pending')
  service.clock.advance(1_000) // a mail at the instant of creation counts as the invitation, not as a resend
  const answers = await Promise.all(Array.from({ length: 5 }, () => operate('resend')(racing)))
  expect([answers.sort(), await racing.mails()]).toEqual([['200', '429', '429', '429', '429'], 1])
})

it('never shortens an invite that concurrent requests extend', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const racing = await makeInvite('pending')
    await Promise.all([90, 60, 80, 70].map((expiresInDays) => operate('extend', { expiresInDays })(racing)))
    expect((await racing.stored()).expiresAt).toEqual(new Date(service.clock.now().getTime() + 90 * DAY_MS))
  }
})

it('accepts no invite at the instant of its expiry, even during a sweep', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const racing = await makeInvite('pending')
    service.clock.set(racing.invite.expiresAt)
    await Promise.all([racing.candidate.press('accept'), expireAllDueInvites(service.system), operate('resend')(racing)])
    expect(await racing.stored()).toMatchObject({ status: 'expired', acceptedAt: null })
    expect(await racing.mails()).toBe(0)
  }
})
