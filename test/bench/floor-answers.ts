import type { TObject } from '@sinclair/typebox'
import type { Pool } from 'pg'
import * as assessments from '../../src/interfaces/alternate/assessments.view.ts'
import * as assessmentInvites from '../../src/interfaces/alternate/invites.view.ts'
import * as users from '../../src/interfaces/alternate/organization-users.view.ts'
import * as alternateTags from '../../src/interfaces/alternate/tags.view.ts'
import { assessmentDetailView, assessmentView } from '../../src/interfaces/v1/assessments.view.ts'
import { inviteDetailView, inviteView } from '../../src/interfaces/v1/invites.view.ts'
import { memberView } from '../../src/interfaces/v1/members.view.ts'
import { questionView } from '../../src/interfaces/v1/questions.view.ts'
import { tagView } from '../../src/interfaces/v1/tags.view.ts'

// biome-ignore lint/suspicious/noExplicitAny: values that pg returns for any column
type Row = Record<string, any>

/**
 * A resource with a paginated list and a read by id. In its SQL, `r` is the table, $1 the organization id, and $2 the id in the path, if any.
 *
 * @property newestBy column that sorts the list, in descending order; without it, the list is sorted by creation, oldest first.
 * @property many columns of a list, named as in the response; `one` has the columns of a single row.
 * @property count SQL: SELECT … AS total. Reads the stored count where the database keeps one.
 */
type Resource = {
  table: string
  join?: string
  where?: string
  newestBy?: string
  many: string
  one?: string
  count?: string
  present?: (row: Row) => Row
  wrap?: (row: Row) => Row
}

/** Selects a column for each required field of a view: the column of `r` with the field's name, or the SQL in `others`. */
export const columns = ({ schema }: { schema: TObject }, others: Record<string, string> = {}): string =>
  schema
    .required!.map(
      (name) => `${others[name] ?? `r."${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`} AS "${name}"`,
    )
    .join(', ')

/** Selects the ids in a join table for each row of `r`, by position. */
const ids = (table: string, column: string, of: string) =>
  `ARRAY(SELECT x.${column} FROM ${table} x WHERE x.${of} = r.id ORDER BY x.position)`

const INVITES =
  "SELECT coalesce(sum(count), 0)::int AS total FROM organization_invite_counts WHERE organization_id = $1 AND mode = 'live'"
const assessmentName = { assessmentName: 'a.name' }
const ofAssessment = {
  languages: `ARRAY(SELECT l.code FROM assessment_languages al JOIN languages l ON l.id = al.language_id
    WHERE al.assessment_id = r.id ORDER BY al.position)`,
  inviteCount:
    "(SELECT coalesce(sum(c.count), 0)::int FROM assessment_invite_counts c WHERE c.assessment_id = r.id AND c.mode = 'live')",
}
const ofUser = { firstName: 'u.first_name', lastName: 'u.last_name', avatarUrl: 'u.avatar_url' }
const ALTERNATE = { deleted: 'false', organization: 'r.organization_id' }

