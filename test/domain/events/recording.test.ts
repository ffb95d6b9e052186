import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { inviteEvents } from '../../../src/domain/events/event.ts'
import { recordEvents } from '../../../src/domain/events/record-events.ts'
import { assignGrader, tagInvite, untagInvite } from '../../../src/domain/invites/change-invite.ts'
import { giveUpEmail, recordEmailAttempt } from '../../../src/domain/invites/emails.ts'
import { expireAllDueInvites } from '../../../src/domain/invites/expire-due-invites.ts'
import { inTransaction } from '../../../src/domain/transaction.ts'
import type { Invite, Prisma } from '../../../src/generated/prisma/client.ts'
import { candidateOf, prepare } from '../../support/candidate.ts'
import { readFeed } from '../../support/events.ts'
import { queueMail } from '../../support/mail.ts'
import { type Service, startService } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'

let service: Service
let smtp: Awaited<ReturnType<typeof startSmtpListener>>
beforeAll(async () => {
  smtp = await startSmtpListener({
    onRcptTo({ address }, _session, callback) {
      callback(address.startsWith('refused') ? Object.assign(new Error(`No ${address} here`), { responseCode: 550 }) : null)
    },
  })
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function makeInvite(data: Partial<Prisma.InviteUncheckedCreateInput> = {}, mode: 'live' | 'test' = 'live') {
  const organization = await service.make.organization({ mode })
  const assessment = await service.make.assessment(organization.id)
  const invite = await service.make.invite(assessment, data)
  return { ...organization, client: service.v1(organization.key), invite, candidate: candidateOf(service, invite) }
}

/** Reads the organization's events in order, without their ids and times. */
async function readEvents(key: string, query: Record<string, string> = { mode: 'all' }) {
  const { events } = await readFeed(service, key, query)
  return events.map(({ type, actor, data }) => ({ type, actor, data }))
}

const stateOf = ({ id, assessmentId }: Invite, status: string) => ({ inviteId: id, assessmentId, status })
const CANDIDATE = { type: 'candidate', id: null }
const SYSTEM = { type: 'system', id: null }

describe('a new invite', () => {
  it.each(['live', 'test'] as const)('records its creation by a %s key, through either interface', async (mode) => {
    const { id: organizationId, key, apiKeyId } = await service.make.organization({ mode })
    const { id: assessmentId } = await service.make.assessment(organizationId)
    const body = { assessmentId, recipientEmail: 'one@example.com', sendEmail: false }
    const { invite } = (await service.v1(key).post('/invites').send(body)).body
    const other = { assessment: assessmentId, email: 'two@example.com', assigned_grader: null, tags: [] }
    const settings = { question_play_limit: 1, answer_record_limit: 1, screen_recording: true, webcam_monitoring: true }
    const { status, body: second } = await service
      .alternate(key)
      .post('/assessment_invites')
      .send({ ...other, ...settings, id_photo_required: true, face_photo_required: true })
    expect(status).toBe(201)
    const ofInvite = (await readEvents(key)).filter(({ type }) => type.startsWith('invite'))
    const actor = { type: 'api_key', id: apiKeyId }
    const created = (inviteId: string) => ({
      type: 'invite.created',
      actor,
      data: { inviteId, assessmentId, status: 'pending', mode, source: 'api' },
    })
    expect(ofInvite).toEqual([created(invite.id), created(second.id)])
  })

  it('records its creation once for a repeated Idempotency-Key, and not at all for a rejected request', async () => {
    const { id, key } = await service.make.organization()
    const { id: assessmentId } = await service.make.assessment(id)
    const post = (idempotencyKey: string) =>
      service
        .v1(key)
        .post('/invites')
        .set('Idempotency-Key', idempotencyKey)
        .send({ assessmentId, recipientEmail: 'sam@example.com', sendEmail: false })
    const answers = [await post('a'), await post('a'), await post('b')]
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 409])
    expect(await readEvents(key)).toHaveLength(1)
  })
})

