import { expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { deleteExpiredEvents } from '../../../../src/domain/events/delete-expired-events.ts'
import type { NewEvent } from '../../../../src/domain/events/event.ts'
import { findInviteEvents } from '../../../../src/domain/events/feed.ts'
import { recordEvents } from '../../../../src/domain/events/record-events.ts'
import type { Invite, Prisma } from '../../../../src/generated/prisma/client.ts'
import { candidateOf, prepare } from '../../../support/candidate.ts'
import { waitForNumbering } from '../../../support/events.ts'
import { eventsIn } from '../../../support/forms.ts'
import { waitForState } from '../../../support/mail.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { makeIntegrator } from '../../../support/webhooks.ts'

const HOSTILE = `=1+1"'><script>alert(1)</script>`

const service = await startServiceForFile()

/** Creates an invite with a key, an admin, and a client of its assessment. */
async function openInvite() {
  const integrator = await makeIntegrator(service)
  const inviteId = await integrator.invite()
  const [admin, client] = [await signInAs(service, integrator.id, ['admin']), await signInAs(service, integrator.id, ['client'])]
  const { id: organizationId, assessmentId } = integrator
  await service.db.assessmentClient.create({ data: { organizationId, assessmentId, memberId: client.member.id, position: 0 } })
  const path = `${admin.home}invites/${inviteId}`
  const read = () => service.db.invite.findUniqueOrThrow({ where: { id: inviteId } })
  return { ...integrator, inviteId, admin, client, path, read }
}

/** Entries of the timeline with their authors, in order. */
const timelineIn = ({ text }: { text: string }): string[] => eventsIn(text).map(({ what, aside }) => `${what} | ${aside.at(-1)}`)

/** Event of a failed mail. */
const mailFailed = (
  { id: inviteId, organizationId, assessmentId, status, mode }: Invite,
  reason: 'refused' | 'given_up',
): NewEvent => ({
  type: 'email.failed',
  organizationId,
  mode,
  data: { inviteId, assessmentId, status, emailId: service.deps.newId(), reason },
})

it('shows each event of an invite and its actor, the newest last, at once', async () => {
  const { admin, path, read } = await openInvite()
  await admin.post(`${path}/revoke`)
  expect(timelineIn(await admin.get(path))).toEqual([
    'The candidate was invited | the API key “Test”',
    `The invite was revoked | ${admin.member.email}`,
  ])
  await admin.post(`${path}/reactivate`, { expiresInDays: '5' })
  const { text } = await admin.get(path)
  expect(text).toContain(`it expires <time datetime="${(await read()).expiresAt.toISOString()}"`)
  await candidateOf(service, await read()).press('accept')
  await prepare(service, await read())
  await candidateOf(service, await read()).press('start')
  await recordEvents(service.system, [mailFailed(await read(), 'refused')])
  expect(timelineIn(await admin.get(path)).slice(2)).toEqual([
    expect.stringMatching(/^The invite was reactivated, with a new link: it expires .* UTC \| /),
    'The candidate accepted | the candidate',
    'The candidate started | the candidate',
    'The email to the candidate could not be sent: the mail server rejected it permanently | the service',
  ])
})

it('keeps its order when the events are numbered', async () => {
  const { admin, inviteId, path } = await openInvite()
  for (const move of ['revoke', 'reactivate']) await admin.post(`${path}/${move}`, { expiresInDays: '5' })
  await waitForState(service, { inviteId }, 'captured') // a mail that is still being sent at the revocation would fail, which is another event
  await admin.post(`${path}/revoke`)
  const before = timelineIn(await admin.get(path))
  expect(before).toHaveLength(4)
  await waitForNumbering(service)
  expect(timelineIn(await admin.get(path))).toEqual(before)
})

it('shows clients the events without names of members and keys, and other clients nothing', async () => {
  const { id, admin, client, path } = await openInvite()
  await admin.post(`${path}/revoke`)
  const answer = await client.get(path)
  expect(timelineIn(answer)).toEqual(['The candidate was invited | an API key', 'The invite was revoked | a member'])
  expect(answer.text).not.toContain(admin.member.email)
  const other = await signInAs(service, id, ['client'])
  expect((await other.get(path)).status).toBe(404)
})

it('escapes the name of a key', async () => {
  const { id, admin, assessmentId } = await openInvite()
  const { key } = await createApiKey(service.system, { organizationId: id, name: HOSTILE, mode: 'test' })
  const { body } = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail: 'sam@example.com' })
  const answer = await admin.get(`${admin.home.replace('/portal/', '/portal/test/')}invites/${body.invite.id}`)
  expect(timelineIn(answer)).toEqual([
    'The candidate was invited: as a test | the API key “=1+1&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;”',
  ])
})

