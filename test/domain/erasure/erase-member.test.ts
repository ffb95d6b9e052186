import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { requestMemberArchive } from '../../../src/domain/archives/request-archive.ts'
import type { Context } from '../../../src/domain/context.ts'
import { continueErasure } from '../../../src/domain/erasure/continue-erasure.ts'
import { eraseAgain, findUnfinishedErasures } from '../../../src/domain/erasure/erase-again.ts'
import { eraseOrphanedAccounts } from '../../../src/domain/erasure/erase-orphaned-accounts.ts'
import { type Erasure, getErasure, listErasures, MEMBER_STEPS } from '../../../src/domain/erasure/erasures.ts'
import { requestMemberErasure } from '../../../src/domain/erasure/request-member-erasure.ts'
import { inviteMember } from '../../../src/domain/members/invite-member.ts'
import { changeMember, deactivateMember } from '../../../src/domain/members/manage-members.ts'
import { portalPathOf } from '../../../src/http/addresses/links.ts'
import { eraseThroughStops, STOPS } from '../../support/erase-through-stops.ts'
import { asEraser, dumpRows, linesOf, listStore, spellingsOf } from '../../support/erasing.ts'
import { enrolApp } from '../../support/factors.ts'
import { joinPath, PASSWORD, signInAs, visit } from '../../support/portal.ts'
import { recordQueries } from '../../support/queries.ts'
import { runSweep } from '../../support/run-sweep.ts'
import { saveFormInSession } from '../../support/saved-forms.ts'
import { startServiceForFile } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()
const { db, make } = service
const NAME = ['Ottoline', 'Quackenbush'] as const

const waitForReceipt = (ctx: Context, id: string): Promise<Erasure> =>
  waitUntil('the receipt', async () => {
    const erasure = await getErasure(ctx, id)
    return erasure.finishedAt ? erasure : undefined
  })

/** Texts that contain one of the words, in any spelling. */
const hitsOf = (texts: readonly string[], words: readonly string[]): string[] => {
  const spelt = words.flatMap(spellingsOf)
  return texts.filter((text) => spelt.some((word) => text.toLowerCase().includes(word)))
}

/** Rows that contain one of the words, as `table row`. */
const rowsWith = async (...words: string[]): Promise<string[]> =>
  hitsOf(
    [...(await dumpRows(service))].flatMap(([name, rows]) => rows.map((row) => `${name} ${row}`)),
    words,
  )
const tablesOf = (rows: string[]): string[] => [...new Set(rows.map((row) => row.split(' ')[0]!))].sort()

/** Creates an organization with an owner, and with a member to erase. */
async function createMembers(email = `${service.deps.newId()}@Erase-Member.example`) {
  const organization = await make.organization()
  const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
  await db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
  const person = visit(service)
  const path = await joinPath(service, organization, email, ['grader', 'admin'])
  const home = `/portal/${organization.id}/`
  await person.post(path, { firstName: NAME[0], lastName: NAME[1], password: PASSWORD })
  const member = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email } })
  return { organization, owner, person, member, home, email, ctx: asEraser(service, organization) }
}

const ISSUER = 'https://idp.example'
/** Adds an identity provider to the organization and returns its id. */
async function addProvider(organizationId: string, more: { lastError?: string } = {}): Promise<string> {
  const now = service.clock.now()
  const its = { organizationId, name: 'Acme', issuer: ISSUER, clientId: 'us', clientAuth: 'none', createdAt: now, updatedAt: now }
  const data = { ...its, ...more, id: service.deps.newId(), encryptedClientSecret: new Uint8Array([1]) }
  return (await db.signInProvider.create({ data })).id
}

const FAR = 'idp-subject-of-ottoline-4711'
const SEEN = 'Ottoline.Seen@Elsewhere.example'
const AGENT = 'Quackscape/9.9'
const PLACE = 'Department of improbable ducks'

/**
 * Leaves traces of the member everywhere: grades, identities, audit entries, mails, bounces, failed jobs, and an archive, and texts of other
 * members that name them.
 */