describe('an invite', () => {
  it('records each move from accepting to finishing once', async () => {
    const { key, invite, candidate } = await makeInvite()
    await prepare(service, invite)
    for (const button of ['accept', 'accept', 'start', 'start', 'finish', 'finish', 'accept'] as const)
      await candidate.press(button)
    const submissionId = (await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).assessmentSession
    expect(await readEvents(key)).toEqual([
      { type: 'invite.accepted', actor: CANDIDATE, data: stateOf(invite, 'accepted') },
      { type: 'invite.started', actor: CANDIDATE, data: { ...stateOf(invite, 'started'), submissionId } },
      { type: 'invite.completed', actor: CANDIDATE, data: { ...stateOf(invite, 'completed'), submissionId } },
    ])
  })

  it('records declining once', async () => {
    const { key, invite, candidate } = await makeInvite()
    await candidate.press('decline')
    await candidate.press('decline')
    expect(await readEvents(key)).toEqual([{ type: 'invite.declined', actor: CANDIDATE, data: stateOf(invite, 'revoked') }])
  })

  it('records extending, resending, revoking, and reactivating once', async () => {
    const { key, apiKeyId, invite, client } = await makeInvite()
    const post = (operation: string, body = {}) => client.post(`/invites/${invite.id}/${operation}`).send(body)
    const extended = (await post('extend', { expiresInDays: 60 })).body.invite.expiresAt
    await post('resend')
    await post('revoke')
    await post('revoke')
    const reactivated = (await post('reactivate')).body.invite.expiresAt
    await post('reactivate')
    expect((await post('extend', { expiresInDays: 1 })).status).toBe(400)
    const actor = { type: 'api_key', id: apiKeyId }
    const ofInvite = (await readEvents(key)).filter(({ type }) => type.startsWith('invite'))
    expect(ofInvite).toEqual([
      { type: 'invite.extended', actor, data: { ...stateOf(invite, 'pending'), expiresAt: extended } },
      { type: 'invite.resent', actor, data: stateOf(invite, 'pending') },
      { type: 'invite.revoked', actor, data: stateOf(invite, 'revoked') },
      { type: 'invite.reactivated', actor, data: { ...stateOf(invite, 'pending'), expiresAt: reactivated } },
    ])
  })

  it('records changed tags or a changed grader with the difference, and no event without a change', async () => {
    const { id: organizationId, key, invite } = await makeInvite()
    const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
    const ctx: Context = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, organization, 'live')
    const [tag, grader] = [await service.make.tag(organizationId), await service.make.member(organizationId)]
    for (const tagId of [tag.id, tag.id.toUpperCase()]) await tagInvite(ctx, invite.id, tagId)
    for (const graderId of [grader.id, grader.id.toUpperCase(), null, null]) await assignGrader(ctx, invite.id, graderId)
    for (let time = 0; time < 2; time++) await untagInvite(ctx, invite.id, tag.id)
    const updated = (changes: object) => ({
      type: 'invite.updated',
      actor: SYSTEM,
      data: { ...stateOf(invite, 'pending'), changes },
    })
    expect(await readEvents(key)).toEqual([
      updated({ tagIds: { added: [tag.id], removed: [] } }),
      updated({ assignedGraderId: { before: null, after: grader.id } }),
      updated({ assignedGraderId: { before: grader.id, after: null } }),
      updated({ tagIds: { added: [], removed: [tag.id] } }),
    ])
  })

  it('records one of five concurrent moves', async () => {
    const { key, candidate } = await makeInvite()
    await Promise.all(Array.from({ length: 5 }, () => candidate.press('accept')))
    expect(await readEvents(key)).toHaveLength(1)
  })
})

describe('expiry', () => {
  const due = () => ({ expiresAt: new Date(service.clock.now().getTime() - 1_000) })

  it.each(['a list', 'a move', 'the sweep'])('records one event, no matter what notices it first: %s', async (who) => {
    const { key, invite, client, candidate } = await makeInvite(due())
    if (who === 'a list') await client.get('/invites')
    if (who === 'a move') await candidate.press('accept')
    await expireAllDueInvites(service.system)
    await client.get('/invites')
    expect(await readEvents(key)).toEqual([{ type: 'invite.expired', actor: SYSTEM, data: stateOf(invite, 'expired') }])
  })

  itSlow('records one event for each of thousands of invites that expire at once', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const { id: assessmentId } = await service.make.assessment(organizationId)
    const count = 5_000
    await service.db.$executeRaw`
      INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit, answer_record_limit,
        screen_recording, webcam_monitoring, require_id_capture, face_photo_required, sent_at, expires_at, created_at, updated_at)
      SELECT gen_random_uuid(), ${organizationId}::uuid, ${assessmentId}::uuid, 'c' || n || '@example.com', 'pending', 1, 1,
        true, true, true, true, ${service.clock.now()}, ${due().expiresAt}, ${service.clock.now()}, ${service.clock.now()}
      FROM generate_series(1, ${count}::int) n`
    await expireAllDueInvites(service.system)
    const feed = await readFeed(service, key, { limit: '100' })
    expect(new Set(feed.events.map(({ data }) => data.inviteId)).size).toBe(count)
    expect(feed.events).toHaveLength(count)
    expect(new Set(feed.events.map(({ type }) => type))).toEqual(new Set(['invite.expired']))
  })
})

