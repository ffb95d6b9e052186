import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadDemo } from '../../src/demo/load-demo.ts'
import demo from '../../src/demo/organization.json' with { type: 'json' }
import { findReadyAsset, readAsset } from '../../src/domain/assets/assets.ts'
import { assetIdIn } from '../../src/domain/assets/references.ts'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { expireAllDueInvites } from '../../src/domain/invites/expire-due-invites.ts'
import { INVITE_STATUSES } from '../../src/domain/invites/invites.ts'
import { compareResults } from '../../src/domain/submissions/grading/compare-results.ts'
import { listQueue, type QueuedSubmission } from '../../src/domain/submissions/grading/queue.ts'
import { completeDueSubmissions } from '../../src/domain/submissions/taking/complete-due-submissions.ts'
import { endSubmissionsOfClosedInvites } from '../../src/domain/submissions/taking/end-submissions-of-closed-invites.ts'
import { openMissingSubmissions } from '../../src/domain/submissions/taking/open-missing-submissions.ts'
import { SubmissionState } from '../../src/generated/prisma/enums.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { definedKinds } from '../../src/kinds/index.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

test('loads the organization of a first start, with every kind of question and member', async () => {
  const { system, db } = await startServiceForTest()
  const { organizations } = await importDocument(system, readDocument(demo))
  expect(organizations).toEqual([{ id: expect.any(String), name: 'Northwind Talent' }])
  const kinds = ['text', 'audio', 'video']
  const scored = definedKinds.filter(({ files }) => !files).flatMap(({ words }) => words)
  const questions = await db.question.findMany()
  expect(new Set(questions.map(({ inputType }) => inputType))).toEqual(new Set(kinds))
  expect(new Set(questions.map(({ responseType }) => responseType))).toEqual(new Set([...kinds, ...scored]))
  const members = await db.member.findMany()
  expect(new Set(members.flatMap(({ roles }) => roles))).toEqual(new Set(['admin', 'grader', 'client']))
  expect(members.filter(({ status }) => status === 'inactive')).toHaveLength(1)
})

test('has a practice assessment in the demo, except with an external player', async () => {
  const { db } = await startWithDemo()
  expect(await db.assessment.findMany({ where: { practice: true } })).toMatchObject([{ questionCount: 6 }])
  const elsewhere = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
  await loadDemo(elsewhere.system)
  expect([await elsewhere.db.questionVersion.count(), await elsewhere.db.assessment.count()]).toEqual([0, 7])
})

test("plays the demo's prompts from the service, and none from elsewhere", async () => {
  const { db, deps, ctx } = await startWithDemo()
  const heard = await db.question.findMany({ where: { inputType: { not: 'text' } } })
  expect(heard).toHaveLength(5)
  for (const { inputType, audioUrl, videoUrl } of heard) {
    const asset = await findReadyAsset(ctx, assetIdIn(audioUrl || videoUrl)!)
    expect([asset.kind, asset.contentType]).toEqual([inputType, `${inputType}/mp4`])
    expect((await buffer(await readAsset({ deps }, asset))).length).toBe(Number(asset.bytes))
  }
  const elsewhere = { OR: [{ audioUrl: { startsWith: 'http' } }, { videoUrl: { startsWith: 'http' } }] }
  expect(await db.question.count({ where: elsewhere })).toBe(0)
})

test('has an open link in the demo, whose mail is captured if there is no mail server', async () => {
  const { db, http, loaded } = await startWithDemo()
  const path = new URL(loaded.openLink).pathname
  const form = await http().get(path)
  expect([form.status, form.text.includes('Spanish and English, interpreting')]).toEqual([200, true])
  await http().post(`${path}/register`).type('form').send({ name: 'Sam', email: 'sam@example.com', language: 'en' }).expect(200)
  await waitUntil('the mail', async () => (await db.registration.findFirst())?.state === 'captured' || undefined)
})