async function leaveTraces({ organization, owner, person, member, home, email }: Awaited<ReturnType<typeof createMembers>>) {
  const { system } = service
  const organizationId = organization.id
  const [now, id] = [service.clock.now(), () => service.deps.newId()]
  const credentialId = await credentialOf(member.id)
  await enrolApp(person, service.clock.now)
  await person.post(`${home}account/name`, { firstName: NAME[0], lastName: NAME[1] })
  for (const memberId of [member.id, owner.member.id]) {
    const filter = { organizationId, memberId, isShared: false, createdAt: now, name: 'Theirs' }
    await db.savedFilter.create({ data: { ...filter, id: id(), query: `search=${encodeURIComponent(email)}` } })
  }
  await changeMember(asEraser(service, organization), member.id, { department: PLACE })
  await db.user.update({ where: { id: member.userId }, data: { avatarUrl: `https://pictures.example/${email}.png` } })

  const { key } = await createApiKey(system, { organizationId, name: 'For tests', mode: 'test' })
  const v1 = service.v1(key)
  const assessment = await make.assessment(organizationId, { createdById: member.id })
  await make.question(assessment, { order: 1, responseType: 'text', points: 5 })
  const fields = { assessmentId: assessment.id, recipientEmail: 'candidate@keep-me.example', assignedGraderId: member.id }
  const sent = await v1.post('/invites').set('Idempotency-Key', `invite-for-${email}`).send(fields)
  expect([sent.status, sent.body.error]).toEqual([201, undefined])
  const inviteId: string = sent.body.invite.id
  const graded = { answers: [{ number: 1, text: 'An answer' }], grades: [{ number: 1, points: 4, comment: 'Well done' }] }
  const released = await v1
    .post(`/invites/${inviteId}/simulate`)
    .set('Idempotency-Key', 'release')
    .send({ action: 'release', ...graded })
  expect([released.status, released.body.error]).toEqual([200, undefined])
  expect(await db.grade.count({ where: { organizationId, graderId: member.id } })).toBe(1)

  const times = { createdAt: now, updatedAt: now }
  const providerId = await addProvider(organizationId, { lastError: `The token of ${email} had no name` })
  const identity = { providerId, issuer: ISSUER, subject: FAR, credentialId, organizationId, memberId: member.id }
  await db.identity.create({ data: { ...identity, id: id(), lastEmail: SEEN, linkedBy: 'self', linkedAt: now } })

  const entry = (action: string, details: object, actorId = owner.member.id) => ({
    ...{ id: id(), organizationId, actorKind: 'member', actorId, at: now, action, details },
  })
  await db.auditEntry.createMany({
    data: [
      { ...entry('reset_factors', { reason: 'Ducks ate the phone' }), targetKind: 'member', targetId: member.id },
      entry('lifted_suppression', { was: 'manual', why: `${NAME.join(' ')} has asked` }),
      { ...entry('refused_sign_in', { provider: 'Acme', email: SEEN, subject: FAR }), actorId: null, actorKind: 'system' },
      { ...entry('graded', {}, member.id), address: '203.0.113.77', userAgent: AGENT },
    ],
  })
  const mail = (memberId: string, more: object) => ({ id: id(), organizationId, memberId, ...times, ...more })
  const toThem = mail(member.id, { kind: 'sessions_ended', reason: `550 <${email}>: unknown`, state: 'failed' as const })
  const facts = { person: NAME.join(' '), address: '203.0.113.77', userAgent: AGENT }
  await db.memberEmail.createMany({
    data: [
      toThem as never,
      mail(owner.member.id, { kind: 'security_changed', facts }) as never,
      mail(owner.member.id, {
        kind: 'ownership_offer_made',
        facts: { person: 'Somebody Else', called: NAME.join(' ') },
      }) as never,
    ],
  })
  const bounceEvent = { provider: 'dsn', eventId: toThem.id, emailId: toThem.id, receivedAt: now, processedAt: now }
  await db.mailEvent.create({ data: { id: id(), ...bounceEvent, body: new Uint8Array(Buffer.from(`550 ${email}`)) } })
  await db.$executeRaw`
    INSERT INTO pgboss.job (name, data, state, output)
    SELECT name, ${JSON.stringify({ emailId: toThem.id, organizationId })}::jsonb, 'failed', jsonb_build_object('message', ${`550 ${email}`}::text)
    FROM pgboss.queue WHERE name = 'member-email'`
  const form = { url: `${home}members?search=${encodeURIComponent(email)}`, isMultipart: false, page: null, isIncomplete: false }
  await saveFormInSession(system, owner.member.credentialId ?? (await credentialOf(owner.member.id)), {
    ...form,
    fields: [['who', NAME.join(' ')]],
  })
  await saveFormInSession(system, credentialId, { ...form, fields: [['who', 'myself']] })
  await db.ownershipOffer.create({
    data: { id: id(), organizationId, fromMemberId: owner.member.id, toMemberId: member.id, createdAt: now, expiresAt: now },
  })
  const self = { kind: 'member', id: member.id, userId: member.userId, roles: ['admin'], portalRoles: [] } as const
  const archive = await requestMemberArchive(
    { ...asEraser(service, organization), actor: { ...self, roles: [...self.roles], portalRoles: [] } },
    member.id,
  )
  await waitUntil('the archive', async () =>
    (await db.archive.findFirstOrThrow({ where: { id: archive.id } })).finishedAt ? true : undefined,
  )
  await waitUntil('the mails', async () =>
    (await db.memberEmail.count({ where: { organizationId, state: 'queued', memberId: member.id } })) === 0 ? true : undefined,
  )
  return { v1, inviteId, assessment }
}

