import type { RawBuilder } from 'kysely'
import { sql } from '../builder.ts'

// By hand: each step of each rule looks for its invites by an index of its own, which Kysely has no words for.

/** Limits of reminders, see domain/invites/reminders/reminder-steps.ts. Times are in milliseconds. */
export type ReminderLimits = { most: number; apart: number; tooLate: number; tooShort: number; rows: number }

const interval = (ms: number) => sql`${ms / 1_000}::float8 * interval '1 second'`

/** The steps of all rules that are on, for each state and mode one row. */
const STEPS = sql`
  SELECT rule.organization_id, rule.assessment_id, rule.active_since, rule.quiet_from, rule.quiet_until,
    CASE WHEN rule.on_days_off OR step.after = 'before_expiry' THEN '{}'::smallint[] ELSE organization.week_days_off END AS days_off,
    organization.time_zone AS zone, step.after, step.hours, step.hours * interval '1 hour' AS wait, state.state::invite_status, mode.mode::key_mode
  FROM reminder_rules rule
  JOIN organizations organization ON organization.id = rule.organization_id
  CROSS JOIN LATERAL jsonb_to_recordset(rule.steps) AS step (after text, hours int, states text[])
  CROSS JOIN LATERAL unnest(step.states) AS state (state)
  CROSS JOIN (VALUES ('live'), ('test')) AS mode (mode)
  WHERE rule.active_since IS NOT NULL`

/** Invites of a step by the column that its time counts from. Invites of one assessment use the index that begins with the assessment. */
const invitesOf = (after: 'sent' | 'before_expiry', ofAssessment: boolean, condition: RawBuilder<unknown>) => sql`
  SELECT invite.*, ${after === 'sent' ? sql`invite.sent_at + step.wait` : sql`invite.expires_at - step.wait`} AS due_at
  FROM invites invite
  WHERE step.after = ${sql.lit(after)} AND step.assessment_id IS ${ofAssessment ? sql`NOT NULL` : sql`NULL`}
    AND invite.organization_id = step.organization_id AND invite.mode = step.mode AND invite.status = step.state
    ${ofAssessment ? sql`AND invite.assessment_id = step.assessment_id` : sql``} AND ${condition}`

/**
 * Queues a batch of due reminders: the latest due reminder of each invite, and one mail per address. The dedupe key identifies reminders
 * that were queued before.
 *
 * @param ids ids for the mails, at least as many as may be queued.
 * @returns the queued mails.
 */
