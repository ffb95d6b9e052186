import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'csv-parse/sync'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createTag } from '../../../../src/domain/tags/tags.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { recordQueries } from '../../../support/queries.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

async function start() {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { name: 'Café "B2", spoken' })
  const admin = await signInAs(service, organization.id, ['admin'])
  return { organization, assessment, admin, home: admin.home }
}
type Made = Awaited<ReturnType<typeof start>>
type Person = Awaited<ReturnType<typeof signInAs>>

const read = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true })
const exportAs = async (person: Person, list: string, filter: Record<string, string> = {}) => {
  const answer = await person.post(`${person.home}${list}/export`, filter)
  expect([list, filter, answer.status]).toEqual([list, filter, 200])
  return read(answer.text)
}

/** Adds invites with one statement. */
const addMany = ({ organization, assessment }: Pick<Made, 'organization' | 'assessment'>, count: number) =>
  service.db.$executeRaw`
    INSERT INTO invites (id, organization_id, assessment_id, recipient_email, status, question_replay_limit, answer_record_limit,
      screen_recording, webcam_monitoring, require_id_capture, face_photo_required, sent_at, expires_at, created_at, updated_at)
    SELECT gen_random_uuid(), ${organization.id}::uuid, ${assessment.id}::uuid, 'many' || i || '@example.com',
      (CASE WHEN i % 3 = 0 THEN 'completed' ELSE 'pending' END)::invite_status, 1, 1, true, true, true, true, now(), now() + interval '9 days',
      now(), now()
    FROM generate_series(1, ${count}::int) AS i`

