import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nameKeys } from '../../../../src/domain/text/fold-text.ts'
import { importDocument } from '../../../../src/import/import-document.ts'
import { readDocument } from '../../../../src/import/read-document.ts'
import { joinAs, PASSWORD, signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

/** Creates an organization, and signs in its admin. */
async function start() {
  const organization = await service.make.organization()
  return { organization, admin: await signInAs(service, organization.id, ['admin']) }
}
const find = (id: string) =>
  service.db.member.findUniqueOrThrow({ where: { id }, include: { tags: true, gradingLanguages: true } })
const actionsOf = async (organizationId: string) =>
  (await service.db.auditEntry.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })).map(({ action }) => action)

describe('the list of members', () => {
  it('shows members with status and roles, filtered by name, address, role, and status', async () => {
    const { organization, admin } = await start()
    await service.make.member(organization.id, { firstName: 'Grace', lastName: 'Hopper', email: 'grace@example.com' })
    await service.make.member(organization.id, { firstName: 'Alan', lastName: 'Turing', roles: ['client'], status: 'inactive' })
    const show = async (query: string) => (await admin.get(`${admin.home}members${query}`)).text
    const all = await show('')
    expect(all).toContain('3 members')
    for (const text of ['Grace Hopper', 'grace@example.com', 'invited to join', 'deactivated', 'client'])
      expect(all).toContain(text)
    for (const query of ['?search=grace+hop', '?search=GRACE%40', '?role=grader', '?status=active&role=grader&search='])
      expect([query, await show(query)]).toEqual([query, expect.stringContaining('One member')])
    expect(await show('?status=inactive')).toContain('Alan Turing')
    expect(await show('?search=nobody')).toContain('No members match.')
    expect(await show('?search=a+b+c+d+e+f+g+h+i')).toContain('The search has more than 8 words.')
    for (const query of ['?page=0', '?page=x', '?page=99999999999999', '?page=2', '?search=%00%', '?role=x&status=x'])
      expect((await admin.get(`${admin.home}members${query}`)).status).toBe(200)
  })

  it('keeps its filter across pages', async () => {
    const { organization, admin } = await start()
    for (let i = 0; i < 26; i++) await service.make.member(organization.id, { firstName: 'Many' })
    const first = (await admin.get(`${admin.home}members?search=Many`)).text
    expect(first).toContain('Page 1 of 2')
    const next = /href="([^"]*page=2)"/.exec(first)![1]!.replaceAll('&amp;', '&')
    const second = (await admin.get(next)).text
    expect(second.match(/<th scope="row">/g)).toHaveLength(1)
    expect(second).toContain('value="Many"')
  })
})

