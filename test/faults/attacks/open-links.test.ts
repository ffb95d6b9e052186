import { afterAll, expect, it } from 'vitest'
import { createInvite } from '../../../src/domain/invites/create-invite.ts'
import { queueRegistrations } from '../../../src/domain/open-links/queue-registrations.ts'
import { makeOpenLink, NETWORKS } from '../../support/open-links.ts'
import { LONG, scaled } from '../../support/scale.ts'
import { startServiceForFile } from '../../support/service.ts'
import { startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'

const LIMITS = { perHour: 100, perDay: 400 }
const HOUR_MS = 3_600_000
/** A script that sends the form from some addresses, and visitors who send it once, each from another network. */
const [attacks, attackers, visitors] = [scaled(300, 10_000), scaled(5, 50), scaled(20, 200)]

const smtp = await startSmtpListener()
afterAll(smtp.close)
const service = await startServiceForFile({
  ...NETWORKS,
  SMTP_URL: smtp.url,
  OPEN_LINK_MAILS_PER_HOUR: String(LIMITS.perHour),
  OPEN_LINK_MAILS_PER_DAY: String(LIMITS.perDay),
})

const sizeOfDatabase = async () => {
  const [row] = await service.db.$queryRaw<{ bytes: bigint }[]>`SELECT pg_database_size(current_database()) AS bytes`
  return Number(row!.bytes)
}

it('a flood of the form of an open link delays nobody else’s mail by much, and stays within the limits and a small database', async () => {
  const link = await makeOpenLink(service)
  const before = await sizeOfDatabase()
  const isVisitor = (address: string) => address.startsWith('visitor')
  const send = (email: string, network: string, solution = '') => link.send({ email, solution }, { network })
  const statuses = new Map<number, number>()
  const everyNth = Math.floor(attacks / visitors)
  for (let i = 0; i < attacks; i++) {
    // The script solves every second challenge.
    const solution = i % 2 === 0 ? await link.prove() : ''
    const { status } = await send(`victim${i}@example.com`, `192.0.2.${i % attackers}`, solution)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (i % everyNth !== 0 || i / everyNth >= visitors) continue
    const nth = i / everyNth
    expect(
      (await send(`visitor${nth}@example.com`, `198.51.${Math.floor(nth / 250)}.${nth % 250}`, await link.prove())).status,
    ).toBe(200)
  }
  expect([...statuses.keys()].every((status) => status === 200 || status === 429)).toBe(true)
  expect(await service.db.registration.count()).toBeLessThanOrEqual(attackers * 50 + visitors)

  const mailed = () => smtp.mails.map(({ envelope }) => envelope.to[0]!)
  const arrived = () => mailed().filter(isVisitor).length
  for (let hours = 0; ; hours++) {
    await queueRegistrations(service.system, link.organization.id)
    await waitUntil(
      'the queued mails',
      async () => (await service.db.registration.count({ where: { state: 'queued' } })) === 0 || undefined,
    )
    const since = new Date(service.clock.now().getTime() - HOUR_MS)
    expect(await service.db.registration.count({ where: { queuedAt: { gt: since } } })).toBeLessThanOrEqual(LIMITS.perHour)
    if (arrived() === visitors) break
    // Each network has its first turn before another has its second.
    expect(hours).toBeLessThan(Math.ceil((attackers * 2 + visitors) / LIMITS.perHour) + 1)
    service.clock.advance(HOUR_MS)
  }
  expect(mailed().length).toBeLessThanOrEqual(LIMITS.perDay)
  expect(new Set(mailed()).size).toBe(mailed().length)
  expect(await link.invites()).toEqual([])
  expect((await sizeOfDatabase()) - before).toBeLessThan(20 * 2 ** 20)
}, 1_800_000)

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!

it.skipIf(!LONG)('answers new and invited addresses in the same time, within 5 % (only with TEST_LONG)', async () => {
  const link = await makeOpenLink(service)
  const times: Record<'new' | 'invited', number[]> = { new: [], invited: [] }
  for (let i = 0; i < 200; i++)
    for (const kind of ['new', 'invited'] as const) {
      const email = `${kind}${i}@example.com`
      if (kind === 'invited')
        await createInvite(link.ctx, { assessmentId: link.assessment.id, recipientEmail: email, sendEmail: false })
      const solution = await link.prove()
      const begun = performance.now()
      expect((await link.send({ email, solution })).status).toBe(200)
      times[kind].push(performance.now() - begun)
    }
  expect(Math.abs(median(times.new) / median(times.invited) - 1)).toBeLessThan(0.05)
})