export const queueDueReminders = (
  now: Date,
  ids: readonly string[],
  limits: ReminderLimits,
): RawBuilder<{ id: string; organizationId: string }> => {
  const { most, apart, tooLate, tooShort, rows } = limits
  const time = sql`${now}::timestamptz`
  const since = sql`${time} - ${interval(tooLate)}`
  const isSentDue = sql`invite.sent_at > ${since} - step.wait AND invite.sent_at <= ${time} - step.wait`
  const isExpiryDue = sql`invite.expires_at > greatest(${since} + step.wait, ${time} + ${interval(tooShort)}) AND invite.expires_at <= ${time} + step.wait`
  return sql`
    WITH step AS MATERIALIZED (${STEPS}),
    due AS MATERIALIZED (
      SELECT DISTINCT ON (invite.id) invite.organization_id, invite.id, invite.mode, invite.status, invite.link_version,
        address_key(invite.recipient_email) AS address, coalesce(invite.time_zone, step.zone) AS zone, invite.assessment_session, due_at,
        step.quiet_from, step.quiet_until, step.days_off,
        concat_ws(':', 'reminder', step.after, step.hours, invite.link_version,
          CASE WHEN step.after = 'before_expiry' THEN round(extract(epoch FROM invite.expires_at) * 1000)::bigint END) AS key
      FROM step CROSS JOIN LATERAL (
        ${invitesOf('sent', false, isSentDue)}
        UNION ALL ${invitesOf('sent', true, isSentDue)}
        UNION ALL ${invitesOf('before_expiry', false, isExpiryDue)}
        UNION ALL ${invitesOf('before_expiry', true, isExpiryDue)}
        UNION ALL SELECT invite.*, invite.started_at + step.wait FROM invites invite
        WHERE step.after = 'started' AND step.state = 'started' AND invite.organization_id = step.organization_id
          AND invite.mode = step.mode AND invite.status = 'started' AND (step.assessment_id IS NULL OR step.assessment_id = invite.assessment_id)
          AND invite.started_at > ${since} - step.wait AND invite.started_at <= ${time} - step.wait
      ) invite
      WHERE invite.sent_at >= step.active_since AND NOT invite.reminders_off
        AND (invite.status = 'started' OR invite.expires_at > ${time} + ${interval(tooShort)})
        AND (step.assessment_id IS NOT NULL OR NOT EXISTS (
          SELECT FROM reminder_rules own WHERE own.organization_id = invite.organization_id AND own.assessment_id = invite.assessment_id))
      ORDER BY invite.id, due_at DESC
    ),
    -- Most have been reminded: what costs more is looked up for the others alone.
    unsaid AS MATERIALIZED (
      SELECT due.* FROM due WHERE NOT EXISTS (
        SELECT FROM invite_emails mail
        WHERE mail.organization_id = due.organization_id AND mail.invite_id = due.id AND mail.dedupe_key = due.key)
    ),
    chosen AS (
      SELECT DISTINCT ON (due.organization_id, due.mode, due.address) due.*
      FROM unsaid due CROSS JOIN LATERAL (SELECT ${time} AT TIME ZONE due.zone AS local) clock
      WHERE CASE WHEN quiet_from <= quiet_until
          THEN NOT (extract(hour FROM local) >= quiet_from AND extract(hour FROM local) < quiet_until)
          ELSE extract(hour FROM local) >= quiet_until AND extract(hour FROM local) < quiet_from END
        AND extract(isodow FROM local)::smallint <> ALL (days_off)
        AND (due.status <> 'started' OR NOT EXISTS (
          SELECT FROM submissions submission WHERE submission.organization_id = due.organization_id AND submission.id = due.assessment_session
            AND submission.deadline_at <= ${time} + ${interval(tooShort)}))
        AND NOT EXISTS (
          SELECT FROM suppressions stop WHERE stop.organization_id = due.organization_id AND stop.mode = due.mode AND stop.address = due.address
            AND stop.scope IN ('all', 'reminders') AND (stop.until IS NULL OR stop.until > ${time}))
        AND (
          SELECT count(*) FROM invite_emails mail WHERE mail.organization_id = due.organization_id AND mail.invite_id = due.id
            AND mail.link_version = due.link_version AND mail.dedupe_key LIKE 'reminder:%' AND mail.state <> 'failed') < ${most}::int
        AND NOT EXISTS (
          SELECT FROM invites other
          JOIN invite_emails mail ON mail.organization_id = other.organization_id AND mail.invite_id = other.id
          WHERE other.organization_id = due.organization_id AND other.mode = due.mode AND address_key(other.recipient_email) = due.address
            AND mail.state <> 'failed'
            AND (mail.state = 'queued' OR coalesce(mail.sent_at, mail.created_at) > ${time} - ${interval(apart)}))
      ORDER BY due.organization_id, due.mode, due.address, due.due_at
      LIMIT ${rows}::int
    )
    INSERT INTO invite_emails (id, organization_id, invite_id, kind, dedupe_key, link_version, created_at, updated_at)
    SELECT (${ids}::uuid[])[row_number() OVER ()], organization_id, id,
      CASE status WHEN 'pending' THEN 'not_accepted' WHEN 'accepted' THEN 'not_started' ELSE 'not_finished' END,
      key, link_version, ${time}, ${time}
    FROM chosen
    ON CONFLICT (organization_id, invite_id, dedupe_key) WHERE dedupe_key IS NOT NULL DO NOTHING
    RETURNING id, organization_id AS "organizationId"`
}

