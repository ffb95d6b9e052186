// Run by hand: node test/bench/reminders.ts [invites]. Measures the reminder sweep's statement with this many invites in 100 organizations that
// have one rule each, both with no reminder due and with 500 due. Then prints PostgreSQL's plan.
import { v7 as uuidv7 } from 'uuid'
import { builder } from '../../src/db/builder.ts'
import { queueDueReminders } from '../../src/db/statements-by-hand/due-reminders.ts'
import {
  MAX_DELAY_MS,
  MAX_REMINDERS,
  MIN_BEFORE_EXPIRY_MS,
  MIN_MAIL_INTERVAL_MS,
} from '../../src/domain/invites/reminders/reminder-steps.ts'
import { startDatabase } from './database.ts'
import { endOnSignals, runCleanups } from './endings.ts'

const INVITES = Number(process.argv[2] ?? 1_000_000)
const RULES = 100
const DUE = 500
const ROUNDS = 9
const LIMITS = {
  most: MAX_REMINDERS,
  apart: MIN_MAIL_INTERVAL_MS,
  tooLate: MAX_DELAY_MS,
  tooShort: MIN_BEFORE_EXPIRY_MS,
  rows: DUE,
}
const STEPS = [
  { after: 'sent', hours: 72, states: ['pending', 'accepted', 'started'] },
  { after: 'started', hours: 24, states: ['started'] },
  { after: 'before_expiry', hours: 48, states: ['pending', 'accepted'] },
]
const now = new Date()

endOnSignals()
const { pool } = await startDatabase()
await pool.query(
  `INSERT INTO organizations (id, name, name_key, created_at, updated_at)
   SELECT uuidv7(), 'Organization ' || n, 'organization ' || n, now(), now() FROM generate_series(1, ${RULES}) n`,
)
await pool.query(
  `INSERT INTO assessments (id, organization_id, name, name_key, name_search, skill_types, created_at, updated_at)
   SELECT uuidv7(), id, 'Assessment', 'assessment', 'assessment', '{}', now(), now() FROM organizations`,
)
await pool.query(
  `INSERT INTO reminder_rules (organization_id, id, steps, quiet_from, quiet_until, on_days_off, active_since, updated_at)
   SELECT id, uuidv7(), $1, 0, 0, true, '1970-01-01', now() FROM organizations`,
  [JSON.stringify(STEPS)],
)
// Triggers that count rows are not measured. Creating the indexes after the rows takes a tenth of the time.
const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
  `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
   WHERE tablename IN ('invites', 'invite_emails') AND indexname NOT LIKE '%pkey' AND indexname NOT LIKE '%organization_id_key'`,
)
for (const { name } of indexes) await pool.query(`DROP INDEX "${name}"`)
const filling = await pool.connect()
await filling.query('SET session_replication_role = replica')
// A year of invites, most of them completed or expired. One in 20 is pending, and one in 50 is started but not submitted.
await filling.query(
  `INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit, answer_record_limit, screen_recording,
     webcam_monitoring, require_id_capture, face_photo_required, sent_at, started_at, expires_at, created_at, updated_at)
   SELECT uuidv7(sent_at - now()), organization_id, id, 'c' || n || '@example.com',
     (CASE WHEN n % 20 = 0 THEN 'pending' WHEN n % 50 = 1 THEN 'started' WHEN n % 3 = 0 THEN 'expired' ELSE 'completed' END)::invite_status,
     1, 1, false, false, false, false, sent_at, CASE WHEN n % 50 = 1 THEN sent_at END, sent_at + interval '30 days', sent_at, sent_at
   FROM (SELECT n, now() - (n % 8760) * interval '1 hour' - interval '30 minutes' AS sent_at, a.organization_id, a.id
     FROM generate_series(1, ${INVITES}) n
     JOIN (SELECT *, row_number() OVER (ORDER BY id) - 1 AS place FROM assessments) a ON a.place = n % ${RULES}) made`,
)
await filling.query(
  `INSERT INTO invite_emails (id, organization_id, invite_id, link_version, state, sent_at, created_at, updated_at)
   SELECT uuidv7(), organization_id, id, 1, 'sent', sent_at, sent_at, sent_at FROM invites`,
)
filling.release(true)
for (const { name, definition } of indexes) if (!name.includes('_grams_')) await pool.query(definition)
await pool.query('ANALYZE')

const statementFor = () => {
  const ids = Array.from({ length: DUE }, () => uuidv7())
  const { sql: text, parameters } = queueDueReminders(now, ids, LIMITS).compile(builder)
  return { text, values: [...parameters] }
}
const queue = async () => {
  const { text, values } = statementFor()
  const begun = performance.now()
  const { rowCount } = await pool.query(text, values)
  return { ms: performance.now() - begun, queued: rowCount ?? 0 }
}
for (let some = await queue(); some.queued > 0; some = await queue());
process.stdout.write(`${INVITES.toLocaleString('en')} invites, ${RULES} rules; what was due is queued.\n`)

const report = (what: string, times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b)
  process.stdout.write(
    `${what}: median ${sorted[ROUNDS >> 1]!.toFixed(0)} ms, from ${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)}\n`,
  )
}
const rounds = async (prepare: () => Promise<unknown>, expected: number) => {
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    await prepare()
    const { ms, queued } = await queue()
    if (queued !== expected) throw new Error(`${queued} were queued, not ${expected}`)
    times.push(ms)
  }
  return times
}
report('none is due', await rounds(async () => {}, 0))
const MAKE_DUE = `DELETE FROM invite_emails WHERE id IN (SELECT id FROM invite_emails WHERE dedupe_key LIKE 'reminder:%' LIMIT ${DUE})`
report(`${DUE} are due`, await rounds(() => pool.query(MAKE_DUE), DUE))
await pool.query(MAKE_DUE)
const { text, values } = statementFor()
const plan = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${text}`, values)
process.stdout.write(`${plan.rows.map((row) => row['QUERY PLAN']).join('\n')}\n`)
await runCleanups()
