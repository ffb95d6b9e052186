import { expect, it } from 'vitest'
import { deleteExpiredAuditEntries } from '../../../../src/domain/audit/record-audit.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { rowsOf } from '../../../support/forms.ts'
import { joinAs, signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

async function start() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  return { organization, admin, path: `${admin.home}settings/audit-log` }
}

it('shows actors, actions, and targets, newest first', async () => {
  const { organization, admin, path } = await start()
  const member = await service.make.member(organization.id, { roles: ['grader'], email: 'grace@example.com' })
  await admin.post(`${admin.home}tags`, { name: 'Urgent <b>', color: '#16A34A' })
  await admin.post(`${admin.home}members/${member.id}`, { roles: ['client'] })
  const rows = rowsOf((await admin.get(path)).text)
  expect(rows).toEqual([
    expect.stringContaining(`| ${admin.member.email} | changed a member\ngrace@example.com\nRoles: grader → client\n`),
    expect.stringContaining(`| ${admin.member.email} | created a tag\nUrgent &lt;b&gt;tag\n`),
    expect.stringContaining('| the service | generated an API key\nTest\n'),
  ])
})

it('shows names of referenced rows while these exist', async () => {
  const { organization, admin, path } = await start()
  const grader = await service.make.member(organization.id, { roles: ['grader'], email: 'grace@example.com' })
  const assessment = await service.make.assessment(organization.id, { name: 'Interview <i>' })
  const invite = await service.make.invite(assessment)
  const [urgent, gone] = [await service.make.tag(organization.id, { name: 'Urgent' }), await service.make.tag(organization.id)]
  const foreign = await service.make.assessment((await service.make.organization()).id, { name: 'Of others' })
  for (const assignedGraderId of [grader.id, ''])
    await admin.post(`${admin.home}invites/${invite.id}/grader`, { assignedGraderId })
  for (const { id } of [urgent, gone]) await admin.post(`${admin.home}invites/${invite.id}/tags`, { tagIds: id })
  await admin.post(`${admin.home}tags/${gone.id}/delete`)
  await admin.post(`${admin.home}invites/export`, { assessment: assessment.id, tag: urgent.id })
  const question = { inputType: 'text', responseType: 'text', script: 'Why?' }
  await admin.post(`${admin.home}assessments/${assessment.id}/questions`, question)
  const details = { assessmentId: foreign.id }
  const entry = { id: service.deps.newId(), organizationId: organization.id, actorKind: 'operator', at: service.deps.clock() }
  await service.db.auditEntry.create({ data: { ...entry, action: 'exported_grades', details } })
  const more = rowsOf((await admin.get(path)).text).flatMap((row) => row.split('\n'))
  expect(more).toEqual(
    expect.arrayContaining([
      'Grader: grace@example.com',
      'Grader: nobody',
      'Tag: Urgent',
      `Tag: ${gone.id}`,
      `Assessment: ${foreign.id}`,
      'Assessment: Interview &lt;i&gt;',
    ]),
  )
  // The entry of the question shows its assessment once, although it stores id and name; the other line is the export's.
  expect(more.filter((line) => line === 'Assessment: Interview &lt;i&gt;')).toHaveLength(2)
})

it('links entries to their rows unless deleted, and members to their actions', async () => {
  const { organization, admin, path } = await start()
  const { id } = await service.make.member(organization.id, { roles: ['grader'] })
  const invite = await service.make.invite(await service.make.assessment(organization.id))
  const tag = await service.make.tag(organization.id)
  await admin.post(`${admin.home}members/${id}`, { roles: ['client'] })
  await admin.post(`${admin.home}invites/${invite.id}/revoke`)
  await admin.post(`${admin.home}tags/${tag.id}/delete`)
  const { text } = await admin.get(path)
  for (const page of [`members/${id}`, `invites/${invite.id}`]) {
    expect(text).toContain(`<a href="${admin.home}${page}">`)
    expect((await admin.get(admin.home + page)).status).toBe(200)
  }
  expect(text).not.toContain(`${admin.home}tags/${tag.id}`)
  const { text: own } = await admin.get(`${admin.home}members/${admin.member.id}`)
  const [, did] = /<a href="([^"]+)">Their activity in the audit log/.exec(own)!
  expect(rowsOf((await admin.get(did!)).text)).toHaveLength(3)
})

