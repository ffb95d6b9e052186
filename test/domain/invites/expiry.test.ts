import { beforeEach, describe, expect, it, vi } from 'vitest'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import type { Invite } from '../../../src/generated/prisma/client.ts'
import { candidateOf, prepare } from '../../support/candidate.ts'
import { DAY_MS } from '../../support/factories.ts'
import { runSweep } from '../../support/run-sweep.ts'
import { startServiceForFile } from '../../support/service.ts'
import { PATIENT } from '../../support/wait-until.ts'

const service = await startServiceForFile()
beforeEach(() => service.clock.advance(60_000)) // so that no invite of an earlier test expires at the same instant

type Shown = { id: string; status: string; updated_at: string }

/** Creates an invite that expires in a day, an expired one, and a completed one. */
async function makeExpiring(status: Invite['status']) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const now = service.clock.now()
  const expiresAt = new Date(now.getTime() + DAY_MS)
  const stamps = status === 'pending' ? {} : { acceptedAt: now }
  const invite = await service.make.invite(assessment, { status, expiresAt, ...stamps })
  if (status === 'accepted') await prepare(service, invite)
  await service.make.invite(assessment, { status: 'expired', expiresAt: now })
  await service.make.invite(assessment, { status: 'completed', expiresAt: now })
  return { organizationId, key, assessment, invite, expiresAt, candidate: candidateOf(service, invite) }
}
type Expiring = Awaited<ReturnType<typeof makeExpiring>>

const v1 = async ({ key }: Expiring, path: string) => (await service.v1(key).get(path)).body
const alternate = async ({ key }: Expiring, path: string) => (await service.alternate(key).get(path)).body
const find = (items: Shown[], { invite }: Expiring) => items.find(({ id }) => id === invite.id)!.status
const scope = ({ organizationId }: Expiring) => `/organizations/${organizationId}/assessment_invites`
/** States whose filtered list contains and counts the invite. */
async function foundByFilter(of: Expiring) {
  const found: string[] = []
  for (const status of [of.invite.status, 'expired']) {
    const { invites, pagination } = await v1(of, `/invites?status=${status}`)
    expect(pagination.total).toBe(invites.length)
    if (invites.some(({ id }: Shown) => id === of.invite.id)) found.push(status)
  }
  return found.join()
}

/** Reads the invite's state in each place that shows it. */
const reads: Record<string, (of: Expiring) => Promise<string>> = {
  'GET /invites/{id} of v1': async (of) => (await v1(of, `/invites/${of.invite.id}`)).status,
  'GET /invites of v1': async (of) => find((await v1(of, '/invites')).invites, of),
  'the filters by status of v1, and their counts': foundByFilter,
  'the filters by status and assessment of v1 together': async (of) => {
    const { pagination } = await v1(of, `/invites?status=expired&assessmentId=${of.assessment.id}`)
    return pagination.total === 2 ? 'expired' : of.invite.status
  },
  'the order by status of v1': async (of) => {
    const order = (await v1(of, '/invites?sort=status&order=asc')).invites.map(({ status }: Shown) => status).join()
    return order === 'completed,expired,expired' ? 'expired' : order.replace(/,?(completed|expired),?/g, '')
  },
  'GET /assessment_invites/{id} of the alternate interface': async (of) =>
    (await alternate(of, `/assessment_invites/${of.invite.id}`)).status,
  'GET /assessment_invites of the alternate interface': async (of) =>
    find((await alternate(of, '/assessment_invites')).results, of),
  'the search of the alternate interface': async (of) =>
    find((await alternate(of, `/assessment_invites?search=${encodeURIComponent(of.invite.recipientEmail)}`)).results, of),
  "an invite in the organization's scope": async (of) => (await alternate(of, `${scope(of)}/${of.invite.id}`)).status,
  "the list in the organization's scope": async (of) => find((await alternate(of, scope(of))).results, of),
  "the candidate's page": async (of) => {
    const { text } = await of.candidate.open()
    if (text.includes('has expired')) return 'expired'
    return text.includes(`action="${of.candidate.path}/accept"`) ? 'pending' : 'accepted'
  },
}

describe.each(['pending', 'accepted'] as const)('a %s invite', (status) => {
  it.each(Object.keys(reads))('expires at the exact instant, and not a millisecond sooner: %s', async (place) => {
    const expiring = await makeExpiring(status)
    service.clock.set(new Date(expiring.expiresAt.getTime() - 1))
    expect(await reads[place]!(expiring)).toBe(status)
    service.clock.set(expiring.expiresAt)
    expect(await reads[place]!(expiring)).toBe('expired')
  })

  it('has its expiry as the time of its last change, no matter when it is read', async () => {
    const expiring = await makeExpiring(status)
    service.clock.set(new Date(expiring.expiresAt.getTime() + 3 * DAY_MS))
    const before = await alternate(expiring, `/assessment_invites/${expiring.invite.id}`)
    expect(before.updated_at.replace(/Z$/, '')).toContain(expiring.expiresAt.toISOString().slice(0, 19))
    await alternate(expiring, '/assessment_invites')
    expect(await alternate(expiring, `/assessment_invites/${expiring.invite.id}`)).toEqual(before)
  })
})

