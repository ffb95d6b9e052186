import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { DomainError } from '../../src/domain/errors.ts'
import { editInvite } from '../../src/domain/invites/correct-invite.ts'
import { createInvite } from '../../src/domain/invites/create-invite.ts'
import { extendInvite, revokeInvite } from '../../src/domain/invites/operate-invite.ts'
import { inTransaction } from '../../src/domain/transaction.ts'
import { type FeedItem, waitForNumbering } from '../support/events.ts'
import { LONG, scaled } from '../support/scale.ts'
import { type Service, startServiceForTest } from '../support/service.ts'

const CHANGES = scaled(160, 50_000)
const INVITES = scaled(40, 1_500)
const WRITERS = 8
/** Share of changes that fail. */
const FAILING = 0.05
const MAX_DELAY_MS = scaled(60, 150)

/** Overlap of `updatedSince` that docs/guides/keeping-in-step.md recommends. */
const OVERLAP_MS = 300_000
/** Maximum time from a change's timestamp to its commit, by the service's clock. */
const LATEST_COMMIT_MS = 240_000
/** Each change advances the clock by this time, so a dozen changes take a minute. */
const STEP_MS = 5_000

type Shown = { id: string }
type Copy = Map<string, Shown>

async function readAll(service: Service, key: string, query: string): Promise<{ invites: Shown[]; cursor: string }> {
  const invites: Shown[] = []
  let cursor = ''
  for (let page = 1; ; page++) {
    const { status, body, headers, text } = await service.v1(key).get(`/invites?limit=100&page=${page}${query}`)
    if (status !== 200) throw new Error(text)
    if (page === 1) cursor = headers['events-cursor']!
    invites.push(...body.invites)
    if (page >= body.pagination.totalPages) return { invites, cursor }
  }
}

const toCopy = (invites: Shown[]): Copy => new Map(invites.map((invite) => [invite.id, invite]))
const inOrder = (copy: Copy): Shown[] => [...copy.values()].sort((a, b) => (a.id < b.id ? -1 : 1))

/** Changes invites in transactions that stay open for a random time after the change. @returns the number of committed changes. */
async function write(service: Service, ctx: Context, assessmentId: string, ids: string[]): Promise<number> {
  let [n, made] = [0, 0]
  const open = new Set<number>()
  const any = () => ids[Math.floor(Math.random() * ids.length)]!
  const kinds: ((inside: Context, n: number) => Promise<unknown>)[] = [
    (inside, n) => editInvite(inside, any(), { recipientName: `Name ${n}`, questionReplayLimit: 1 + (n % 9) }),
    (inside, n) => editInvite(inside, any(), { answerRecordLimit: 1 + (n % 9) }),
    (inside, n) => editInvite(inside, any(), { recipientName: `Other ${n}` }),
    (inside, n) => extendInvite(inside, any(), { expiresInDays: 30 + (n % 300) }),
    async (inside, n) => {
      const { id } = await createInvite(inside, { assessmentId, recipientEmail: `new-${n}@example.com`, sendEmail: false })
      return () => void ids.push(id)
    },
    (inside, n) => (n % 5 === 0 ? revokeInvite(inside, any()) : editInvite(inside, any(), { recipientName: `Third ${n}` })),
  ]
  const change = async (n: number) => {
    const stamp = service.clock.now().getTime()
    open.add(stamp)
    try {
      const after = await inTransaction(ctx, async (inside) => {
        const after = await kinds[n % kinds.length]!(inside, n)
        // Most transactions are quick, some are very slow.
        await sleep(Math.random() ** 3 * MAX_DELAY_MS)
        if (Math.random() < FAILING) throw new DomainError('invalid')
        return after
      })
      if (typeof after === 'function') after()
      made++
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
    }
    open.delete(stamp)
    // The clock waits for slow transactions, so that a busy machine doesn't exceed the maximum time to commit.
    if (service.clock.now().getTime() + STEP_MS - Math.min(stamp, ...open) < LATEST_COMMIT_MS) service.clock.advance(STEP_MS)
  }
  const work = async () => {
    while (made < CHANGES) await change(n++)
  }
  await Promise.all(Array.from({ length: WRITERS }, work))
  return made
}

it(`keeps copies by the feed and by updatedSince correct while ${WRITERS} writers make ${CHANGES} changes`, async () => {
  const service = await startServiceForTest()
  const { id: organizationId, key } = await service.make.organization()
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const assessment = await service.make.assessment(organizationId)
  const ids: string[] = []
  const start = service.clock.now().getTime()
  for (let i = 0; i < INVITES; i++) {
    // Every fourth invite expires while the writers run.
    const expiresAt = new Date(start + (i % 4 === 0 ? (i / INVITES) * CHANGES * STEP_MS * 0.5 : 30 * 86_400_000))
    ids.push((await service.make.invite(assessment, { expiresAt })).id)
  }
  const actor = { kind: 'operator' } as const
  const ctx: Context = enterOrganization({ ...service.system, actor }, organization, 'live')
  let isWritten = false

  async function followFeed(): Promise<Copy> {
    const { invites, cursor: from } = await readAll(service, key, '')
    const copy = toCopy(invites)
    for (let cursor = from; ; ) {
      const wasOver = isWritten
      const { body } = await service.v1(key).get(`/events?limit=100&cursor=${cursor}`)
      for (const id of new Set((body.events as FeedItem[]).map(({ data }) => data.inviteId)))
        copy.set(id, summaryOf((await service.v1(key).get(`/invites/${id}`)).body))
      cursor = body.cursor
      if (wasOver && !body.hasMore) return copy
      if (!body.hasMore) await sleep(10)
    }
  }

  const passes: number[] = []
  async function followUpdates(): Promise<Copy> {
    let since = service.clock.now().getTime()
    const copy = toCopy((await readAll(service, key, '')).invites)
    for (;;) {
      const wasOver = isWritten
      const began = service.clock.now().getTime()
      const { invites } = await readAll(service, key, `&updatedSince=${new Date(since - OVERLAP_MS).toISOString()}`)
      for (const invite of invites) copy.set(invite.id, invite)
      passes.push(invites.length)
      since = began
      if (wasOver) return copy
      await sleep(20)
    }
  }

  const { invites: first } = await readAll(service, key, '')
  const fields = Object.keys(first[0]!)
  const summaryOf = (detail: Record<string, unknown>) =>
    Object.fromEntries(fields.map((field) => [field, detail[field]])) as unknown as Shown
  const readers = [followFeed(), followUpdates()]
  const made = await write(service, ctx, assessment.id, ids)
  await readAll(service, key, '') // marks due invites as expired
  await waitForNumbering(service)
  isWritten = true
  const [byFeed, byUpdates] = (await Promise.all(readers)) as [Copy, Copy]
  const truth = inOrder(toCopy((await readAll(service, key, '')).invites))
  if (LONG) process.stdout.write(`${made} changes of ${truth.length} invites; updatedSince was asked ${passes.length} times\n`)
  expect(made).toBeGreaterThanOrEqual(CHANGES)
  expect(inOrder(byFeed)).toEqual(truth)
  expect(inOrder(byUpdates)).toEqual(truth)
})
