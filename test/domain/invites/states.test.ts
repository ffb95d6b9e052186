import { beforeEach, describe, expect, it } from 'vitest'
import type { Invite } from '../../../src/generated/prisma/client.ts'
import { candidateOf, prepare } from '../../support/candidate.ts'
import { DAY_MS } from '../../support/factories.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
beforeEach(() => service.clock.advance(60_000)) // so that a move's time stamps differ from the existing ones

const SESSION = '01900000-0000-7000-8000-00000000beef'
const states = ['pending', 'accepted', 'started', 'completed', 'expired', 'revoked'] as const
type State = (typeof states)[number]
/** Result of a move in a state: the next state, no change, the first response again, or a refusal. */
type Outcome = State | 'stays' | 'repeated' | 'refused'
type Row = readonly [
  pending: Outcome,
  accepted: Outcome,
  started: Outcome,
  completed: Outcome,
  expired: Outcome,
  revoked: Outcome,
]

// The table "States of an invite" of guides/invites.md, transposed: a row for each move, a column for each state.
const byCandidate = {
  accept: ['accepted', 'repeated', 'refused', 'refused', 'refused', 'refused'],
  start: ['refused', 'started', 'repeated', 'refused', 'refused', 'refused'],
  finish: ['refused', 'refused', 'completed', 'repeated', 'refused', 'refused'],
  decline: ['revoked', 'revoked', 'revoked', 'refused', 'refused', 'repeated'],
} as const satisfies Record<string, Row>
const byOrganization = {
  revoke: ['revoked', 'revoked', 'revoked', 'refused', 'refused', 'repeated'],
  extend: ['stays', 'stays', 'refused', 'refused', 'refused', 'refused'],
  resend: ['stays', 'stays', 'stays', 'refused', 'refused', 'refused'],
  reactivate: ['refused', 'refused', 'refused', 'refused', 'pending', 'pending'],
} as const satisfies Record<string, Row>
type CandidateMove = keyof typeof byCandidate
type Operation = keyof typeof byOrganization

const cellsOf = <Move extends string>(table: Record<Move, Row>) =>
  (Object.entries(table) as [Move, Row][]).flatMap(([move, row]) =>
    states.map((state, column) => ({ move, state, outcome: row[column]! })),
  )

/** Columns that each move changes besides the state and `updatedAt`. */
const stamps: Record<CandidateMove | Operation, (before: Invite, now: Date) => Partial<Invite>> = {
  accept: (_, now) => ({ acceptedAt: now }),
  start: (_, now) => ({ startedAt: now, assessmentSession: expect.any(String) as string }),
  finish: (_, now) => ({ completedAt: now }),
  decline: (_, now) => ({ revokedAt: now, declinedAt: now }),
  revoke: (_, now) => ({ revokedAt: now }),
  extend: (_, now) => ({ expiresAt: new Date(now.getTime() + 90 * DAY_MS) }),
  resend: () => ({}),
  reactivate: ({ linkVersion }, now) => ({
    sentAt: now,
    expiresAt: new Date(now.getTime() + 30 * DAY_MS),
    linkVersion: linkVersion + 1,
    acceptedAt: null,
    startedAt: null,
    completedAt: null,
    revokedAt: null,
    declinedAt: null,
    assessmentSession: null,
  }),
}
const participles: Record<Operation, string> = {
  revoke: 'revoked',
  extend: 'extended',
  resend: 'sent again',
  reactivate: 'reactivated',
}

/** Creates an invite in a state, with the time stamps of its earlier states. An expired one was accepted, a revoked one started. */
async function createInviteIn(state: State, data: object = {}) {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const ago = (days: number) => new Date(service.clock.now().getTime() - days * DAY_MS)
  const accepted = { acceptedAt: ago(4) }
  const started = { ...accepted, startedAt: ago(3), assessmentSession: SESSION }
  const stamped = {
    pending: {},
    accepted,
    started,
    completed: { ...started, completedAt: ago(2) },
    expired: { ...accepted, expiresAt: ago(1) },
    revoked: { ...started, revokedAt: ago(2) },
  }
  const made = { sentAt: ago(5), createdAt: ago(5), updatedAt: ago(1) }
  const before = await service.make.invite(assessment, { status: state, ...made, ...stamped[state], ...data })
  if (state === 'accepted') await prepare(service, before)
  const stored = () => service.db.invite.findUniqueOrThrow({ where: { id: before.id } })
  const mails = () => service.db.inviteEmail.count({ where: { inviteId: before.id } })
  const shown = async () => (await service.v1(key).get(`/invites/${before.id}`)).body
  const operate = (move: Operation) =>
    service
      .v1(key)
      .post(`/invites/${before.id}/${move}`)
      .send(move === 'extend' ? { expiresInDays: 90 } : {})
  return { key, before, stored, mails, shown, operate, candidate: candidateOf(service, before) }
}