describe('a mail', () => {
  const settled = (id: string) =>
    waitUntil('the mail', async () => {
      const email = await service.db.inviteEmail.findUniqueOrThrow({ where: { id } })
      return email.state === 'queued' ? undefined : email
    })

  it('records that the server accepted it', async () => {
    const { key, invite } = await makeInvite()
    const { id: emailId } = await settled(await queueMail(service, invite))
    await recordEmailAttempt(service.system, { id: emailId, organizationId: invite.organizationId }, { state: 'sent' })
    expect(await readEvents(key)).toEqual([
      { type: 'email.sent', actor: SYSTEM, data: { ...stateOf(invite, 'pending'), emailId } },
    ])
  })

  it('records a permanent refusal, without the quoted address', async () => {
    const { key, invite } = await makeInvite({ recipientEmail: 'refused@example.com' })
    const { id: emailId } = await settled(await queueMail(service, invite))
    expect(await readEvents(key)).toEqual([
      { type: 'email.failed', actor: SYSTEM, data: { ...stateOf(invite, 'pending'), emailId, reason: 'refused' } },
    ])
  })

  it('records an outdated link, and used-up retries', async () => {
    const { key, invite } = await makeInvite({ status: 'revoked' })
    const obsolete = await settled(await queueMail(service, invite))
    const waiting = await makeEmail(invite)
    await recordEmailAttempt(
      service.system,
      { id: waiting, organizationId: invite.organizationId },
      { state: 'queued', reason: 'later' },
    )
    await giveUpEmail(service.system, { id: waiting, organizationId: invite.organizationId })
    await giveUpEmail(service.system, { id: waiting, organizationId: invite.organizationId })
    expect((await readEvents(key)).map(({ data }) => [data.emailId, data.reason])).toEqual([
      [obsolete.id, 'obsolete'],
      [waiting, 'given_up'],
    ])
  })

  it('records nothing when it is captured for a test invite', async () => {
    const { key, invite } = await makeInvite({ mode: 'test' }, 'test')
    expect(await settled(await queueMail(service, invite))).toMatchObject({ state: 'captured' })
    expect(await readEvents(key)).toEqual([])
  })

  it('has the state that a concurrent move committed first', async () => {
    const { key, invite } = await makeInvite()
    const emailId = await makeEmail(invite)
    const recorded = await inTransaction(service.system, async ({ db }) => {
      await db.$executeRaw`UPDATE invites SET status = 'revoked' WHERE id = ${invite.id}::uuid`
      const recording = recordEmailAttempt(
        service.system,
        { id: emailId, organizationId: invite.organizationId },
        { state: 'sent' },
      )
      await waitUntil('the mail to wait for the invite', async () => {
        const [{ waiting }] = await service.db.$queryRaw<[{ waiting: boolean }]>`
          SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()) AS waiting`
        return waiting
      })
      return { recording }
    })
    await recorded.recording
    expect(await readEvents(key)).toEqual([
      { type: 'email.sent', actor: SYSTEM, data: { ...stateOf(invite, 'revoked'), emailId } },
    ])
  })

  /** Creates a mail without a job, so that no worker sends it. */
  async function makeEmail({ id: inviteId, organizationId }: Invite): Promise<string> {
    const now = service.clock.now()
    const row = { id: service.deps.newId(), organizationId, inviteId, linkVersion: 1, createdAt: now, updatedAt: now }
    return (await service.db.inviteEmail.create({ data: row })).id
  }
})

describe('an event', () => {
  it('is rolled back with its transaction', async () => {
    const { key, invite } = await makeInvite()
    const failed = inTransaction(service.system, async (ctx) => {
      await recordEvents(ctx, [inviteEvents.revoked(invite)])
      throw new Error('after all not')
    })
    await expect(failed).rejects.toThrow('after all not')
    expect(await readEvents(key)).toEqual([])
  })

  it("rolls back its move if it can't be recorded", async () => {
    const { key, invite, client } = await makeInvite()
    await service.db.$executeRaw`ALTER TABLE events RENAME TO hidden`
    const { status } = await client
      .post(`/invites/${invite.id}/revoke`)
      .send({})
      .then((answer) => answer)
      .finally(() => service.db.$executeRaw`ALTER TABLE hidden RENAME TO events`)
    expect(status).toBe(500)
    expect((await client.get(`/invites/${invite.id}`)).body.status).toBe('pending')
    expect(await readEvents(key)).toEqual([])
  })
})

it("shows a key the events of the invites it can read, and none of another organization's", async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { key: testKey } = await createApiKey(service.system, { organizationId, name: 'Trials', mode: 'test' })
  const assessment = await service.make.assessment(organizationId)
  const invites = [
    await service.make.invite(assessment, { mode: 'live' }),
    await service.make.invite(assessment, { mode: 'test' }),
  ]
  const [live, test] = invites.map(({ id }) => id)
  await service.v1(key).post(`/invites/${live}/revoke`).send({}).expect(200)
  await service.v1(testKey).post(`/invites/${test}/revoke`).send({}).expect(200)
  const readInviteIds = async (of: string, query: Record<string, string>) =>
    (await readEvents(of, query)).map(({ data }) => data.inviteId)
  for (const query of [{}, { mode: 'all' }, { mode: 'live' }]) expect(await readInviteIds(key, query)).toEqual([live])
  for (const query of [{}, { mode: 'all' }, { mode: 'test' }]) expect(await readInviteIds(testKey, query)).toEqual([test])
  expect([await readInviteIds(key, { mode: 'test' }), await readInviteIds(testKey, { mode: 'live' })]).toEqual([[], []])
  const stranger = await service.make.organization()
  expect(await readEvents(stranger.key, { mode: 'all' })).toEqual([])
  expect(await readEvents(stranger.key, { mode: 'all', inviteId: live! })).toEqual([])
})