it('filters by member, key, and action', async () => {
  const { organization, admin, path } = await start()
  const other = await signInAs(service, organization.id, ['admin'])
  await admin.post(`${admin.home}tags`, { name: 'Mine', color: '#16A34A' })
  await other.post(`${admin.home}tags`, { name: 'Theirs', color: '#16A34A' })
  const show = async (query: Record<string, string>) => rowsOf((await admin.get(`${path}?${new URLSearchParams(query)}`)).text)
  expect(await show({ who: other.member.email.toUpperCase() })).toEqual([expect.stringContaining('Theirs')])
  expect(await show({ action: 'created_tag' })).toHaveLength(2)
  expect(await show({ action: 'created_tag', who: admin.member.email })).toEqual([expect.stringContaining('Mine')])
  expect(await show({ who: 'nobody@example.com' })).toEqual([])
  expect(await show({ who: 'Test' })).toEqual([])
  expect(await show({ bulk: 'x' })).toEqual([])
  for (const query of [{ action: 'x' }, { before: 'x' }, { before: "'" }, { before: '\0' }, { who: '' }])
    expect([query, (await show(query)).length]).toEqual([query, 3])
})

it('has stable pages, even within one millisecond', async () => {
  const { organization, admin, path } = await start()
  const at = service.deps.clock()
  const row = () => ({
    id: service.deps.newId(),
    organizationId: organization.id,
    actorKind: 'operator',
    action: 'signed_in',
    at,
  })
  await service.db.auditEntry.createMany({ data: Array.from({ length: 120 }, row) })
  const seen: string[] = []
  let address: string | undefined = `${path}?action=signed_in`
  const sizes: number[] = []
  while (address) {
    const { text } = await admin.get(address)
    sizes.push(rowsOf(text).length)
    const older = /href="([^"]+)">Older/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    if (older) seen.push(new URLSearchParams(older.split('?')[1]).get('before')!)
    address = older
  }
  expect(sizes).toEqual([50, 50, 20])
  expect(new Set(seen).size).toBe(2)
})

