import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { createBatch } from '../../src/domain/invites/batches/batches.ts'
import { startBatch } from '../../src/domain/invites/batches/control-batch.ts'
import { readerOf } from '../support/candidate-lists.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const ROWS = scaled(600, 10_000)
const KILLS = scaled(2, 5)
/** A killed process's job counts as lost after 10 s without a heartbeat, and its retry waits 10 to 40 s. The machine may be busy. */
const RECOVERY_MS = LONG ? 900_000 : 300_000

/** Returns a list in which every tenth row is invalid: no address, a repeated address, or an unknown tag. */
function makeList(): { list: string; good: string[] } {
  const good: string[] = []
  const rows = Array.from({ length: ROWS }, (_, i) => {
    if (i % 10 !== 9) {
      good.push(`candidate-${i}@example.com`)
      return `candidate-${i}@example.com,Candidate ${i},`
    }
    return [`no address ${i},,`, `CANDIDATE-${i - 1}@example.com,,`, `other-${i}@example.com,,nowhere`][Math.floor(i / 10) % 3]!
  })
  return { list: `email,name,tags\n${rows.join('\n')}\n`, good }
}

it(`invites each valid row of ${ROWS} exactly once, despite kills`, async () => {
  const { list, good } = makeList()
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, make, url } = database
  const { id: organizationId, name } = await make.organization()
  const assessment = await make.assessment(organizationId)
  await make.question(assessment)
  const { id: assessmentId } = assessment
  const member = await make.member(organizationId, { roles: ['admin'] })
  const launch = () => startProcess({ DATABASE_URL: url })
  let running = await launch()

  // This process adds the job to the queue that the service has created.
  const gate = await startServiceForTest({ DATABASE_URL: url, ROLE: 'api' })
  const actor = { kind: 'member' as const, id: member.id, userId: member.userId, roles: member.roles }
  const ctx: Context = enterOrganization({ ...gate.system, actor }, { id: organizationId, name, tier: 'standard' }, 'live')
  const since = performance.now()
  const id = await createBatch(ctx, { assessmentId, readList: readerOf(list), terms: {} })
  process.stdout.write(`${ROWS} rows checked in ${Math.round(performance.now() - since)} ms\n`)
  await startBatch(ctx, id)

  const countInvited = () => db.invite.count({ where: { organizationId } })
  for (let kill = 1; kill <= KILLS; kill++) {
    const half = Math.floor((good.length * kill) / (KILLS + 1))
    await waitUntil('more invites', async () => ((await countInvited()) >= half ? true : undefined), RECOVERY_MS)
    await sleep(Math.random() * 20)
    running.kill('SIGKILL')
    await running.exited
    process.stdout.write(`killed at ${await countInvited()} of ${good.length}\n`)
    running = await launch()
  }
  const isFinished = async () => (await db.inviteBatch.findUniqueOrThrow({ where: { id } })).finishedAt ?? undefined
  await waitUntil('the batch to finish', isFinished, RECOVERY_MS)

  const invites = await db.invite.findMany({ where: { organizationId }, include: { emails: true } })
  expect(invites.map(({ recipientEmail }) => recipientEmail).sort()).toEqual([...good].sort())
  expect(invites.filter(({ emails, createdById }) => emails.length !== 1 || createdById !== member.id)).toEqual([])
  const counts = await db.inviteBatchRow.groupBy({
    by: ['state'],
    where: { batchId: id },
    _count: true,
    orderBy: { state: 'asc' },
  })
  const byState = Object.fromEntries(counts.map(({ state, _count }) => [state, _count]))
  expect(byState).toMatchObject({ invited: good.length })
  expect(byState).not.toHaveProperty('ready')
  expect(byState).not.toHaveProperty('already')
})