/** @property place index of the kind among kinds of reminders. */
export type OpenReminderRow = {
  inviteId: string
  recipientEmail: string
  assessment: string
  place: number
  after: string
  zone: string
  dueAt: Date
}

type OpenKey = { organizationId: string; ruleId: string; mode: 'live' | 'test' }
type OpenLimits = Pick<ReminderLimits, 'tooLate' | 'tooShort'>

/** First reminders that a rule would send for invites older than it: of each invite the latest that is due, else the next. */
const nextReminders = (now: Date, { organizationId, ruleId, mode }: OpenKey, { tooLate, tooShort }: OpenLimits) => {
  const time = sql`${now}::timestamptz`
  return sql`
    WITH step AS MATERIALIZED (
      ${STEPS} AND rule.organization_id = ${organizationId}::uuid AND rule.id = ${ruleId}::uuid AND mode.mode = ${mode}::text
    ),
    due AS (
      SELECT invite.id, invite.recipient_email, invite.assessment_id, invite.status, coalesce(invite.time_zone, step.zone) AS zone, step.after,
        CASE step.after WHEN 'sent' THEN invite.sent_at + wait WHEN 'started' THEN invite.started_at + wait ELSE invite.expires_at - wait END AS due_at
      FROM step JOIN invites invite
        ON invite.organization_id = step.organization_id AND invite.mode = step.mode AND invite.status = step.state
      WHERE invite.sent_at < step.active_since AND NOT invite.reminders_off
        AND (invite.status = 'started' OR invite.expires_at > ${time} + ${interval(tooShort)})
        AND (step.assessment_id = invite.assessment_id OR step.assessment_id IS NULL AND NOT EXISTS (
          SELECT FROM reminder_rules own WHERE own.organization_id = invite.organization_id AND own.assessment_id = invite.assessment_id))
        AND NOT EXISTS (
          SELECT FROM suppressions stop WHERE stop.organization_id = invite.organization_id AND stop.mode = invite.mode
            AND stop.address = address_key(invite.recipient_email) AND stop.scope IN ('all', 'reminders') AND (stop.until IS NULL OR stop.until > ${time}))
    ),
    next AS (
      SELECT DISTINCT ON (id) * FROM due WHERE due_at > ${time} - ${interval(tooLate)}
      ORDER BY id, due_at > ${time}, CASE WHEN due_at <= ${time} THEN due_at END DESC, due_at
    )`
}

export const openReminders = (
  now: Date,
  key: OpenKey,
  { rows, ...limits }: OpenLimits & Pick<ReminderLimits, 'rows'>,
): RawBuilder<OpenReminderRow> =>
  sql`${nextReminders(now, key, limits)}
    SELECT next.id AS "inviteId", next.recipient_email AS "recipientEmail", assessment.name AS assessment,
      CASE next.status WHEN 'pending' THEN 0 WHEN 'accepted' THEN 1 ELSE 2 END AS place, next.after, next.zone, next.due_at AS "dueAt"
    FROM next JOIN assessments assessment ON assessment.organization_id = ${key.organizationId}::uuid AND assessment.id = next.assessment_id
    ORDER BY next.due_at, next.id LIMIT ${rows}::int`

/** The same, counted by when they are due: now at the earliest, to a quarter of an hour, which all time zones begin at. */
export const countOpenReminders = (
  now: Date,
  key: OpenKey,
  limits: OpenLimits,
): RawBuilder<{ after: string; zone: string; dueAt: Date; count: number }> =>
  sql`${nextReminders(now, key, limits)}
    SELECT after, zone, greatest(date_bin('15 minutes', due_at, 'epoch'), ${now}::timestamptz) AS "dueAt", count(*)::int AS count
    FROM next GROUP BY 1, 2, 3`