/** Starts a service and loads the demo like a first start. */
async function startWithDemo() {
  const service = await startServiceForTest()
  const { system } = service
  const loaded = (await loadDemo(system))!
  const past = { NOT: { recipientEmail: 'candidate@example.com' } }
  const admin = await service.db.member.findFirstOrThrow({ where: { email: loaded.portalLink.email } })
  const ctx: Context = enterOrganization(
    { ...system, actor: { kind: 'member', id: admin.id, userId: admin.userId, roles: admin.roles } },
    { ...loaded.organization, tier: 'standard' },
    'live',
  )
  return { ...service, loaded, past, ctx }
}

test('has demo invites of the last month in every state, in time order, and failed mails but none queued', async () => {
  const { system, db, past: where } = await startWithDemo()
  const past = await db.invite.findMany({ where, include: { emails: true } })
  expect(new Set(past.map(({ status }) => status))).toEqual(new Set(INVITE_STATUSES))
  expect(past.filter(({ declinedAt }) => declinedAt).length).toBeGreaterThan(0)
  expect(new Set(past.map(({ recipientEmail }) => recipientEmail)).size).toBe(past.length)
  for (const { createdAt, acceptedAt, startedAt, completedAt, revokedAt } of past) {
    const stamps = [createdAt, acceptedAt, startedAt, completedAt, revokedAt, system.deps.clock()].filter((at) => at !== null)
    expect(stamps).toEqual(stamps.toSorted((a, b) => a.getTime() - b.getTime()))
  }
  expect(new Set(past.flatMap(({ emails }) => emails.map(({ state }) => state)))).toEqual(new Set(['captured', 'failed']))
  const unreached = past.filter(({ emails }) => emails.some(({ state }) => state === 'failed'))
  expect(new Set(unreached.map(({ status }) => status))).toEqual(new Set(['pending']))
})

test('has demo submissions in every state, one for each completed invite, with answers and no recording', async () => {
  const { db, clock } = await startWithDemo()
  const submissions = await db.submission.findMany({
    include: { invite: true, paper: { include: { attempts: true } }, releases: true },
  })
  expect(new Set(submissions.map(({ state }) => state))).toEqual(new Set(Object.values(SubmissionState)))
  for (const { state, invite, paper, releases, ...submission } of submissions) {
    const { consentAt, startedAt, submittedAt, releasedAt } = submission
    const stamps = [invite.acceptedAt, consentAt, startedAt, submittedAt, releasedAt, clock.now()].filter((at) => at !== null)
    expect(stamps).toEqual(stamps.toSorted((a, b) => a.getTime() - b.getTime()))
    const isHandedIn = state === 'submitted' || state === 'released'
    expect(isHandedIn).toBe(invite.status === 'completed')
    if (isHandedIn) expect(paper.map(({ attempts }) => attempts.map(({ kind }) => kind))).toEqual(paper.map(() => ['text']))
    expect(releases.length > 0).toBe(releasedAt !== null)
    if (state === 'released') expect(releasedAt).not.toBe(null)
  }
  const completed = await db.invite.findMany({ where: { status: 'completed' }, include: { submissions: true } })
  expect(completed.map((invite) => invite.submissions.map(({ id }) => id))).toEqual(
    completed.map(({ assessmentSession }) => [assessmentSession]),
  )
  expect(await db.mediaFile.count()).toBe(0)
  // Submissions in progress have no deadline, so they stay in progress no matter how long the demo runs.
  const begun = submissions.filter(({ state }) => state === 'in_progress')
  expect(begun.filter(({ deadlineAt }) => deadlineAt !== null)).toEqual([])
})

test('has demo submissions in every grading state, and results with several versions', async () => {
  const { ctx, db } = await startWithDemo()
  const page = { number: 1, size: 100 }
  const { items } = await listQueue(ctx, { queue: 'all' }, page)
  expect((await listQueue(ctx, { queue: 'mine' }, page)).total).toBeGreaterThan(0)
  const stageOf = ({ releasedAt, progress, assessment, graderId, secondGraderId }: QueuedSubmission) => {
    const { ungraded, undecided, questions } = progress!
    if (releasedAt) return 'reopened'
    if (undecided.length > 0) return 'undecided'
    if (ungraded.length === 0) return 'graded'
    if (secondGraderId) return 'graded by one of two'
    if (ungraded.length < questions) return 'graded in part'
    return graderId || assessment.secondGrader ? 'ungraded' : 'of nobody'
  }
  expect(items.map(stageOf).toSorted()).toEqual([
    'graded',
    'graded by one of two',
    'graded in part',
    'of nobody',
    'reopened',
    'undecided',
    'ungraded',
  ])
  const releases = await db.release.groupBy({ by: ['submissionId'], _count: true, _max: { points: true } })
  expect(new Set(releases.map(({ _count }) => _count))).toEqual(new Set([1, 2]))
  expect(await db.release.count({ where: { toCandidate: true } })).toBeGreaterThan(0)
})

