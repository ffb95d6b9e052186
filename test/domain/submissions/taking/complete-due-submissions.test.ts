import { describe, expect, it } from 'vitest'
import { completeDueSubmissions } from '../../../../src/domain/submissions/taking/complete-due-submissions.ts'
import { endSubmissionsOfClosedInvites } from '../../../../src/domain/submissions/taking/end-submissions-of-closed-invites.ts'
import { openMissingSubmissions } from '../../../../src/domain/submissions/taking/open-missing-submissions.ts'
import { runSweep } from '../../../support/run-sweep.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'
import { makeAccepted, makeTaking } from '../../../support/taking.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const GRACE_MS = 30_000

const sweep = () => completeDueSubmissions(service.system)

describe('a submission past its deadline', () => {
  it('is completed by the sweep with its saved answers, even if the candidate never came back', async () => {
    const { candidate, stored, submission, paper, texts } = await makeTaking(service, { timeLimit: 60 })
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, 'As far as I came', 'save')
    service.clock.advance(60_000 + GRACE_MS - 1)
    await sweep()
    expect((await stored()).status).toBe('started')
    service.clock.advance(1)
    await sweep()
    expect(await stored()).toMatchObject({ status: 'completed', completedAt: service.clock.now() })
    const { deadlineAt, ...handedIn } = await submission()
    expect(handedIn).toMatchObject({ state: 'submitted', submittedAt: service.clock.now() })
    expect((await paper()).map(({ closedAt }) => closedAt)).toEqual([deadlineAt, null])
    expect(await texts()).toEqual(['As far as I came'])
    const before = await stored()
    await sweep()
    expect(await stored()).toEqual(before)
  })

  it('records one event, with the system as its actor', async () => {
    const { invite } = await makeTaking(service, { timeLimit: 60 })
    service.clock.advance(60_000 + GRACE_MS)
    await Promise.all([sweep(), sweep(), sweep()])
    const events = await service.db.event.findMany({ where: { inviteId: invite.id, type: 'invite.completed' } })
    expect(events.map(({ actorType }) => actorType)).toEqual(['system'])
  })

  it('is completed if only its last question has a time limit', async () => {
    const { candidate, stored } = await makeTaking(service, { questions: [{ timeLimit: 10 }, { timeLimit: 60 }] })
    await candidate.press('open', { number: '1' })
    service.clock.advance(3_600_000)
    await sweep()
    expect((await stored()).status).toBe('started') // the second can still be answered
    await candidate.press('open', { number: '2' })
    service.clock.advance(60_000 + GRACE_MS)
    await sweep()
    expect((await stored()).status).toBe('completed')
  })

  it('stays in progress without a time limit', async () => {
    const unlimited = await makeTaking(service)
    service.clock.advance(86_400_000)
    await sweep()
    await endSubmissionsOfClosedInvites(service.system)
    expect([(await unlimited.stored()).status, (await unlimited.submission()).state]).toEqual(['started', 'in_progress'])
  })

  itSlow('is completed with hundreds of others, without waiting for a locked one', async () => {
    const held = await makeTaking(service, { timeLimit: 60 })
    const { invite, submission } = await makeTaking(service, { timeLimit: 60 })
    const { id } = await submission()
    await service.db.$executeRaw`
      WITH ids AS (SELECT gen_random_uuid() AS invite_id, gen_random_uuid() AS id FROM generate_series(1, 220)),
      made AS (
        INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object(
          'id', ids.invite_id, 'recipient_email', ids.invite_id, 'assessment_session', ids.id))).*
        FROM invites i, ids WHERE i.id = ${invite.id}::uuid RETURNING id
      )
      INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object('id', ids.id, 'invite_id', ids.invite_id))).*
      FROM submissions s, ids WHERE s.id = ${id}::uuid`
    service.clock.advance(60_000 + GRACE_MS)
    await service.db.$transaction(
      async (tx) => {
        await tx.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0`
        await tx.$executeRaw`SELECT FROM invites WHERE id = ${held.invite.id}::uuid FOR UPDATE`
        await sweep()
        const completed = { organizationId: invite.organizationId, status: 'completed' } as const
        await waitUntil(
          'all but the held one',
          async () => (await service.db.invite.count({ where: completed })) === 221 || undefined,
        )
        expect((await held.stored()).status).toBe('started')
      },
      { timeout: PATIENT.timeout },
    ) // the row has to stay locked even if a busy machine needs long
    await sweep()
    await waitUntil('the held one', async () => (await held.stored()).status === 'completed' || undefined)
  })

  it('gets one consistent outcome if the candidate finishes, or the organization revokes, at the same time', async () => {
    for (let round = 0; round < 6; round++) {
      const { candidate, organization, invite, stored, submission } = await makeTaking(service, { timeLimit: 60 })
      service.clock.advance(60_000 + GRACE_MS)
      const revoke = () => service.v1(organization.key).post(`/invites/${invite.id}/revoke`)
      await Promise.all([sweep(), round % 2 ? candidate.press('finish') : revoke()])
      await sweep()
      await endSubmissionsOfClosedInvites(service.system)
      const [{ status }, { state }] = [await stored(), await submission()]
      expect([
        ['completed', 'submitted'],
        ['revoked', 'withdrawn'],
      ]).toContainEqual([status, state])
    }
  })
})

describe('a submission whose invite has ended', () => {
  it.each(['revoked', 'declined', 'reactivated'])('is withdrawn if the invite was %s, and accepts nothing more', async (how) => {
    const { candidate, organization, invite, submission, tab } = await makeTaking(service, { timeLimit: 60 })
    await candidate.press('open', { number: '1' })
    const operate = (operation: string) => service.v1(organization.key).post(`/invites/${invite.id}/${operation}`)
    if (how === 'declined') await candidate.press('decline')
    else await operate('revoke')
    if (how === 'reactivated') await operate('reactivate')
    expect(await endSubmissionsOfClosedInvites(service.system)).toBe(1)
    expect(await endSubmissionsOfClosedInvites(service.system)).toBe(0)
    expect((await submission()).state).toBe('withdrawn')
    const late = await candidate.session('put', '/questions/1/text', { tab, body: { text: 'Late', revision: 1 } })
    expect(late.body.code).toBe(how === 'reactivated' ? 'invite_not_found' : 'closed')
  })

  it('is submitted if a player has completed its invite', async () => {
    const { invite, submission, paper, candidate } = await makeTaking(service)
    await candidate.press('open', { number: '1' })
    await service.db.invite.update({ where: { id: invite.id }, data: { status: 'completed', completedAt: service.clock.now() } })
    expect(await endSubmissionsOfClosedInvites(service.system)).toBe(1)
    expect(await submission()).toMatchObject({ state: 'submitted', submittedAt: service.clock.now() })
    expect((await paper())[0]!.closedAt).toEqual(service.clock.now())
  })

  it('is left to the next sweep while its invite is locked', async () => {
    const { invite, submission } = await makeTaking(service)
    await service.db.invite.update({ where: { id: invite.id }, data: { status: 'completed', completedAt: service.clock.now() } })
    await service.db.$transaction(
      async (tx) => {
        await tx.$executeRaw`SELECT FROM invites WHERE id = ${invite.id}::uuid FOR UPDATE`
        expect(await endSubmissionsOfClosedInvites(service.system)).toBe(0)
        expect((await submission()).state).toBe('in_progress')
      },
      { timeout: PATIENT.timeout },
    )
    expect(await endSubmissionsOfClosedInvites(service.system)).toBe(1)
  })
})

describe('an invite started before submissions existed', () => {
  it('gets one submission with a paper and its whole time, and none if revoked', async () => {
    const assessmentSession = service.deps.newId()
    const made = await makeAccepted(service, { status: 'started', timeLimit: 60, assessmentSession })
    const nameless = await makeAccepted(service, { status: 'started' })
    const withdrawn = await makeAccepted(service, { status: 'revoked', assessmentSession: service.deps.newId() })
    await Promise.all([openMissingSubmissions(service.system), openMissingSubmissions(service.system)])
    expect(await openMissingSubmissions(service.system)).toBe(0)
    const deadlineAt = new Date(service.clock.now().getTime() + 60_000)
    expect(await made.submission()).toMatchObject({ id: assessmentSession, state: 'in_progress', deadlineAt })
    expect((await made.paper()).map(({ script }) => script)).toEqual(['What is 1?', 'What is 2?'])
    expect((await nameless.submission()).id).toBe((await nameless.stored()).assessmentSession)
    expect(await service.db.submission.count({ where: { inviteId: withdrawn.invite.id } })).toBe(0)
  })
})

describe('the sweep', () => {
  it('completes due submissions, withdraws ended ones, and creates missing ones', async () => {
    const left = await makeTaking(service)
    await left.candidate.press('decline')
    const due = await makeTaking(service, { timeLimit: 60 })
    const lacking = await makeAccepted(service, { status: 'started' })
    service.clock.advance(60_000 + GRACE_MS)
    await runSweep(service)
    await waitUntil('the due submission', async () => (await due.stored()).status === 'completed' || undefined)
    await waitUntil('the one that was left', async () => (await left.submission()).state === 'withdrawn' || undefined)
    await waitUntil('the lacking one', () =>
      service.db.submission.findFirst({ where: { inviteId: lacking.invite.id } }).then((found) => found ?? undefined),
    )
  })

  it('creates no submissions if an external player is configured', async () => {
    const withPlayer = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
    await makeAccepted(withPlayer, { status: 'started', assessmentSession: withPlayer.deps.newId() })
    await runSweep(withPlayer, ['create_missing_submissions'])
    const isDone = async () =>
      /part="create_missing_submissions",outcome="done"\} [1-9]/.test(await withPlayer.metrics.registry.metrics())
    await waitUntil('the end of the sweep', async () => (await isDone()) || undefined)
    expect(await withPlayer.db.submission.count()).toBe(0)
  })
})