const expectedRow = (before: Invite, move: CandidateMove | Operation, outcome: Outcome): Invite => {
  if (outcome === 'refused' || outcome === 'repeated') return before
  const now = service.clock.now()
  const status = outcome === 'stays' ? before.status : outcome
  return { ...before, ...stamps[move](before, now), status, updatedAt: now }
}

/** Text that only the page of one state contains. */
const pageWords: Record<State, string> = {
  pending: 'You are invited to take this assessment',
  accepted: 'You have accepted the invitation',
  started: 'Your assessment has begun',
  completed: 'You have completed this assessment',
  expired: 'has expired',
  revoked: '<title>Closed: ',
}

describe('the candidate', () => {
  it.each(cellsOf(byCandidate))(
    'gets the expected result of $move if the invite is $state: $outcome',
    async ({ move, state, outcome }) => {
      const { before, stored, candidate } = await createInviteIn(state)
      const answer = await candidate.press(move)
      // A rejected move also redirects to the page with the current state.
      expect([answer.status, answer.headers.location, answer.text]).toEqual([303, candidate.path, ''])
      const after = await stored()
      expect(after).toEqual(expectedRow(before, move, outcome))
      const page = await candidate.open()
      expect([page.status, page.text]).toEqual([200, expect.stringContaining(pageWords[after.status])])
    },
  )

  it('starts a separate session with each invite', async () => {
    const sessions = new Set<string | null>()
    for (let i = 0; i < 2; i++) {
      const { stored, candidate } = await createInviteIn('accepted')
      await candidate.press('start')
      sessions.add((await stored()).assessmentSession)
    }
    expect([...sessions]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })

  it.each([
    ['accept', 'pending'],
    ['start', 'accepted'],
    ['finish', 'started'],
    ['decline', 'pending'],
  ] as const)('gets the same response to a second %s, which changes nothing', async (move, state) => {
    const { stored, candidate } = await createInviteIn(state)
    const first = await candidate.press(move)
    const moved = await stored()
    service.clock.advance(1_000)
    const second = await candidate.press(move)
    expect([second.status, second.headers.location]).toEqual([first.status, first.headers.location])
    expect(await stored()).toEqual(moved)
  })
})

describe('the organization', () => {
  it.each(cellsOf(byOrganization))(
    'gets the expected result of $move if the invite is $state: $outcome',
    async ({ move, state, outcome }) => {
      const { before, stored, mails, shown, operate } = await createInviteIn(state)
      const answer = await operate(move)
      const isMailed = outcome !== 'refused' && (move === 'resend' || move === 'reactivate')
      expect(await stored()).toEqual(expectedRow(before, move, outcome))
      expect(await mails()).toBe(isMailed ? 1 : 0)
      if (outcome === 'refused') {
        expect([answer.status, answer.body]).toEqual([
          409,
          { error: `The invite is ${state} and can not be ${participles[move]}` },
        ])
      } else {
        expect([answer.status, answer.body]).toEqual([200, { invite: await shown() }])
      }
    },
  )

  it.each([
    ['revoke', 'pending'],
    ['reactivate', 'revoked'],
    ['reactivate', 'expired'],
  ] as const)(
    'gets the same response to a second %s of an invite that was %s, which sends no second mail',
    async (move, state) => {
      const { stored, mails, operate } = await createInviteIn(state)
      const first = await operate(move)
      const [moved, sent] = [await stored(), await mails()]
      service.clock.advance(1_000)
      const second = await operate(move)
      expect([second.status, second.text]).toEqual([200, first.text])
      expect([await stored(), await mails()]).toEqual([moved, sent])
    },
  )

  it("can't reactivate an invite again once it is accepted", async () => {
    const { before, stored, operate } = await createInviteIn('revoked')
    await operate('reactivate')
    await candidateOf(service, await stored()).press('accept')
    const { status, body } = await operate('reactivate')
    expect([status, body]).toEqual([409, { error: 'The invite is accepted and can not be reactivated' }])
    expect((await stored()).linkVersion).toBe(before.linkVersion + 1)
  })

  it('can revoke an invite that the candidate has declined, which changes nothing', async () => {
    const { stored, operate, candidate } = await createInviteIn('accepted')
    await candidate.press('decline')
    const declined = await stored()
    service.clock.advance(1_000)
    const { status, body } = await operate('revoke')
    expect([status, body.invite]).toMatchObject([200, { status: 'revoked', revokedAt: declined.revokedAt!.toISOString() }])
    expect(await stored()).toEqual(declined)
  })

  it('can reactivate an invite any number of times, each time with a new link', async () => {
    const { before, stored, operate } = await createInviteIn('pending')
    for (const linkVersion of [2, 3, 4]) {
      await operate('revoke')
      service.clock.advance(60_000)
      expect((await operate('reactivate')).body.invite).toMatchObject({ id: before.id, status: 'pending', revokedAt: null })
      expect((await stored()).linkVersion).toBe(linkVersion)
    }
  })
})