/** Folders of stored files. Parts may be joined meanwhile. */
const listFolders = async () => [...new Set((await listStore(service)).map((file) => file.split('/', 2).join('/')))]

it("removes the member's identity everywhere, and attributes their grades to a former grader", async () => {
  const made = await createMembers()
  const { organization, owner, person, member, home, email, ctx } = made
  const organizationId = organization.id
  const { v1, inviteId, assessment } = await leaveTraces(made)
  const words = [email, NAME.join(' '), NAME[1], FAR, SEEN, AGENT, PLACE, 'Ducks ate']
  const files = await listFolders()
  const { key } = await db.archive.findFirstOrThrow({ where: { organizationId } })
  const archived = files.filter((folder) => folder === key)
  expect(tablesOf(await rowsWith(...words))).toEqual(
    expect.arrayContaining([
      ...['pgboss.job', 'public.audit_entries', 'public.credentials', 'public.idempotency_records', 'public.identities'],
      ...['public.mail_events', 'public.member_emails', 'public.members', 'public.saved_forms', 'public.saved_filters'],
      ...['public.sign_in_providers', 'public.users'],
    ]),
  )
  const others = await v1.get(`/invites/${inviteId}`)

  const page = `${home}members/${member.id}`
  expect((await owner.get(page)).text).toContain(`${page}/erase`)
  const asked = await owner.get(`${page}/erase`)
  expect(asked.text).toContain('those of a former grader')
  const once = /name="once" value="([^"]+)"/.exec(asked.text)![1]!
  expect((await owner.post(`${page}/erase`, { once })).status).toBe(422)
  const from = service.logLines.length
  const { status, headers } = await owner.post(`${page}/erase`, { once, sure: 'yes' })
  expect(status).toBe(303)
  const id = headers.location!.split('/').at(-1)!
  const erasure = await waitForReceipt(ctx, id)

  expect(await rowsWith(...words)).toEqual([])
  expect(hitsOf(service.logLines.slice(from), words)).toEqual([])
  expect(archived.length).toBeGreaterThan(0)
  expect(await listFolders()).toEqual(files.filter((file) => !archived.includes(file)))
  expect(erasure).toMatchObject({ subject: 'member', ofMember: { members: 1, accounts: 1 } })
  expect(erasure.ofMember.memberMails).toBeGreaterThan(0)
  expect(erasure.ofMember.auditEntries).toBeGreaterThan(2)
  expect(erasure.counts.requestRecords).toBeGreaterThan(0)
  expect(erasure.counts.otherTraces).toBeGreaterThan(8)
  const theirs = await db.auditEntry.findMany({ where: { organizationId, actorId: member.id } })
  expect(theirs.filter(({ address, userAgent }) => address !== null || userAgent !== null)).toEqual([])
  expect(theirs.map(({ action }) => action)).toEqual(expect.arrayContaining(['joined', 'graded']))
  const lines = await linesOf(service, id)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ subject: 'member', memberId: member.id }])
  expect(hitsOf(lines, words)).toEqual([])
  expect((await person.get(home)).status).not.toBe(200)

  // Remaining data on pages, in exports, and in both interfaces.
  const receipt = await owner.get(headers.location!)
  expect(receipt.text).toContain('Sign-in methods')
  expect((await owner.get(`${home}settings/erasures`)).text).toContain('A member')
  expect((await owner.get(page)).status).toBe(404)
  for (const path of ['members', 'settings/audit-log', 'grading', 'assessments', `invites/${inviteId}`, 'settings/security']) {
    const { text } = await owner.get(home + path)
    expect([path, text.includes('erased.invalid'), text.includes(NAME[1])]).toEqual([path, false, false])
  }
  expect((await owner.get(`${home}settings/audit-log`)).text).toContain('a former member')
  const test = portalPathOf({ organization, mode: 'test' })
  for (const [path, says] of [
    [`${home}settings/audit-log/export`, 'a former member'],
    [`${test}results/assessments/${assessment.id}/export`, 'a former grader'],
    [`${test}invites/export`, 'a former grader'],
    [`${home}members/export`, ''],
  ] as const) {
    const { status, text } = await owner.post(path)
    expect([path, status, hitsOf([text], ['erased.invalid', NAME[1]])]).toEqual([path, 200, []])
    expect(text).toContain(says)
  }
  expect((await owner.get(`${test}invites/${inviteId}`)).text).toContain('A former grader')
  const { body } = await v1.get('/members')
  expect(body.members.map((one: { id: string }) => one.id)).toEqual([owner.member.id])
  const former = { id: member.id, firstName: 'A former', lastName: 'grader', email: `${member.id}@erased.invalid` }
  const after = await v1.get(`/invites/${inviteId}`)
  expect(others.body.assignedGrader.email).toBe(email)
  expect(after.body).toEqual({ ...others.body, assignedGrader: former })
  const result = await v1.get(`/invites/${inviteId}/submission`)
  expect([result.status, hitsOf([result.text], words)]).toEqual([200, []])
  const alternate = service.alternate(organization.key)
  expect((await alternate.get(`/organization_users/${member.id}`)).status).toBe(404)
  expect((await alternate.get(`/organization_users/${owner.member.id}`)).status).toBe(200)
  const { text: listed } = await alternate.get('/organization_users')
  expect([listed.includes(owner.member.id), listed.includes(member.id)]).toEqual([true, false])
  for (const action of ['reactivate', 'deactivate', 'erase', 'link'])
    expect((await owner.post(`${page}/${action}`, { defaultRoles: 'admin', sure: 'yes' })).status).toBe(404)
  await expect(inviteMember(ctx, { email: former.email, roles: ['admin'], mails: false })).rejects.toMatchObject({
    issues: [{ field: 'email', rule: 'email' }],
  })
  await expect(requestMemberArchive(ctx, member.id)).rejects.toMatchObject({ kind: 'member_not_found' })

  // A later invitation to the same address creates a new member.
  const path = await joinPath(service, organization, email)
  expect((await visit(service).get(path)).status).toBe(200)
})