it('explains its beginning if it is later than the invite: imported, or older than the retention', async () => {
  const { id, admin, path } = await openInvite()
  expect((await admin.get(path)).text).not.toContain('imported')
  const invite = await service.make.invite(await service.make.assessment(id))
  const imported = `${admin.home}invites/${invite.id}`
  const alone = await admin.get(imported)
  expect(alone.text).toContain('the invite was imported, or its earlier events are no longer kept')
  expect(eventsIn(alone.text).map(({ what }) => what)).toEqual(['The candidate was invited'])
  await admin.post(`${imported}/revoke`)
  const begun = await admin.get(imported)
  expect(begun.text).toContain('its earlier events are no longer kept')
  expect(eventsIn(begun.text).map(({ what }) => what)).toEqual(['The candidate was invited', 'The invite was revoked'])
  expect(timelineIn(begun).at(-1)).toBe(`The invite was revoked | ${admin.member.email}`)
  await waitForNumbering(service)
  service.clock.advance(1)
  await deleteExpiredEvents(service.system, 0)
  const of = async (page: string) => eventsIn((await admin.get(page)).text).map(({ what }) => what)
  expect([await of(path), await of(imported)]).toEqual([
    ['The candidate was invited'],
    ['The candidate was invited', 'The invite was revoked'],
  ])
})

it('shows the last 200 events of a longer history', async () => {
  const { admin, path, read } = await openInvite()
  const invite = await read()
  await recordEvents(
    service.system,
    Array.from({ length: 250 }, () => mailFailed(invite, 'refused')),
  )
  await recordEvents(service.system, [mailFailed(invite, 'given_up')])
  const answer = await admin.get(path)
  expect(timelineIn(answer)).toHaveLength(200)
  expect(timelineIn(answer).at(-1)).toContain('all attempts have failed')
  expect(answer.text).toContain('These are the last 200 events.')
})

it('is read by index, even with many other events, numbered or not', async () => {
  const { id, inviteId } = await openInvite()
  await waitForNumbering(service)
  const ctx = asOperator(service, { id, name: 'Any' })
  const { queries } = await recordQueries(() => findInviteEvents(ctx, [inviteId], 200))
  const [query] = queries.filter(({ text }) => text.includes('from "events"'))
  await inRollback(async (db) => {
    await db.$executeRawUnsafe(`INSERT INTO events (id, organization_id, position, type, mode, invite_id, actor_type, data, created_at)
      SELECT gen_random_uuid(), '${id}', CASE WHEN i > 1000 THEN 1000000 + i END, 'invite.created', 'live', md5((i % 5000)::text)::uuid, 'system', '{}', now()
      FROM generate_series(1, 30000) AS i`)
    await db.$executeRawUnsafe('ANALYZE events')
    const plan = JSON.stringify(await db.$queryRawUnsafe(`EXPLAIN (FORMAT JSON) ${query!.text}`, ...query!.values))
    expect(plan).toContain('events_invite_idx')
    expect(plan).toContain('events_unnumbered_idx')
    expect(plan).not.toContain('Seq Scan')
  })
})

/** Runs the work in a transaction that is rolled back. */
async function inRollback(work: (db: Prisma.TransactionClient) => Promise<void>): Promise<void> {
  const rollback = new Error('roll back')
  const transaction = service.db.$transaction(
    async (db) => {
      await work(db)
      throw rollback
    },
    { timeout: 60_000 },
  )
  await transaction.catch((error) => {
    if (error !== rollback) throw error
  })
}