describe('a started invite', () => {
  it.each(Object.keys(reads).filter((place) => place !== "the candidate's page"))('does not expire: %s', async (place) => {
    const expiring = await makeExpiring('started')
    service.clock.set(new Date(expiring.expiresAt.getTime() + DAY_MS))
    expect(await reads[place]!(expiring)).toBe('started')
  })

  it('can still be finished', async () => {
    const { candidate, expiresAt, invite } = await makeExpiring('started')
    service.clock.set(new Date(expiresAt.getTime() + DAY_MS))
    await candidate.press('finish')
    expect(await service.db.invite.findUnique({ where: { id: invite.id } })).toMatchObject({ status: 'completed' })
  })
})

const operate = (of: Expiring, move: string) =>
  service
    .v1(of.key)
    .post(`/invites/${of.invite.id}/${move}`)
    .send(move === 'extend' ? { expiresInDays: 9 } : {})

/** Moves that expiry prevents, with the states before and after. */
const moves = [
  { move: 'accept', from: 'pending', to: 'accepted' },
  { move: 'decline', from: 'pending', to: 'revoked' },
  { move: 'start', from: 'accepted', to: 'started' },
  { move: 'decline', from: 'accepted', to: 'revoked' },
  { move: 'revoke', from: 'pending', to: 'revoked' },
  { move: 'revoke', from: 'accepted', to: 'revoked' },
  { move: 'extend', from: 'pending', to: 'pending' },
  { move: 'extend', from: 'accepted', to: 'accepted' },
  { move: 'resend', from: 'pending', to: 'pending' },
  { move: 'resend', from: 'accepted', to: 'accepted' },
] as const
const byCandidate = ['accept', 'decline', 'start'] as const

describe('a candidate or organization', () => {
  const stored = (of: Expiring) => service.db.invite.findUniqueOrThrow({ where: { id: of.invite.id } })
  const make = async (of: Expiring, move: (typeof moves)[number]['move']) => {
    const button = byCandidate.find((button) => button === move)
    return button ? of.candidate.press(button) : operate(of, move)
  }

  it.each(moves)('can still $move a millisecond before a $from invite expires', async ({ move, from, to }) => {
    const expiring = await makeExpiring(from)
    service.clock.set(new Date(expiring.expiresAt.getTime() - 1))
    await make(expiring, move)
    expect(await stored(expiring)).toMatchObject({ status: to, updatedAt: service.clock.now() })
  })

  it.each(moves)("can't $move at the instant a $from invite expires", async ({ move, from }) => {
    const expiring = await makeExpiring(from)
    service.clock.set(expiring.expiresAt)
    const { status, text } = await make(expiring, move)
    if (status !== 303)
      expect([status, text]).toEqual([409, expect.stringContaining('{"error":"The invite is expired and can not')])
    const left = { ...expiring.invite, status: 'expired', updatedAt: expiring.expiresAt }
    // Rejecting the operation also rolls back the expiry, but the next read expires the invite again.
    const { status: shown } = await v1(expiring, `/invites/${expiring.invite.id}`)
    expect(shown).toBe('expired')
    await v1(expiring, '/invites')
    expect(await stored(expiring)).toEqual(left)
  })

  it.each(['pending', 'accepted'] as const)(
    'can reactivate a %s invite from the instant it expires, not sooner',
    async (from) => {
      const expiring = await makeExpiring(from)
      service.clock.set(new Date(expiring.expiresAt.getTime() - 1))
      expect((await operate(expiring, 'reactivate')).status).toBe(409)
      service.clock.set(expiring.expiresAt)
      const { status, body } = await operate(expiring, 'reactivate')
      expect([status, body.invite]).toMatchObject([200, { status: 'pending', acceptedAt: null }])
    },
  )
})

describe('the expiry sweep', () => {
  /** Due invites, and neighbours that are not, in two organizations. */
  async function makeDue() {
    const due = [await makeExpiring('pending'), await makeExpiring('accepted')]
    const started = await makeExpiring('started')
    service.clock.advance(1)
    const later = await makeExpiring('pending')
    service.clock.set(due[0]!.expiresAt)
    const statusOf = async ({ invite }: Expiring) =>
      (await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).status
    const statuses = () => Promise.all([...due, started, later].map(statusOf))
    return { due, statuses }
  }
  const swept = ['expired', 'expired', 'started', 'pending']

  it('expires due invites of all organizations, and no others', async () => {
    const { due, statuses } = await makeDue()
    await expireAllDueInvites(service.system)
    expect(await statuses()).toEqual(swept)
    for (const { invite, expiresAt } of due) {
      const row = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
      expect(row).toEqual({ ...invite, status: 'expired', updatedAt: expiresAt })
    }
  })

  it('runs as a job scheduled every minute', async () => {
    await service.startSweep()
    expect(await service.db.$queryRaw`SELECT name, cron FROM pgboss.schedule`).toContainEqual({
      name: 'sweep.expire_invites',
      cron: '* * * * *',
    })
    const { statuses } = await makeDue()
    await runSweep(service, ['expire_invites'])
    await vi.waitFor(async () => expect(await statuses()).toEqual(swept), PATIENT)
  })
})