const RESOURCES: Record<string, Resource> = {
  '/api/v1/invites': {
    many: columns(inviteView, assessmentName),
    one: columns(inviteDetailView, {
      ...assessmentName,
      assignedGrader: `(SELECT json_build_object('id', m.id, 'firstName', u.first_name, 'lastName', u.last_name, 'email', m.email)
        FROM members m JOIN users u ON u.id = m.user_id WHERE m.organization_id = r.organization_id AND m.id = r.assigned_grader_id)`,
      proctoringSettings: `json_build_object('screenRecording', r.screen_recording, 'webcamMonitoring', r.webcam_monitoring,
        'requireIdCapture', r.require_id_capture)`,
    }),
    table: 'invites',
    join: 'JOIN assessments a ON a.organization_id = r.organization_id AND a.id = r.assessment_id',
    newestBy: 'r.sent_at',
    count: INVITES,
  },
  '/api/v1/assessments': {
    many: columns(assessmentView, ofAssessment),
    one: columns(assessmentDetailView, ofAssessment),
    table: 'assessments',
    newestBy: 'r.created_at',
  },
  '/api/v1/assessments/{id}/questions': {
    many: columns(questionView, {
      sourceLanguage: `coalesce(r.source_language, '')`,
      targetLanguage: `coalesce(r.target_language, '')`,
    }),
    table: 'questions',
    where: 'r.assessment_id = $2',
    newestBy: 'r."order"',
    count: 'SELECT question_count AS total FROM assessments WHERE organization_id = $1 AND id = $2',
  },
  '/api/v1/members': {
    many: columns(memberView, ofUser),
    table: 'members',
    join: 'JOIN users u ON u.id = r.user_id',
    newestBy: 'r.joined_at',
  },
  '/api/v1/tags': { many: columns(tagView), table: 'tags', newestBy: 'r.name', wrap: (tag) => ({ tag }) },
  '/api/alternate/assessment_invites': {
    many: columns(assessmentInvites.inviteView, {
      ...ALTERNATE,
      email: 'r.recipient_email',
      id_photo_required: 'r.require_id_capture',
      question_play_limit: 'r.question_replay_limit',
      assessment: 'r.assessment_id',
      user: 'NULL',
      created_by: `coalesce(r.created_by_id, r.created_by_key_id)`,
      assigned_grader: 'r.assigned_grader_id',
      tags: ids('invite_tags', 'tag_id', 'invite_id'),
    }),
    table: 'invites',
    count: INVITES,
  },
  '/api/alternate/assessments': {
    many: columns(assessments.assessmentView, {
      ...ALTERNATE,
      tags: ids('assessment_tags', 'tag_id', 'assessment_id'),
      clients: ids('assessment_clients', 'member_id', 'assessment_id'),
      client_count: 'NULL',
      time_limit_minutes: 'r.time_limit / 60',
      time_limit_seconds: 'r.time_limit % 60',
      type: 'r.default_question_format',
      answer_type: 'r.default_answer_format',
      instruction: 'r.instruction_id',
      created_by: 'r.created_by_id',
      languages: ids('assessment_languages', 'language_id', 'assessment_id'),
      categories: ids('assessment_categories', 'category_id', 'assessment_id'),
      skill_type: 'r.skill_types',
    }),
    table: 'assessments',
    present: (row) => Object.assign(row, { client_count: row.clients.length }),
  },
  '/api/alternate/organization_users': {
    many: columns(users.organizationUserView, {
      ...ALTERNATE,
      tags: ids('member_tags', 'tag_id', 'member_id'),
      assigned_assessments_count: `(SELECT count(*)::int FROM assessment_clients c
        WHERE c.organization_id = r.organization_id AND c.member_id = r.id)`,
      user: 'r.user_id',
      grading_languages: ids('member_grading_languages', 'language_id', 'member_id'),
    }),
    table: 'members',
    where: `r.status = 'active'`,
  },
  '/api/alternate/tags': {
    many: columns(alternateTags.tagView, { ...ALTERNATE, created_by: 'r.created_by_id' }),
    table: 'tags',
  },
}

type Answer = (address: string, host: string, scope: string[]) => Promise<object | undefined>

/** Returns handlers by path, with one prepared statement for a row and two for a page. JSON.stringify formats a Date as the service does. */
export function answersOf(pool: Pool): Record<string, Answer> {
  const query = async (name: string, text: string, values: unknown[]) => (await pool.query<Row>({ name, text, values })).rows
  const answers: Record<string, Answer> = {}
  for (const [path, { table, join = '', where = 'true', newestBy, many, one = many, ...resource }] of Object.entries(RESOURCES)) {
    const own = `r.organization_id = $1 AND ${table === 'invites' ? "r.mode = 'live'" : 'true'} AND ${where}`
    const { present = asItIs, wrap = asItIs, count = `SELECT count(*)::int AS total FROM ${table} r WHERE ${own}` } = resource
    const order = newestBy ? `${newestBy} DESC, r.id DESC` : 'r.created_at, r.id'
    const from = `FROM ${table} r ${join} WHERE ${own}`
    answers[`${path}/{id}`] = async (_address, _host, scope) => {
      const [row] = await query(`${path}: one`, `SELECT ${one} ${from} AND r.id = $2`, scope)
      return row && wrap(present(row))
    }
    answers[path] = async (address, host, scope) => {
      const { window, toBody } = readPage(address, host)
      const [counted] = await query(`${path}: count`, count, scope)
      const text = `SELECT ${many} ${from} ORDER BY ${order} LIMIT $${scope.length + 1} OFFSET $${scope.length + 2}`
      const rows = await query(`${path}: page`, text, [...scope, window.take, window.skip])
      return toBody(counted!.total, rows.map(present))
    }
  }
  return answers
}

const asItIs = (row: Row) => row

/** Parses the parameters of a list and formats its page like the two interfaces, v1 and alternate. */
export function readPage(address: string, host: string) {
  const url = new URL(address, `http://${host}`)
  const { pathname, searchParams } = url
  const page = Number(searchParams.get('page') ?? 1)
  const size = Number(searchParams.get('limit') ?? searchParams.get('page_size') ?? 20)
  const addressOf = (other: number) => {
    searchParams.set('page', String(other))
    searchParams.sort()
    return url.href
  }
  const toBody = (total: number, rows: object[]) => {
    const pages = Math.ceil(total / size)
    if (pathname.startsWith('/api/v1'))
      return { [pathname.split('/').at(-1)!]: rows, pagination: { page, limit: size, total, totalPages: pages } }
    const [next, previous] = [page < pages ? addressOf(page + 1) : null, page > 1 ? addressOf(page - 1) : null]
    return { count: total, next, previous, num_pages: Math.max(1, pages), current_page: page, results: rows }
  }
  return { window: { take: size, skip: (page - 1) * size }, toBody }
}