const credentialOf = async (memberId: string) => (await db.member.findUniqueOrThrow({ where: { id: memberId } })).credentialId!

it("keeps an account that another organization uses, and deletes this organization's proofs and forms", async () => {
  const { organization, member, person, email, home, ctx } = await createMembers()
  const other = await make.organization()
  await person.post(await joinPath(service, other, email), { firstName: NAME[0], lastName: NAME[1], password: PASSWORD })
  const there = await db.member.findFirstOrThrow({ where: { organizationId: other.id, email }, include: { user: true } })
  const credentialId = await credentialOf(there.id)
  const word = { kind: 'oidc', providerId: await addProvider(organization.id), at: service.clock.now() }
  const { id: sessionId, ...session } = await db.session.findFirstOrThrow({ where: { credentialId, endedAt: null } })
  await db.sessionAuthentication.create({ data: { ...word, id: service.deps.newId(), sessionId } })
  const [byWordAlone, tokenHash] = [service.deps.newId(), new Uint8Array([...Buffer.from(credentialId)])]
  const code = { id: service.deps.newId(), kind: 'totp', at: service.clock.now() }
  const proofs = { create: [{ ...word, id: service.deps.newId() }, code] }
  await db.session.create({ data: { ...session, id: byWordAlone, tokenHash, proofs } })
  const form = { isMultipart: false, page: null, isIncomplete: false, fields: [] }
  for (const url of [`${home}members`, `/portal/${other.id}/members`])
    await saveFormInSession(service.system, credentialId, { ...form, url })
  const { id } = await requestMemberErasure(ctx, { memberId: member.id })
  expect((await waitForReceipt(ctx, id)).ofMember).toMatchObject({ members: 1, accounts: 0 })
  const forms = await db.savedForm.findMany({ where: { credentialId } })
  expect(forms.map(({ url }) => url)).toEqual([`/portal/${other.id}/members`])
  const after = await db.member.findFirstOrThrow({ where: { id: there.id }, include: { user: true } })
  expect(after).toEqual(there)
  expect(await db.session.count({ where: { id: byWordAlone } })).toBe(0)
  expect((await db.sessionAuthentication.findMany({ where: { sessionId } })).map(({ kind }) => kind)).toEqual(['password'])
  expect((await person.get(`/portal/${other.id}/`)).status).toBe(200)
  expect((await person.get(`/portal/${organization.id}/`)).status).toBe(404)
})

