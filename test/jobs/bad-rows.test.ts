import { expect, it, onTestFinished } from 'vitest'
import { expireAllDueInvites } from '../../src/domain/invites/expire-due-invites.ts'
import { completeDueSubmissions } from '../../src/domain/submissions/taking/complete-due-submissions.ts'
import { DAY_MS } from '../support/factories.ts'
import { startServiceForFile } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { makeTaking } from '../support/taking.ts'

// A failing row, or a batch that takes too long, must delay neither later rows nor other organizations' rows.
const service = await startServiceForFile({ ROLE: 'api' })

/** Creates an organization with due invites. `first` is the first in the sweep's order. */
async function makeDue(count: number) {
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const expiresAt = new Date(service.clock.now().getTime() - DAY_MS)
  const first = await service.make.invite(assessment, { expiresAt, sentAt: expiresAt })
  await service.db.$executeRaw`
    INSERT INTO invites SELECT (jsonb_populate_record(i, jsonb_build_object('id', gen_random_uuid(), 'recipient_email', 'due-' || n || '@example.com'))).*
    FROM invites i, generate_series(2, ${count}::int) n WHERE i.id = ${first.id}::uuid`
  const left = () => service.db.invite.count({ where: { organizationId, status: 'pending' } })
  return { key, first, left }
}

/**
 * Makes updates of a table fail with an error code if the condition is true for the changed rows, until the test ends.
 *
 * @returns a function that ends it earlier.
 */
async function failUpdates(table: string, condition: string, code: string): Promise<() => Promise<void>> {
  const { db } = service
  await db.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION fail_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF ${condition} THEN RAISE EXCEPTION 'failed on purpose' USING ERRCODE = '${code}'; END IF; RETURN NULL; END $$`)
  await db.$executeRawUnsafe(`CREATE TRIGGER fail AFTER UPDATE ON ${table}
    REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION fail_${table}()`)
  const stopFailing = async () => void (await db.$executeRawUnsafe(`DROP TRIGGER IF EXISTS fail ON ${table}`))
  onTestFinished(stopFailing)
  return stopFailing
}

itSlow('expires invites in smaller batches if a batch times out, for the sweep and for a list', async () => {
  const [bySweep, byList] = [await makeDue(2_100), await makeDue(2_100)]
  // Fails large batches like a time limit, but independently of the machine's speed.
  await failUpdates('invites', '(SELECT count(*) FROM gone) > 300', '57014')
  const { status, body } = await service.v1(byList.key).get('/invites?status=expired')
  expect([status, body.pagination.total]).toEqual([200, 2_100])
  await expireAllDueInvites(service.system)
  expect(await bySweep.left()).toBe(0)
})

it('expires all invites except a failing one, and reports it at the end', async () => {
  const [bad, other] = [await makeDue(50), await makeDue(3)]
  await failUpdates('invites', `EXISTS (SELECT FROM come WHERE id = '${bad.first.id}' AND status = 'expired')`, 'XX000')
  await expect(expireAllDueInvites(service.system)).rejects.toThrow('1 could not be worked on')
  expect([await bad.left(), await other.left()]).toEqual([1, 0])
  const { status, body } = await service.v1(bad.key).get('/invites')
  expect([status, body.pagination.total]).toEqual([200, 50])
})

it.each([
  ['55P03', 'is locked'],
  ['40P01', 'would be a deadlock'],
])('expires all invites except the one for which %s says %s, and that one in the next sweep', async (code) => {
  const [bad, other] = [await makeDue(5), await makeDue(3)]
  const stopFailing = await failUpdates(
    'invites',
    `EXISTS (SELECT FROM come WHERE id = '${bad.first.id}' AND status = 'expired')`,
    code,
  )
  await expect(expireAllDueInvites(service.system)).rejects.toThrow('1 could not be worked on')
  expect([await bad.left(), await other.left()]).toEqual([1, 0])
  await stopFailing()
  expect(await expireAllDueInvites(service.system)).toBeGreaterThan(0)
  expect(await bad.left()).toBe(0)
})

it('submits all overdue submissions except a failing one', async () => {
  const bad = await makeTaking(service, { timeLimit: 60 })
  service.clock.advance(1_000)
  const other = await makeTaking(service, { timeLimit: 60 })
  service.clock.advance(DAY_MS)
  const { id } = await bad.submission()
  await failUpdates('submissions', `EXISTS (SELECT FROM come WHERE id = '${id}' AND state = 'submitted')`, 'XX000')
  await expect(completeDueSubmissions(service.system)).rejects.toThrow('1 could not be worked on')
  expect((await other.submission()).state).toBe('submitted')
  expect((await bad.submission()).state).toBe('in_progress')
})