describe('inviting a member', () => {
  it('mails and shows a link, which lets the member join with the chosen roles', async () => {
    const { organization, admin } = await start()
    const answer = await admin.post(`${admin.home}members/invite`, { email: ' new@example.com ', roles: 'grader' })
    expect(answer.status).toBe(200)
    const path = new URL(/https?:[^<\s]+\/portal\/join\/[^<\s]+/.exec(answer.text)![0]).pathname
    const member = await service.db.member.findFirstOrThrow({
      where: { organizationId: organization.id, email: 'new@example.com' },
    })
    expect(member.roles).toEqual(['grader'])
    expect(await service.db.memberEmail.count({ where: { memberId: member.id, kind: 'join' } })).toBe(1)
    const person = visit(service)
    expect((await person.post(path, { firstName: 'New', lastName: 'Person', password: PASSWORD })).status).toBe(303)
    expect((await person.get(admin.home)).status).toBe(200)
    expect(await actionsOf(organization.id)).toEqual(['generated_key', 'invited_member', 'joined'])
  })

  it.each([
    [{ email: 'x', roles: 'admin' }, 'Enter a valid email address, such as name@example.com.'],
    [{ email: 'a@example.com' }, 'Choose at least one role.'],
    [{ email: 'a@example.com', roles: 'owner' }, 'Choose at least one role.'],
  ])('reports the mistake, with the typed text: %o', async (fields, words) => {
    const { organization, admin } = await start()
    const answer = await admin.post(`${admin.home}members/invite`, fields)
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(words)])
    expect(answer.text).toContain(`value="${fields.email}"`)
    expect(await service.db.member.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('asks which assessments a client sees, and shares them', async () => {
    const { organization, admin } = await start()
    const [shown, hidden, other] = await Promise.all([1, 2, 3].map(() => service.make.assessment(organization.id)))
    const form = (await admin.get(`${admin.home}members/invite`)).text
    expect(form).toContain('Assessments the client sees')
    expect(form).toContain(`name="assessments" value="${shown!.id}"`)
    const path = `${admin.home}members/invite`
    const unknown = { email: 'client@example.com', roles: 'client', assessments: service.deps.newId() }
    expect((await admin.post(path, unknown)).status).toBe(422)
    await admin.post(path, { email: 'client@example.com', roles: 'client', assessments: [shown!.id, other!.id] })
    await admin.post(path, { email: 'grader@example.com', roles: 'grader', assessments: [hidden!.id] })
    const clients = () =>
      service.db.assessmentClient.findMany({
        where: { organizationId: organization.id },
        select: { assessmentId: true, member: { select: { id: true, email: true } } },
        orderBy: { assessmentId: 'asc' },
      })
    const { member } = (await clients())[0]!
    const shares = (...ids: string[]) => ids.toSorted().map((assessmentId) => ({ assessmentId, member }))
    expect(member.email).toBe('client@example.com')
    expect(await clients()).toEqual(shares(shown!.id, other!.id))
    // Another admin stops sharing an assessment while the page is open.
    const page = (await admin.get(`${admin.home}members/${member.id}`)).text
    const shared = [...page.matchAll(/name="shared" value="([^"]+)"/g)].map(([, id]) => id!)
    expect(shared.toSorted()).toEqual([shown!.id, other!.id].toSorted())
    await service.db.assessmentClient.deleteMany({ where: { assessmentId: other!.id } })
    const changed = { shared, assessments: [hidden!.id, other!.id] }
    const saved = await admin.post(`${admin.home}members/${member.id}/assessments`, changed)
    expect(saved.headers.location).toBe(`${admin.home}members/${member.id}?done=shared`)
    expect(await clients()).toEqual(shares(hidden!.id))
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { action: 'changed_client_assessments' } })
    expect(entry).toMatchObject({ targetId: member.id, details: { shared: [hidden!.name], unshared: [shown!.name] } })
  })

  it('asks for confirmation before it reactivates a member, who gets the chosen roles', async () => {
    const { organization, admin } = await start()
    const person = await joinAs(service, organization, { roles: ['admin'] })
    const { id } = await service.db.member.findFirstOrThrow({ where: { email: person.email } })
    await service.db.member.update({ where: { id }, data: { status: 'inactive', roles: ['admin', 'recruiter'] } })
    const path = `${admin.home}members/invite`
    const fields = { email: person.email, roles: 'client' }
    const before = await find(id)
    for (const answered of [{}, { reactivate: 'somebody.else@example.com' }]) {
      const asked = await admin.post(path, { ...fields, ...answered })
      expect([asked.status, asked.text]).toEqual([
        422,
        expect.stringContaining('This member is deactivated: activate them again, with these roles?'),
      ])
      expect(asked.text).toContain(`name="reactivate" value="${person.email}" >`)
      expect(await find(id)).toEqual(before)
    }
    expect((await visit(service).post('/portal/sign-in', { email: person.email, password: PASSWORD })).status).toBe(422)
    expect((await admin.post(path, { ...fields, reactivate: person.email })).status).toBe(200)
    expect(await find(id)).toMatchObject({ status: 'active', roles: ['recruiter', 'client'] })
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { targetId: id, action: 'reactivated_member' } })
    expect(entry.details).toEqual({ roles: { before: ['admin', 'recruiter'], after: ['recruiter', 'client'] } })
    expect((await person.get(person.home)).status).toBe(303)
  })

  it('does not undo a concurrent change by another admin', async () => {
    const { organization, admin } = await start()
    const { id, email } = await service.make.member(organization.id, { roles: ['admin'] })
    const other = new Client(service.databaseUrl)
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query(`UPDATE members SET roles = '{client}' WHERE id = $1`, [id])
    const inviting = admin.post(`${admin.home}members/invite`, { email, roles: 'grader' }).then((answer) => answer.status)
    await waitUntil('the invitation to wait', async () => {
      const [{ waits }] = await service.db.$queryRaw<[{ waits: bigint }]>`
        SELECT count(*) AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return waits > 0n || undefined
    })
    await other.query('COMMIT')
    expect(await inviting).toBe(200)
    expect((await find(id)).roles).toEqual(['client', 'grader'])
  })

  it('sends another link only to members who have not joined', async () => {
    const { organization, admin } = await start()
    const member = await service.make.member(organization.id)
    const again = await admin.post(`${admin.home}members/${member.id}/link`)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('/portal/join/')])
    expect(await service.db.memberEmail.count({ where: { memberId: member.id } })).toBe(1)
    const joined = await admin.post(`${admin.home}members/${admin.member.id}/link`)
    expect([joined.status, joined.text]).toEqual([422, expect.stringContaining('has already joined')])
    await admin.post(`${admin.home}members/${member.id}/deactivate`)
    const inactive = await admin.post(`${admin.home}members/${member.id}/link`)
    expect([inactive.status, inactive.text]).toEqual([422, expect.stringContaining('not active')])
  })
})

describe('a member', () => {
  it('gets roles, department, tags, and languages, and keeps custom roles', async () => {
    const { organization, admin } = await start()
    const member = await service.make.member(organization.id, { roles: ['grader', 'recruiter'] })
    const [tag, german] = [await service.make.tag(organization.id), await service.make.language('de')]
    const path = `${admin.home}members/${member.id}`
    const page = (await admin.get(path)).text
    expect(page).toContain('Other roles: recruiter')
    const fields = { roles: ['admin', 'client'], department: 'Research', tags: tag.id, languages: german.id }
    expect((await admin.post(path, fields)).headers.location).toBe(`${path}?done=client`)
    expect(await find(member.id)).toMatchObject({
      roles: ['recruiter', 'admin', 'client'],
      department: 'Research',
      tags: [{ tagId: tag.id }],
      gradingLanguages: [{ languageId: german.id }],
    })
    expect((await admin.get(path)).text).toMatch(new RegExp(`value="${tag.id}" checked`))
    await admin.post(path, { department: '' })
    expect(await find(member.id)).toMatchObject({ roles: ['recruiter'], department: '', tags: [], gradingLanguages: [] })
  })

  it('gets grading languages and the right to read transcripts, which the audit log records', async () => {
    const { organization, admin } = await start()
    const member = await service.make.member(organization.id, { roles: ['grader'] })
    const basque = await service.make.language('eu')
    const path = `${admin.home}members/${member.id}`
    expect((await admin.get(path)).text).toContain('Basque')
    await admin.post(path, { roles: 'grader', languages: basque.id, canViewTranscription: 'yes' })
    expect(await find(member.id)).toMatchObject({ canViewTranscription: true, gradingLanguages: [{ languageId: basque.id }] })
    const where = { targetId: member.id, action: 'changed_member' }
    const entry = await service.db.auditEntry.findFirstOrThrow({ where })
    expect(entry.details).toEqual({
      gradingLanguages: { before: [], after: ['eu'] },
      canViewTranscription: { before: false, after: true },
    })
    expect((await admin.get(`${admin.home}settings/audit-log`)).text).toContain('Grading languages: none → Basque')
    expect(await service.db.memberEmail.count({ where: { memberId: member.id, kind: 'roles_changed' } })).toBe(0)
    await admin.post(path, { roles: 'grader' })
    expect(await find(member.id)).toMatchObject({ canViewTranscription: false, gradingLanguages: [] })
  })

  it("rejects another organization's tag, an unknown language, and a department that is too long", async () => {
    const { organization, admin } = await start()
    const member = await service.make.member(organization.id)
    const other = await service.make.tag((await service.make.organization()).id)
    const path = `${admin.home}members/${member.id}`
    const before = await find(member.id)
    for (const fields of [{ tags: other.id }, { tags: 'x\0' }, { languages: other.id }, { department: 'x'.repeat(201) }])
      expect([fields, (await admin.post(path, { roles: 'admin', ...fields })).status]).toEqual([fields, 422])
    expect(await find(member.id)).toEqual(before)
  })

  it('loses access at once when deactivated, with sessions and links, and regains it when reactivated', async () => {
    const { organization, admin } = await start()
    const member = await joinAs(service, organization, { roles: ['grader'] })
    const { id, credentialId } = await service.db.member.findFirstOrThrow({ where: { email: member.email } })
    const path = `${admin.home}members/${id}`
    expect((await member.get(member.home)).status).toBe(200)
    expect((await admin.post(`${path}/deactivate`)).headers.location).toBe(`${path}?done=deactivated`)
    const where = { credentialId: credentialId!, endedAt: null }
    expect(await service.db.session.count({ where })).toBe(0)
    expect((await member.get(member.home)).headers.location).toMatch(/sign-in/)
    const signIn = () => visit(service).post('/portal/sign-in', { email: member.email, password: PASSWORD })
    expect((await signIn()).status).toBe(422)
    const nameless = await admin.post(`${path}/reactivate`)
    expect([nameless.status, nameless.text]).toEqual([422, expect.stringContaining('Choose at least one role.')])
    expect((await signIn()).status).toBe(422)
    await admin.post(`${path}/reactivate`, { defaultRoles: 'client' })
    expect(await find(id)).toMatchObject({ status: 'active', roles: ['client'] })
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { targetId: id, action: 'reactivated_member' } })
    expect(entry.details).toEqual({ roles: { before: ['grader'], after: ['client'] } })
    expect((await member.get(member.home)).headers.location).toMatch(/sign-in/)
    expect((await signIn()).status).toBe(303)
    expect(await actionsOf(organization.id)).toEqual(
      expect.arrayContaining(['deactivated_member', 'reactivated_member', 'signed_in']),
    )
  })

  it.each(['portal', 'import'])(
    'does not regain sessions after reactivation, and keeps those of other organizations: %s',
    async (how) => {
      const { organization, admin } = await start()
      const member = await joinAs(service, organization, { roles: ['client'] })
      const { id, credentialId } = await service.db.member.findFirstOrThrow({ where: { email: member.email } })
      const other = await service.make.organization()
      const elsewhere = await service.make.member(other.id, { credentialId, roles: ['admin'], status: 'inactive' })
      const set = async (status: 'active' | 'inactive') => {
        service.clock.advance(1_000)
        if (how === 'portal')
          return admin.post(`${admin.home}members/${id}/${status === 'active' ? 'reactivate' : 'deactivate'}`, {
            defaultRoles: 'client',
          })
        const row = { id, firstName: 'Ada', lastName: 'Lovelace', email: member.email, status }
        const document = { organizations: [{ id: organization.id, name: organization.name, members: [row] }] }
        return importDocument(service.system, readDocument(document))
      }
      await set('inactive')
      await set('active')
      expect((await member.get(member.home)).headers.location).toMatch(/sign-in/)

      const signIn = async () => {
        service.clock.advance(1_000)
        const person = visit(service)
        await person.post('/portal/sign-in', { email: member.email, password: PASSWORD })
        return person
      }
      await service.db.member.update({ where: { id: elsewhere.id }, data: { status: 'active' } })
      const before = await signIn()
      await set('inactive')
      await set('active')
      expect((await before.get(member.home)).headers.location).toMatch(/sign-in/)
      expect((await before.get(`/portal/${other.id}/`)).status).toBe(200)
      const after = await signIn()
      for (const home of [member.home, `/portal/${other.id}/`]) expect((await after.get(home)).status).toBe(200)
    },
  )

  it('stays signed in to other organizations', async () => {
    const { organization, admin } = await start()
    const member = await signInAs(service, organization.id, ['client'])
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: member.member.id } })
    const other = await service.make.organization()
    await service.make.member(other.id, { credentialId, roles: ['admin'] })
    await admin.post(`${admin.home}members/${member.member.id}/deactivate`)
    expect((await member.get(member.home)).status).toBe(404)
    expect((await member.get(`/portal/${other.id}/`)).status).toBe(200)
  })

  it('keeps the admin role as the last admin who has joined', async () => {
    const { organization, admin } = await start()
    await service.make.member(organization.id, { roles: ['admin'] }) // this admin has not joined
    const path = `${admin.home}members/${admin.member.id}`
    const answer = await admin.post(`${path}/deactivate`)
    expect([answer.status, answer.text]).toEqual([
      422,
      expect.stringContaining('The organization needs at least one active admin'),
    ])
    expect(await find(admin.member.id)).toMatchObject({ roles: ['admin'], status: 'active' })
    await signInAs(service, organization.id, ['admin'])
    expect((await admin.post(`${path}/deactivate`)).headers.location).toBe('/portal')
    expect((await admin.get(`${admin.home}members`)).headers.location).toMatch(/sign-in/)
  })

  it.each(['', '/deactivate'])('remains the only admin if all remove each other at the same moment: POST …%s', async (what) => {
    const { organization, admin } = await start()
    const admins = [admin, ...(await Promise.all([1, 2, 3].map(() => signInAs(service, organization.id, ['admin']))))]
    await Promise.all(
      admins.flatMap((one) =>
        admins.filter((other) => other !== one).map((other) => one.post(`${admin.home}members/${other.member.id}${what}`)),
      ),
    )
    const left = { organizationId: organization.id, status: 'active' as const, roles: { has: 'admin' } }
    expect(await service.db.member.count({ where: left })).toBe(1)
  })
})

it('escapes hostile text on every page', async () => {
  const { organization, admin } = await start()
  const text = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>&lt;`
  const member = await service.make.member(organization.id, { firstName: text, department: text, roles: [text] })
  await service.make.tag(organization.id, { name: text, description: text })
  for (const path of ['members', `members/${member.id}`, `members?search=${encodeURIComponent(text)}`, 'tags'])
    expect([path, (await admin.get(admin.home + path)).text]).toEqual([
      path,
      expect.not.stringMatching(/<script>alert|<img src=x/),
    ])
})

it('keeps a tag beyond the listed ones when other fields are saved, and explains that the list is incomplete', async () => {
  const { organization, admin } = await start()
  const now = service.clock.now()
  const names = Array.from({ length: 1_001 }, (_, i) => `Tag ${String(i).padStart(4, '0')}`)
  const rows = names.map((name) => ({
    id: service.deps.newId(),
    organizationId: organization.id,
    name,
    ...nameKeys(name),
    color: '#123456',
  }))
  await service.db.tag.createMany({ data: rows.map((row) => ({ ...row, createdAt: now, updatedAt: now })) })
  const member = await service.make.member(organization.id)
  const tagId = rows.at(-1)!.id
  await service.db.memberTag.create({ data: { organizationId: organization.id, memberId: member.id, tagId, position: 0 } })
  const path = `${admin.home}members/${member.id}`
  const { text } = await admin.get(path)
  expect(text).toContain('the first 1,000 by name')
  const tags = [...text.matchAll(/name="tags" value="([^"]+)" checked/g)].map(([, id]) => id!)
  expect(tags).toEqual([tagId])
  await admin.post(path, { roles: 'grader', department: 'Research', tags })
  expect(await find(member.id)).toMatchObject({ department: 'Research', tags: [{ tagId }] })
  expect((await admin.get(`${admin.home}invites/new`)).text).toContain('The first 1,000 by name')
})