it('rejects erasing oneself, the last owner, or, as an admin, an owner', async () => {
  const { organization, owner, person, member, home, ctx } = await createMembers()
  await expect(requestMemberErasure(ctx, { memberId: owner.member.id })).rejects.toMatchObject({
    issues: [{ problem: 'lastOwner' }],
  })
  const self: Context = {
    ...ctx,
    actor: { kind: 'member', id: owner.member.id, userId: owner.member.userId, roles: ['admin'], portalRoles: ['owner'] },
  }
  await expect(requestMemberErasure(self, { memberId: owner.member.id })).rejects.toMatchObject({
    issues: [{ problem: 'ownErasure' }],
  })
  expect((await person.get(`${home}members/${owner.member.id}/erase`)).status).toBe(404)
  expect((await person.post(`${home}members/${owner.member.id}/erase`, { sure: 'yes' })).status).toBe(404)
  const other = asEraser(service, await make.organization())
  await expect(requestMemberErasure(other, { memberId: member.id })).rejects.toMatchObject({ kind: 'member_not_found' })
  expect(await db.member.count({ where: { organizationId: organization.id, erasedAt: null } })).toBe(2)
})

it("repeats an erasure after a restore, and revokes the member's keys on request", async () => {
  const { organization, member, email, ctx } = await createMembers()
  const key = await db.apiKey.create({
    data: {
      id: service.deps.newId(),
      organizationId: organization.id,
      name: 'Theirs',
      mode: 'live',
      hash: new Uint8Array([7, 7]),
      lastFour: 'abcd',
      createdById: member.id,
      createdAt: service.clock.now(),
    },
  })
  const saved = {
    user: await db.user.findUniqueOrThrow({ where: { id: member.userId } }),
    member: await db.member.findUniqueOrThrow({ where: { id: member.id } }),
  }
  const { id } = await requestMemberErasure(ctx, { memberId: member.id, revokesKeys: true })
  await continueErasure(service.system, { organizationId: organization.id, erasureId: id })
  await waitForReceipt(ctx, id)
  expect((await db.apiKey.findUniqueOrThrow({ where: { id: key.id } })).revokedAt).not.toBeNull()
  expect((await findUnfinishedErasures(service.system)).filter((line) => line.id === id)).toEqual([])

  // Restores the state of a backup: the member exists again, and the erasure is unknown.
  await db.erasure.deleteMany({ where: { id } })
  await db.user.create({ data: saved.user })
  await db.member.update({ where: { id: member.id }, data: { ...saved.member, credentialId: null } })
  expect((await findUnfinishedErasures(service.system)).map((line) => line.id)).toContain(id)
  const operator = { ...service.system, actor: { kind: 'operator' as const } }
  expect((await eraseAgain(operator)).filter((one) => one.id === id)).toEqual([
    { id, organizationId: organization.id, found: true },
  ])
  expect(await rowsWith(email)).toEqual([])
  expect((await findUnfinishedErasures(service.system)).filter((line) => line.id === id)).toEqual([])
})

itSlow("finishes a member's erasure once with a correct receipt, even if each step is stopped repeatedly", async () => {
  const made = await createMembers()
  const { member, email, ctx } = made
  await leaveTraces(made)
  const twin = await createMembers()
  await leaveTraces(twin)
  const undisturbed = await waitForReceipt(twin.ctx, (await requestMemberErasure(twin.ctx, { memberId: twin.member.id })).id)
  const { id, times, failures } = await eraseThroughStops(service, ctx, MEMBER_STEPS, (alone) =>
    requestMemberErasure(alone, { memberId: member.id }),
  )
  expect(Math.min(...Object.values(times))).toBeGreaterThan(STOPS)
  expect(failures).toEqual(['stopped', 'store'])
  const { ofMember, counts } = await getErasure(ctx, id)
  expect({ ofMember, counts }).toEqual({ ofMember: undisturbed.ofMember, counts: undisturbed.counts })
  expect(await linesOf(service, id)).toHaveLength(1)
  expect(await rowsWith(email, NAME.join(' '), FAR, SEEN)).toEqual([])
})