it('reads a page by an index with any filter', async () => {
  const { organization } = await start()
  const days = "timestamptz '2026-01-01' + make_interval(secs => i)"
  await service.db.$executeRawUnsafe(`INSERT INTO audit_entries (id, organization_id, actor_kind, actor_id, action, bulk_change_id, at)
    SELECT gen_random_uuid(), '${organization.id}', 'member', md5((i % 500)::text)::uuid, 'action_' || i % 20,
      CASE WHEN i % 4 > 0 THEN md5((i / 1000)::text)::uuid END, ${days}
    FROM generate_series(1, 20000) AS i`)
  await service.db.$executeRawUnsafe('ANALYZE audit_entries')
  const filters = [
    ...['', `AND actor_id = md5('7')::uuid`, `AND action = 'action_3'`],
    ...['AND bulk_change_id IS NULL', `AND bulk_change_id = md5('7')::uuid`],
  ]
  for (const filter of filters) {
    const plan = JSON.stringify(
      await service.db.$queryRawUnsafe(`EXPLAIN (FORMAT JSON) SELECT * FROM audit_entries
        WHERE organization_id = '${organization.id}' ${filter} AND at <= ${days.replace('i)', '15000)')}
        ORDER BY at DESC, id DESC LIMIT 51`),
    )
    expect([filter, plan]).toEqual([filter, expect.stringMatching(/"Index Scan/)])
    expect(plan).not.toMatch(/"Sort"|Seq Scan/)
  }
})

it("records wrong passwords for members' addresses as theirs, and nothing for other addresses", async () => {
  const { organization, admin, path } = await start()
  const member = await joinAs(service, organization, { roles: ['grader'] })
  for (const email of [member.email, 'stranger@example.com'])
    expect((await visit(service).post('/portal/sign-in', { email, password: 'not the right one' })).status).toBe(422)
  await expect
    .poll(async () => rowsOf((await admin.get(path)).text), PATIENT)
    .toContainEqual(expect.stringContaining(`| ${member.email} | entered a wrong password`))
  expect((await admin.get(path)).text).not.toContain('stranger@example.com')
})

it('keeps entries for a year, or for up to seven if an owner chose so', async () => {
  const [patient, other] = [await start(), await start()]
  const security = `${patient.admin.home}settings/security`
  for (const auditRetentionDays of ['364', '2558', '1.5', '']) {
    const refused = await patient.admin.post(security, { auditRetentionDays })
    expect([auditRetentionDays, refused.status]).toEqual([auditRetentionDays, 422])
  }
  expect((await patient.admin.post(security, { auditRetentionDays: '730' })).status).toBe(303)
  expect((await patient.admin.get(security)).text).toMatch(/name="auditRetentionDays"[^>]*value="730"/)
  const change = await service.db.auditEntry.findFirstOrThrow({
    where: { organizationId: patient.organization.id, action: 'changed_security' },
  })
  expect(change.details).toEqual({ auditRetentionDays: { before: 365, after: 730 } })

  const ages = [364, 366, 729, 731]
  const now = service.clock.now().getTime()
  for (const { organization } of [patient, other])
    await service.db.auditEntry.createMany({
      data: ages.map((age) => ({
        id: service.deps.newId(),
        organizationId: organization.id,
        actorKind: 'system',
        action: 'invited',
        details: { age },
        at: new Date(now - age * DAY_MS),
      })),
    })
  await deleteExpiredAuditEntries(service.system)
  const kept = async ({ organization }: typeof other) => {
    const where = { organizationId: organization.id, action: 'invited' }
    const entries = await service.db.auditEntry.findMany({ where, orderBy: { at: 'desc' } })
    return entries.map(({ details }) => (details as { age: number }).age)
  }
  expect(await kept(other)).toEqual([364])
  expect(await kept(patient)).toEqual([364, 366, 729])
})

it('shows changes as readable values, before and after', async () => {
  const { organization, admin, path } = await start()
  const { home } = admin
  await admin.post(`${home}settings/brand`, {
    primaryColor: '#123456',
    backgroundColor: '',
    seen: await seenAt(`${home}settings/brand`),
  })
  await admin.post(`${home}settings/security`, { apiKeyMaxDays: '90', apiKeyNetworks: '203.0.113.0/24' })
  await admin.post(`${home}settings/security`, { secondFactorFrom: '2027-03-01', idleMinutes: '60' })
  const entry = { organizationId: organization.id, actorKind: 'operator', at: service.deps.clock() }
  const logo = (before: string | null, after: string | null) => ({ before: { logoHash: before }, after: { logoHash: after } })
  const recorded = [
    { action: 'changed_brand', details: logo(null, 'aa11') },
    { action: 'changed_brand', details: logo('aa11', 'bb22') },
    { action: 'changed_settings', details: { changed: ['languagesOffered', 'timeZone'] } },
    { action: 'changed_mail_text', details: { kind: 'not_started', language: 'pt-BR', version: 2 } },
    { action: 'refused_sign_in', details: { provider: 'Entra', problem: 'otherIdentity' } },
    { action: 'changed_retention', details: { completed: { before: null, after: 365 } } },
    { action: 'reset_factors', details: { reason: 'none' } },
    { action: 'told_by_another_release', details: { someNewField: 'x', secondFactorFrom: 'soon' } },
  ]
  for (const event of recorded) await service.db.auditEntry.create({ data: { ...entry, ...event, id: service.deps.newId() } })
  const rows = rowsOf((await admin.get(path)).text).join('\n')
  for (const words of [
    'Color of buttons and links: the service’s own → #123456',
    'changed the limits of all API keys',
    'Days a new key lasts at most: no limit → 90',
    'Networks of all keys: anywhere → 203.0.113.0/24',
    'changed the security settings',
    'Two-step sign-in required from: not required → 1 Mar 2027',
    'Minutes without activity: 720 → 60',
    'Logo: none → a picture',
    'Logo: another picture',
    'Changed: languages offered, time zone',
    'Kind: Reminder: not started yet',
    'Language: Brazilian Portuguese',
    'Why: This address belongs to another account',
    'Completed: no limit → 365',
    'told by another release',
    'Reason: none',
    'Some new field: x',
  ])
    expect(rows).toContain(words)
  expect(rows).not.toMatch(/logoHash|apiKeyMaxDays|apiKeyNetworks|languagesOffered|aa11/)

  async function seenAt(address: string): Promise<string> {
    return /name="seen" value="([^"]*)"/.exec((await admin.get(address)).text)![1]!
  }
})