it('exports every field of the invites with exact times, and no formulas', async () => {
  const { organization, assessment, admin, home } = await start()
  const grader = await service.make.member(organization.id, { roles: ['grader'], email: 'grace@example.com' })
  const tag = await createTag(asOperator(service, organization), { name: '@SUM(1)' })
  const { id, sentAt, expiresAt, createdAt } = await service.make.invite(assessment, {
    recipientEmail: 'sam@example.com',
    recipientName: '=HYPERLINK("http://evil.example")\n+1',
    status: 'completed',
    completedAt: new Date('2026-03-04T05:06:07.008Z'),
    assignedGraderId: grader.id,
    createdById: admin.member.id,
    externalId: '=4711',
    metadata: { job: '=1+1', b: '' },
  })
  await service.db.inviteTag.create({ data: { organizationId: organization.id, inviteId: id, tagId: tag.id, position: 0 } })
  const answer = await admin.post(`${home}invites/export`)
  expect(answer.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="invites-${service.clock.now().toISOString().slice(0, 10)}.csv"`,
    'cache-control': 'no-store',
  })
  expect(read(answer.text)).toEqual([
    {
      id,
      email: 'sam@example.com',
      name: '\'=HYPERLINK("http://evil.example")\n\'+1',
      assessment: 'Café "B2", spoken',
      assessment_id: assessment.id,
      state: 'completed',
      kind: 'live',
      source: 'api',
      tags: "'@SUM(1)",
      grader: 'grace@example.com',
      invited_by: admin.member.email,
      created_at: createdAt.toISOString(),
      sent_at: sentAt.toISOString(),
      expires_at: expiresAt.toISOString(),
      accepted_at: '',
      started_at: '',
      completed_at: '2026-03-04T05:06:07.008Z',
      revoked_at: '',
      declined_at: '',
      external_id: "'=4711",
      metadata: '{"b":"","job":"=1+1"}',
      points: '',
      of_points: '',
      percent: '',
    },
  ])
})

it('exports declines', async () => {
  const { assessment, admin } = await start()
  const at = new Date('2026-03-04T05:06:07.008Z')
  const ended = { status: 'revoked' as const, revokedAt: at }
  await service.make.invite(assessment, { ...ended, declinedAt: at })
  await service.make.invite(assessment, ended)
  const rows = await exportAs(admin, 'invites')
  expect(rows.map(({ revoked_at, declined_at }) => [revoked_at, declined_at])).toEqual([
    [at.toISOString(), at.toISOString()],
    [at.toISOString(), ''],
  ])
  expect(Object.keys(rows[0]!).slice(-6, -3)).toEqual(['declined_at', 'external_id', 'metadata'])
  expect(rows.map(({ external_id, metadata }) => [external_id, metadata])).toEqual([
    ['', ''],
    ['', ''],
  ])
})

it("exports the invites that match the list's filter", async () => {
  const { organization, assessment, admin } = await start()
  const other = await service.make.assessment(organization.id)
  const tag = await service.make.tag(organization.id)
  const past = new Date(service.clock.now().getTime() - 1)
  const { id } = await service.make.invite(assessment, { recipientEmail: 'tagged@example.com', status: 'accepted' })
  await service.db.inviteTag.create({ data: { organizationId: organization.id, inviteId: id, tagId: tag.id, position: 0 } })
  await service.make.invite(assessment, { recipientEmail: 'due@example.com', expiresAt: past })
  await service.make.invite(other, { recipientEmail: 'other@example.com' })
  await service.make.invite((await start()).assessment, { recipientEmail: 'foreign@example.com' })
  const emails = async (filter: Record<string, string>) => (await exportAs(admin, 'invites', filter)).map(({ email }) => email)
  expect(await emails({})).toEqual(['tagged@example.com', 'due@example.com', 'other@example.com'])
  expect(await emails({ state: 'expired' })).toEqual(['due@example.com'])
  expect(await emails({ state: 'pending' })).toEqual(['other@example.com'])
  expect(await emails({ assessment: other.id })).toEqual(['other@example.com'])
  expect(await emails({ tag: tag.id, state: 'accepted' })).toEqual(['tagged@example.com'])
  expect(await emails({ search: 'DUE@example.com' })).toEqual(['due@example.com'])
  expect(await emails({ search: 'due' })).toEqual(['due@example.com'])
  expect(await emails({ state: 'revoked' })).toEqual([])
})

it('exports each invite once across batches', async () => {
  const made = await start()
  await addMany(made, 1_200)
  const rows = await exportAs(made.admin, 'invites')
  expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([1_200, 1_200])
  expect(await exportAs(made.admin, 'invites', { state: 'completed' })).toHaveLength(400)
})

it('reads each invite once per batch, even before the table has statistics', async () => {
  const made = await start()
  await addMany(made, 1_200)
  const { queries } = await recordQueries(() => exportAs(made.admin, 'invites'))
  const { text, values } = queries.find((query) => /limit/.test(query.text) && /grader/.test(query.text))!
  const client = new Client(service.databaseUrl)
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  // If each row looked up all rows, the number of blocks would be ten times as high.
  expect(rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks']).toBeLessThan(20_000)
})

itSlow('exports each invite of a search once, clustered or spread', async () => {
  const made = await start()
  await addMany(made, 21_000)
  const counts = { many: 21_000, many20: 1_111, many77: 111, nobody: 0 }
  for (const [search, count] of Object.entries(counts)) {
    const ids = (await exportAs(made.admin, 'invites', { search })).map(({ id }) => id)
    expect([search, ids.length, new Set(ids).size]).toEqual([search, count, count])
  }
})

it("exports the members that match the list's filter", async () => {
  const { organization, admin } = await start()
  const tag = await service.make.tag(organization.id, { name: 'Paris' })
  const data = { email: 'grace@example.com', lastName: '-Hopper', roles: ['grader', 'client'], status: 'inactive' as const }
  const { id } = await service.make.member(organization.id, data)
  await service.db.memberTag.create({ data: { organizationId: organization.id, memberId: id, tagId: tag.id, position: 0 } })
  const all = await exportAs(admin, 'members')
  expect(all.map(({ email, signs_in_to_the_portal }) => [email, signs_in_to_the_portal])).toEqual([
    [admin.member.email, 'yes'],
    ['grace@example.com', 'no'],
  ])
  await admin.post(`${admin.home}members/invite`, { email: 'ada@example.com', roles: 'grader' })
  const invited = await exportAs(admin, 'members', { search: 'ada@example.com' })
  expect(invited).toMatchObject([{ state: 'invited', joined_at: '' }])
  expect(all[0]).toMatchObject({ state: 'active', joined_at: expect.stringMatching(/^\d{4}-/) })
  for (const filter of [{ status: 'inactive' }, { role: 'client' }, { search: 'hopper' }])
    expect(await exportAs(admin, 'members', filter)).toMatchObject([
      { id, last_name: "'-Hopper", roles: 'grader; client', state: 'inactive', tags: 'Paris' },
    ])
})

it('exports the inviter of each member, and their last sign-in with its method', async () => {
  const { organization, admin } = await start()
  await admin.post(`${admin.home}members/invite`, { email: 'ada@example.com', roles: 'grader' })
  const grader = await signInAs(service, organization.id, ['grader'])
  const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: grader.member.id } })
  const factor = {
    credentialId: credentialId!,
    kind: 'totp' as const,
    name: 'App',
    encryptedSecret: new Uint8Array([1]),
    createdAt: service.clock.now(),
  }
  await service.db.secondFactor.create({ data: { id: service.deps.newId(), ...factor } })
  const last = service.clock.now()
  const signedIn = (at: Date) => ({
    id: service.deps.newId(),
    organizationId: organization.id,
    actorKind: 'member',
    actorId: grader.member.id,
    action: 'signed_in',
    details: {},
    at,
  })
  await service.db.auditEntry.createMany({ data: [signedIn(last), signedIn(new Date(last.getTime() - 1_000))] })
  expect(await exportAs(admin, 'members')).toMatchObject([
    { email: admin.member.email, second_step: '', last_signed_in_at: '', invited_by: '' },
    { email: 'ada@example.com', second_step: '', last_signed_in_at: '', invited_by: admin.member.email },
    { email: grader.member.email, second_step: 'totp', last_signed_in_at: last.toISOString(), invited_by: '' },
  ])
})

it('exports the audit log with names, newest first', async () => {
  const { organization, admin } = await start()
  const at = service.clock.now()
  const row = (i: number) => ({
    id: service.deps.newId(),
    organizationId: organization.id,
    actorKind: 'operator',
    action: 'invited',
    details: { i },
    at: new Date(at.getTime() - Math.floor(i / 2)),
  })
  await service.db.auditEntry.createMany({ data: Array.from({ length: 1_100 }, (_, i) => row(i)) })
  const found = await exportAs(admin, 'settings/audit-log', { action: 'invited' })
  expect(new Set(found.map(({ details }) => details)).size).toBe(1_100)
  const times = found.map(({ at }) => at)
  expect(times).toEqual(times.toSorted().reverse())
  const own = await exportAs(admin, 'settings/audit-log', { who: admin.member.email })
  expect(own).toMatchObject([
    { actor_kind: 'member', actor: admin.member.email, action: 'exported_audit_log' },
    { actor_id: admin.member.id, action: 'exported_audit_log', details: '{"action":"invited"}' },
  ])
})

it('exports the audit log as lines of JSON with full details', async () => {
  const { admin } = await start()
  const rows = await exportAs(admin, 'settings/audit-log', { action: 'exported_audit_log' })
  const answer = await admin.post(`${admin.home}settings/audit-log/export`, { action: 'exported_audit_log', format: 'ndjson' })
  expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
  expect(answer.headers['content-disposition']).toMatch(/audit-log-\d{4}-\d\d-\d\d\.ndjson/)
  const lines = answer.text.split('\n')
  expect(lines.pop()).toBe('')
  const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(found).toHaveLength(2)
  expect(found[1]).toEqual({
    ...Object.fromEntries(Object.entries(rows[0]!).map(([name, cell]) => [name, cell === '' ? null : cell])),
    details: { action: 'exported_audit_log' },
    user_agent: '', // the value is empty, not missing: CSV cannot show the difference
  })
  const none = await admin.post(`${admin.home}settings/audit-log/export`, { who: 'nobody@example.com', format: 'ndjson' })
  expect([none.status, none.text]).toEqual([200, ''])
})

it('records an export in the audit log with its filter, without the searched address', async () => {
  const { organization, assessment, admin } = await start()
  await exportAs(admin, 'invites', { state: 'pending', assessment: assessment.id, search: 'sam@example.com' })
  await exportAs(admin, 'members', { role: 'grader' })
  const entries = await service.db.auditEntry.findMany({
    where: { organizationId: organization.id, actorId: admin.member.id },
    orderBy: { id: 'asc' },
  })
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ['exported_invites', { status: 'pending', assessmentId: assessment.id, searched: 'yes' }],
    ['exported_members', { role: 'grader' }],
  ])
})

it('exports the invites that the role may see: of their assessments for clients, assigned ones for graders', async () => {
  const { organization, assessment } = await start()
  const other = await service.make.assessment(organization.id)
  const [client, grader] = [
    await signInAs(service, organization.id, ['client']),
    await signInAs(service, organization.id, ['grader']),
  ]
  await service.make.invite(assessment, { recipientEmail: 'first@example.com' })
  await service.make.invite(other, { recipientEmail: 'second@example.com', assignedGraderId: grader.member.id })
  const of = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 }
  await service.db.assessmentClient.create({ data: of })
  expect(await exportAs(client, 'invites')).toMatchObject([{ email: 'first@example.com' }])
  expect(await exportAs(grader, 'invites')).toMatchObject([{ email: 'second@example.com' }])
  for (const person of [client, grader])
    expect((await person.post(`${person.home}invites/export`, { assessment: other.id })).status).toBe(404)
})

/** Begins an export, and does not read its response. */
async function begin({ admin, home }: Pick<Made, 'admin' | 'home'>, filter = ''): Promise<IncomingMessage> {
  if (!service.app.server.listening) await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = service.app.server.address() as AddressInfo
  const headers = {
    ...{ cookie: admin.cookie(), 'sec-fetch-site': 'same-origin' },
    'content-type': 'application/x-www-form-urlencoded',
  }
  const asked = request({ port, path: `${home}invites/export`, method: 'POST', headers })
  onTestFinished(() => void asked.destroy())
  asked.on('error', () => {}).end(filter)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(200)
  return answer
}

itSlow('runs at most two exports at once per organization, without long transactions, and ends repeated ones', async () => {
  const made = await start()
  await addMany(made, 40_000)
  const colleague = await signInAs(service, made.organization.id, ['admin'])
  const stalled = [await begin(made, 'state=pending'), await begin({ admin: colleague, home: made.home }, 'state=pending')]
  const refused = await made.admin.post(`${made.home}invites/export`)
  expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('Too many exports at once')])
  const list = await made.admin.post(`${made.home}invites/batches`, { assessmentId: made.assessment.id, list: 'sam@example.com' })
  const outcome = () => made.admin.post(`${list.headers.location}/export`)
  expect((await outcome()).status).toBe(429)
  // A browser that repeats its export after a lost response is not rejected because of its own first request.
  const ended = new Promise((resolve) => stalled[0]!.on('error', () => {}).once('close', resolve))
  const repeated = await begin(made, 'state=pending')
  stalled[0]!.resume() // only a reader sees the end of the response
  await ended
  const another = await start()
  await exportAs(another.admin, 'members')
  const open = await service.db
    .$queryRaw`SELECT state FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`
  expect(open).toEqual([])
  for (const answer of [repeated, stalled[1]!]) answer.destroy()
  await waitUntil('the end of the exports', async () => {
    const { status } = await made.admin.post(`${made.home}members/export`)
    return status === 200 ? true : undefined
  })
  expect((await outcome()).text).toContain('sam@example.com')
  const where = { organizationId: made.organization.id, action: 'exported_invite_batch' }
  expect(await service.db.auditEntry.findMany({ where })).toMatchObject([{ details: { assessmentId: made.assessment.id } }])
  const whole = await exportAs(made.admin, 'invites')
  expect(whole).toHaveLength(40_000)
})