it('hides erasures of members and by retention from API keys', async () => {
  const { organization, member, ctx } = await createMembers()
  const { id } = await requestMemberErasure(ctx, { memberId: member.id })
  await waitForReceipt(ctx, id)
  const night = {
    organizationId: organization.id,
    id: service.deps.newId(),
    subject: 'retention',
    actorKind: 'system',
    step: 'receipt',
  }
  const at = service.clock.now()
  await db.erasure.create({
    data: { ...night, addressHmac: new Uint8Array([1]), createdAt: at, finishedAt: at, backupsUntil: at },
  })
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'Eraser', mode: 'live' })
  await changeApiKey(service.system, apiKey.id, { scopes: ['candidates:erase'] })
  const v1 = service.v1(key)
  const sent = await v1.delete('/candidates').send({ email: 'nobody@example.com' })
  const candidates: string = sent.body.erasure.id
  for (const [of, status] of [
    [id, 404],
    [night.id, 404],
    [candidates, 200],
  ] as const)
    expect([of, (await v1.get(`/erasures/${of}`)).status]).toEqual([of, status])
  const actor = { kind: 'apiKey', id: apiKey.id, rights: [], scopes: ['candidates:erase'] } as const
  const asKey: Context = { ...ctx, actor: actor as never }
  const page = { number: 1, size: 10 }
  expect((await listErasures(asKey, page)).items.map((one) => one.id)).toEqual([candidates])
  expect((await listErasures(ctx, page)).total).toBe(3)
})

describe('an orphaned account', () => {
  const DAY_MS = 86_400_000

  it('is deleted after 30 days with all its sign-in methods, and leaves no trace', async () => {
    const email = 'Left.Over@Erase-Member.example'
    const { organization, person, member } = await createMembers(email)
    await enrolApp(person, service.clock.now)
    const credentialId = await credentialOf(member.id)
    const form = { url: '/portal', isMultipart: false, page: null, isIncomplete: false, fields: [['who', email]] as const }
    await saveFormInSession(service.system, credentialId, form)
    // An earlier release deleted the member, but not the account.
    await db.auditEntry.deleteMany({ where: { organizationId: organization.id } })
    await db.member.delete({ where: { id: member.id } })
    const there = async () => [
      await db.user.count({ where: { id: member.userId } }),
      await db.credential.count({ where: { id: credentialId } }),
      await db.session.count({ where: { credentialId } }),
      await db.secondFactor.count({ where: { credentialId } }),
      await db.recoveryCode.count({ where: { credentialId } }),
      await db.device.count({ where: { credentialId } }),
      await db.savedForm.count({ where: { credentialId } }),
    ]
    await eraseOrphanedAccounts(service.system)
    const before = await there()
    expect(before.every((count) => count > 0)).toBe(true)
    service.clock.advance(30 * DAY_MS - 1)
    expect(await eraseOrphanedAccounts(service.system)).toBe(0)
    expect(await there()).toEqual(before)
    service.clock.advance(1)
    await runSweep(service, ['erase_orphaned_accounts'])
    await waitUntil('the sweep', async () => (await there()).every((count) => count === 0) || undefined)
    expect(await rowsWith(email)).toEqual([])
    expect(hitsOf(service.logLines, [email])).toEqual([])
  })

  it('is kept if its owner joins another organization, or if the member is only deactivated', async () => {
    const { member, email, person } = await createMembers()
    const idle = await createMembers()
    await deactivateMember(idle.ctx, idle.member.id)
    const credentialId = await credentialOf(member.id)
    const idleId = await credentialOf(idle.member.id)
    await db.member.delete({ where: { id: member.id } })
    await eraseOrphanedAccounts(service.system)
    expect(await db.credential.count({ where: { id: credentialId, orphanedSince: { not: null } } })).toBe(1)
    const other = await make.organization()
    service.clock.advance(29 * DAY_MS)
    await person.post(await joinPath(service, other, email), { firstName: NAME[0], lastName: NAME[1], password: PASSWORD })
    service.clock.advance(DAY_MS)
    await eraseOrphanedAccounts(service.system)
    expect(
      await db.credential.findMany({ where: { id: { in: [credentialId, idleId] } }, select: { orphanedSince: true } }),
    ).toEqual([{ orphanedSince: null }, { orphanedSince: null }])
    expect(await db.user.count({ where: { id: idle.member.userId } })).toBe(1)
    expect(await db.member.count({ where: { organizationId: other.id, credentialId } })).toBe(1)
  })

  // Runs last, because so many accounts would disturb the other tests.
  itSlow('is found without reading the other accounts, however many there are', async () => {
    const { member } = await createMembers()
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    await client.query(`SET statement_timeout = 0`)
    await client.query(`
      INSERT INTO users (id, first_name, last_name, first_name_key, last_name_key, search_key, email, created_at, updated_at, needs_orphan_check)
      SELECT gen_random_uuid(), 'One', 'Of many', 'one', 'of many', 'one of many', n || '@many.example', now(), now(), false FROM generate_series(1, 200000) AS n`)
    await client.query(`
      INSERT INTO credentials (id, email, password_hash, password_changed_at, created_at, needs_orphan_check)
      SELECT id, email, 'none', now(), now(), false FROM users WHERE email LIKE '%@many.example'`)
    await client.query('VACUUM ANALYZE users, credentials, members')
    await db.member.delete({ where: { id: member.id } })
    const { queries } = await recordQueries(() => eraseOrphanedAccounts(service.system))
    expect(await db.user.count({ where: { id: member.userId, orphanedSince: { not: null } } })).toBe(1)
    const asked = queries.filter(({ text }) => /"(users|credentials)"/.test(text))
    expect(asked.length).toBeGreaterThan(6)
    for (const { text, values } of asked) {
      await client.query('BEGIN')
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
      await client.query('ROLLBACK')
      const { Plan: plan } = rows[0]['QUERY PLAN'][0]
      expect([text, plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] < 100]).toEqual([text, true])
    }
    await client.end()
  })
})