test('has four candidates to compare in the demo, graded by the rubric of a template, with decisions', async () => {
  const { ctx, db } = await startWithDemo()
  const released = await db.submission.findMany({ where: { decidedAt: { not: null } }, include: { assessment: true } })
  expect(new Set(released.map(({ assessment }) => assessment.name))).toEqual(new Set(['Customer support in writing']))
  expect(new Set(released.map(({ decision }) => decision))).toEqual(new Set(['advance', 'shortlist', 'reject', 'hold']))
  const { people, questions } = await compareResults(
    ctx,
    released.map(({ id }) => id),
    { names: true },
  )
  const totals = people.map(({ result }) => result.percent!)
  expect(totals).toEqual(totals.toSorted((one, other) => other - one))
  expect(new Set(totals).size).toBe(4)
  expect(questions.map(({ criteria }) => criteria.length)).toEqual([4, 4, 4, 4, 4, 4])
  for (const { cells } of questions.flatMap(({ criteria }) => criteria)) expect(cells).not.toContain(undefined)
  const templates = await db.assessment.findMany({
    where: { name: { in: ['Customer support in writing', 'Translation, English and Spanish'] } },
  })
  expect(templates.map(({ questionCount }) => questionCount).toSorted()).toEqual([4, 6])
})

test('leaves nothing in the demo for the sweep to correct', async () => {
  const { system } = await startWithDemo()
  expect({
    expired: await expireAllDueInvites(system),
    opened: await openMissingSubmissions(system),
    completed: await completeDueSubmissions(system),
    ended: await endSubmissionsOfClosedInvites(system),
  }).toEqual({ expired: 0, opened: 0, completed: 0, ended: 0 })
})

test('has demo events in time order, and sends only one invitation', async () => {
  const { db, clock } = await startWithDemo()
  const events = await db.event.findMany({ orderBy: { sequence: 'asc' } })
  const times = events.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted((a, b) => a.getTime() - b.getTime()))
  expect(events.filter(({ createdAt }) => createdAt > clock.now())).toEqual([])
  expect(new Set(events.map(({ mode }) => mode))).toEqual(new Set(['live']))
  expect(await db.inviteEmail.count({ where: { state: 'queued' } })).toBeLessThanOrEqual(1) // the invitation that was just created
  expect(await db.webhookDelivery.count()).toBe(0)
})

test('creates the same demo each time, except for IDs and secrets', async () => {
  const described = async () => {
    const { db, deps } = await startWithDemo()
    const now = deps.clock().getTime()
    const rows = await db.submission.findMany({
      include: {
        invite: true,
        assessment: true,
        grades: true,
        paper: { include: { attempts: { orderBy: { createdAt: 'asc' } } }, orderBy: { number: 'asc' } },
        releases: true,
      },
      orderBy: [{ invite: { recipientEmail: 'asc' } }, { assessment: { name: 'asc' } }],
    })
    const hoursAgo = (at: Date | null) => at && Math.round((now - at.getTime()) / 3_600_000)
    return rows.map(({ invite, assessment, grades, paper, releases, ...row }) => ({
      who: [invite.recipientEmail, invite.status, assessment.name],
      is: [row.state, hoursAgo(row.startedAt), hoursAgo(row.submittedAt), hoursAgo(row.releasedAt)],
      answers: paper.map(({ number, attempts }) => [number, ...attempts.map(({ text }) => text)]),
      points: grades.map(({ questionNumber, round, points }) => `${questionNumber} ${round} ${points}`).toSorted(),
      releases: releases.map(({ version, points }) => `${version} ${points}`).toSorted(),
    }))
  }
  const [one, other] = [await described(), await described()]
  expect(other).toEqual(one)
})