it("shows an erased member in other members' filters and forms, where they can be replaced or deleted", async () => {
  const { organization, owner, member, home, email, ctx } = await createMembers()
  const name = 'Al Bo' // shorter than its replacement
  await db.user.update({ where: { id: member.userId }, data: { firstName: 'Al', lastName: 'Bo' } })
  const invite = await make.invite(await make.assessment(organization.id), { assignedGraderId: member.id })
  const save = (filterName: string, query: string) => owner.post(`${home}invites/filters`, { filterName, query })
  await save(`Of ${name}`, `state=pending&search=${encodeURIComponent(email)}`)
  await save('Their grading', `grader=${member.id}`)
  await save(`${'x'.repeat(59 - name.length)} ${name}`, 'state=pending')
  const fields = [
    ['name', 'Kept'],
    ['description', `Ask ${name} <${email}>`],
  ] as const
  const form = { url: `${home}tags`, fields, isMultipart: false, page: null, isIncomplete: false }
  const formId = await saveFormInSession(service.system, (await credentialOf(owner.member.id))!, form)

  const { id } = await requestMemberErasure(ctx, { memberId: member.id })
  await waitForReceipt(ctx, id)
  const list = (await owner.get(`${home}invites`)).text
  expect(list).toContain('Of an erased member')
  expect(list).toMatch(/Their grading <span[^>]*>an erased member</)
  const worded = (await owner.get(`${home}invites?state=pending&search=an+erased+member`)).text
  expect(worded).toContain('save it as “Of an erased member”, or delete it')
  const graded = (await owner.get(`${home}invites?grader=${member.id}`)).text
  expect(graded).toMatch(new RegExp(`<option value="${member.id}" selected[^>]*>an erased member`))
  expect(graded).toContain(invite.id)
  expect((await owner.get(`/portal/resume/${formId}`)).text).toContain('Ask an erased member &lt;an erased member&gt;')

  await save('Their grading', 'state=pending')
  expect((await owner.get(`${home}invites`)).text).not.toContain('Their grading <span')
  const filter = await db.savedFilter.findFirstOrThrow({
    where: { organizationId: organization.id, name: 'Of an erased member' },
  })
  await owner.post(`${home}invites/filters/${filter.id}/delete`)
  const long = await db.savedFilter.findFirstOrThrow({ where: { organizationId: organization.id, name: { startsWith: 'xxx' } } })
  expect((await save(long.name, 'state=expired')).status).toBe(303)
  await owner.post(`${home}invites/filters/${long.id}/delete`)
  expect((await owner.get(`${home}invites`)).text).not.toContain('erased member')
})
