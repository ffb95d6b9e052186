import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { nameKeys } from '../../src/domain/text/fold-text.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { DAY_MS } from '../support/factories.ts'
import { startServiceForFile } from '../support/service.ts'
import { documentOf, dumpDatabase, fullDocument, uniqueName } from './document.ts'

const service = await startServiceForFile()

const load = (document: unknown) => importDocument(service.system, readDocument(document))
const loadOne = async (document: unknown) => (await load(document)).organizations[0]!.id
const person = (email: string) => ({ firstName: 'A', lastName: 'B', email })
const total = (summary: Awaited<ReturnType<typeof load>>, count: 'created' | 'updated' | 'unchanged') =>
  Object.values(summary.counts).reduce((sum, counts) => sum + counts[count], 0)

test('keeps every field of the document', async () => {
  const document = fullDocument()
  const [given] = document.organizations as unknown as [ReturnType<typeof JSON.parse>]
  const id = await loadOne(document)
  const { db } = service

  expect(await db.organization.findUniqueOrThrow({ where: { id } })).toMatchObject({ name: given.name, tier: 'enterprise' })
  const member = await db.member.findFirstOrThrow({
    where: { organizationId: id },
    include: { user: true, tags: true, gradingLanguages: { include: { language: true }, orderBy: { position: 'asc' } } },
  })
  const [wanted] = given.members
  expect(member).toMatchObject({
    id: wanted.id,
    email: wanted.email,
    roles: wanted.roles,
    status: 'inactive',
    department: 'Talent',
    canViewTranscription: true,
    joinedAt: new Date(wanted.joinedAt),
    createdAt: new Date(wanted.createdAt),
    updatedAt: new Date(wanted.updatedAt),
    user: { firstName: 'Maya', lastName: 'Okafor', email: wanted.email, avatarUrl: wanted.avatarUrl },
  })
  expect(member.gradingLanguages.map(({ language }) => language.code)).toEqual(['de', 'en'])
  expect(member.tags.map(({ tagId }) => tagId)).toEqual(wanted.tagIds)

  const [tag] = given.tags
  expect(await db.tag.findFirstOrThrow({ where: { organizationId: id } })).toEqual({
    mode: 'live',
    ...tag,
    ...nameKeys(tag.name),
    organizationId: id,
    createdAt: new Date(tag.createdAt),
    updatedAt: new Date(tag.updatedAt),
  })
  const { questions: givenQuestions, languages, categoryIds, clientIds, tagIds, ...columns } = given.assessments[0]
  const assessment = await db.assessment.findFirstOrThrow({
    where: { organizationId: id },
    include: {
      categories: true,
      clients: true,
      tags: true,
      languages: { include: { language: true }, orderBy: { position: 'asc' } },
      questions: { orderBy: { order: 'asc' } },
    },
  })
  expect(assessment).toMatchObject({ ...columns, createdAt: new Date(columns.createdAt), updatedAt: new Date(columns.updatedAt) })
  expect(assessment).toMatchObject({ questionCount: 2, totalPoints: 15 })
  expect(assessment.languages.map(({ language }) => language.code)).toEqual(languages)
  expect(assessment.categories.map(({ categoryId }) => categoryId)).toEqual(categoryIds)
  expect(assessment.clients.map(({ memberId }) => memberId)).toEqual(clientIds)
  expect(assessment.tags.map(({ tagId }) => tagId)).toEqual(tagIds)
  const { createdAt, updatedAt, ...question } = givenQuestions[0]
  expect(assessment.questions[0]).toMatchObject({
    ...question,
    targetLanguage: null,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  })

  const [invite] = given.invites
  expect(await db.invite.findFirstOrThrow({ where: { organizationId: id }, include: { tags: true } })).toMatchObject({
    assessmentId: invite.assessmentId,
    recipientEmail: invite.recipientEmail,
    recipientName: 'Sam Rivera',
    status: 'completed',
    questionReplayLimit: 3,
    answerRecordLimit: 2,
    screenRecording: false,
    webcamMonitoring: true,
    requireIdCapture: false,
    facePhotoRequired: true,
    customMessage: 'Welcome',
    sentAt: new Date(invite.sentAt),
    expiresAt: new Date(invite.expiresAt),
    acceptedAt: new Date(invite.acceptedAt),
    startedAt: new Date(invite.startedAt),
    completedAt: new Date(invite.completedAt),
    revokedAt: null,
    assignedGraderId: invite.assignedGraderId,
    createdById: invite.createdById,
    createdAt: new Date(invite.createdAt),
    updatedAt: new Date(invite.updatedAt),
    tags: [{ tagId: invite.tagIds[0], position: 0 }],
  })
})

test('imports live tags, and renames test tags that have their names', async () => {
  const name = uniqueName()
  const id = await loadOne(documentOf({ name, tags: [{ name: 'Imported' }] }))
  const test = await service.make.tag(id, { mode: 'test', name: 'nursing' })
  await loadOne(documentOf({ name, tags: [{ name: 'Imported' }, { name: 'Nursing' }] }))
  const tags = await service.db.tag.findMany({ where: { organizationId: id }, orderBy: { name: 'asc' } })
  expect(new Map(tags.map((tag) => [tag.name, tag.mode]))).toEqual(
    new Map([
      ['Imported', 'live'],
      ['Nursing', 'live'],
      ['nursing (test)', 'test'],
    ]),
  )
  expect(tags.find(({ mode }) => mode === 'test')?.id).toBe(test.id)
})

test('sets the defaults for omitted fields of new rows', async () => {
  const assessment = newId()
  const now = service.clock.now()
  const id = await loadOne(
    documentOf({
      tags: [{ name: 'Plain' }],
      members: [{ firstName: 'Ada', lastName: 'Plain', email: 'ada.plain@example.com' }],
      assessments: [{ id: assessment, name: 'Plain', questions: [{ order: 1, inputType: 'text', responseType: 'text' }] }],
    }),
  )
  const where = { organizationId: id }
  const times = { createdAt: now, updatedAt: now }
  expect(await service.db.organization.findUniqueOrThrow({ where: { id } })).toMatchObject({ tier: 'standard', ...times })
  expect(await service.db.tag.findFirstOrThrow({ where })).toMatchObject({
    color: '#6B7280',
    description: '',
    icon: null,
    createdById: null,
    ...times,
  })
  expect(await service.db.member.findFirstOrThrow({ where })).toMatchObject({
    roles: [],
    status: 'active',
    department: '',
    canViewTranscription: false,
    joinedAt: now,
    ...times,
  })
  expect(await service.db.assessment.findFirstOrThrow({ where })).toMatchObject({
    defaultQuestionFormat: 'text',
    defaultAnswerFormat: 'text',
    audience: 'invite_only',
    timeLimit: 0,
    skillTypes: [],
    instructionId: null,
    ...times,
  })
  expect(await service.db.question.findFirstOrThrow({ where })).toMatchObject({
    script: '',
    points: 0,
    timeLimit: 0,
    sourceLanguage: null,
    targetLanguage: null,
    ...times,
  })
})

test("derives an invite's missing dates: created when sent, sent when created, expiring 30 days later", async () => {
  const assessmentId = newId()
  const now = service.clock.now()
  const sent = new Date(now.getTime() - DAY_MS)
  const invites = [
    { assessmentId, recipientEmail: 'sent@example.com', sentAt: sent.toISOString() },
    { assessmentId, recipientEmail: 'created@example.com', createdAt: sent.toISOString() },
    { assessmentId, recipientEmail: 'neither@example.com', proctoringSettings: { requireIdCapture: false } },
  ]
  const organizationId = await loadOne(documentOf({ assessments: [{ id: assessmentId, name: 'A' }], invites }))
  const find = (recipientEmail: string) => service.db.invite.findFirstOrThrow({ where: { organizationId, recipientEmail } })
  const in30Days = (date: Date) => new Date(date.getTime() + 30 * DAY_MS)

  const since = { sentAt: sent, createdAt: sent, expiresAt: in30Days(sent), updatedAt: now, facePhotoRequired: true }
  expect(await find('sent@example.com')).toMatchObject(since)
  expect(await find('created@example.com')).toMatchObject(since)
  expect(await find('neither@example.com')).toMatchObject({
    status: 'pending',
    sentAt: now,
    createdAt: now,
    expiresAt: in30Days(now),
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: false,
    facePhotoRequired: false,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
  })
})

test('never sends mail', async () => {
  const organizationId = await loadOne(fullDocument())
  expect(await service.db.inviteEmail.count({ where: { organizationId } })).toBe(0)
})

test('stores no key in clear, and shows a generated key once', async () => {
  const key = `ak_live_${newId().replaceAll('-', '')}`
  const document = documentOf({
    apiKeys: [
      { name: 'Given', key },
      { name: 'Made', mode: 'test' },
    ],
  })
  const first = await load(document)
  const [made] = first.generatedKeys
  expect(first.generatedKeys).toEqual([
    { organization: first.organizations[0]!.name, name: 'Made', key: expect.stringMatching(/^ak_test_.{32}$/) },
  ])
  expect((await service.v1(key).get('/tags')).status).toBe(200)
  expect((await service.v1(made!.key).get('/tags')).status).toBe(200)
  expect(JSON.stringify(await dumpDatabase(service.db))).not.toContain(made!.key)

  expect((await load(document)).generatedKeys).toEqual([])
  expect((await service.v1(made!.key).get('/tags')).status).toBe(200)
})

test('ignores derived and unknown fields', async () => {
  const document = documentOf({
    nickname: 'x',
    assessments: [{ name: 'A', questionCount: 99, totalPoints: 99, inviteCount: 99, color: 1 }],
  })
  const organizationId = await loadOne(document)
  expect(await service.db.assessment.findFirstOrThrow({ where: { organizationId } })).toMatchObject({
    questionCount: 0,
    totalPoints: 0,
  })
})

test('accepts IDs in upper and lower case', async () => {
  const id = newId()
  const invites = [{ assessmentId: id.toUpperCase(), recipientEmail: 'a@example.com' }]
  const organizationId = await loadOne(documentOf({ assessments: [{ id: id.toUpperCase(), name: 'A' }], invites }))
  expect(await service.db.invite.count({ where: { organizationId, assessmentId: id } })).toBe(1)
})

test("accepts any word as a member's role", async () => {
  const roles = ['hiring manager', 'admin', 'Prüfer']
  const key = `ak_live_${newId().replaceAll('-', '')}`
  const document = documentOf({
    apiKeys: [{ name: 'ATS', key }],
    members: [{ firstName: 'A', lastName: 'B', email: 'a@example.com', roles }],
  })
  await load(document)
  expect((await service.v1(key).get('/members')).body.members[0].roles).toEqual(roles)
  expect((await service.alternate(key).get('/organization_users?is_admin=true')).body.results[0].roles).toEqual(roles)
})

test('loads more rows than fit in one statement, and reports its progress', async () => {
  const assessmentId = newId()
  const invites = Array.from({ length: 2_500 }, (_, i) => ({ assessmentId, recipientEmail: `candidate${i}@example.com` }))
  const document = documentOf({ assessments: [{ id: assessmentId, name: 'A' }], invites })
  const progress: number[] = []
  const reading = readDocument(document)
  const summary = await importDocument(service.system, reading, { onProgress: ({ done }) => void progress.push(done) })
  expect(summary.counts.invites).toEqual({ created: 2_500, updated: 0, unchanged: 0 })
  expect(progress).toEqual([1, 2, 1_002, 2_002, 2_502])
  expect((await load(document)).counts.invites).toEqual({ created: 0, updated: 0, unchanged: 2_500 })
})

test('writes and reads long lists in statements of bounded length', async () => {
  await service.db.$executeRawUnsafe(`
    CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM written) > 5000 THEN RAISE EXCEPTION 'too many at once'; END IF;
      RETURN NULL;
    END $$`)
  for (const [event, rows] of [
    ['INSERT', 'NEW'],
    ['DELETE', 'OLD'],
  ]) {
    await service.db.$executeRawUnsafe(`
      CREATE TRIGGER refuse_many_${event} AFTER ${event} ON assessment_clients
      REFERENCING ${rows} TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`)
  }
  const members = Array.from({ length: 300 }, (_, i) => ({ id: newId(), ...person(`client${i}@example.com`) }))
  const assessmentIds = Array.from({ length: 40 }, () => newId())
  const name = uniqueName()
  const document = (clientIds: string[]) => ({
    organizations: [{ name, members, assessments: assessmentIds.map((id) => ({ id, name: id, clientIds })) }],
  })
  const clientIds = members.map(({ id }) => id)
  await load(document(clientIds))
  const turned = clientIds.toReversed()
  expect((await load(document(turned))).counts.assessments).toEqual({ created: 0, updated: 40, unchanged: 0 })
  expect((await load(document(turned))).counts.assessments).toEqual({ created: 0, updated: 0, unchanged: 40 })
  const where = { assessmentId: assessmentIds[0]! }
  const stored = await service.db.assessmentClient.findMany({ where, orderBy: { position: 'asc' } })
  expect(stored.map(({ memberId }) => memberId)).toEqual(turned)
})

test('loads thousands of questions of one assessment, and updates its question count and points', async () => {
  const questions = Array.from({ length: 5_000 }, (_, order) => ({ order, inputType: 'text', responseType: 'text', points: 2 }))
  const organizationId = await loadOne(documentOf({ assessments: [{ name: 'Long', questions }] }))
  const where = { organizationId }
  expect(await service.db.assessment.findFirstOrThrow({ where })).toMatchObject({ questionCount: 5_000, totalPoints: 10_000 })
})

test('keeps a loaded organization when a later one fails, and names the failed one', async () => {
  const [good, bad] = [uniqueName(), uniqueName()]
  await service.db.$executeRawUnsafe(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$`)
  await service.db.$executeRawUnsafe(`
    CREATE TRIGGER refuse BEFORE INSERT ON tags FOR EACH ROW WHEN (NEW.name = 'refused') EXECUTE FUNCTION refuse()`)
  const organizations = [
    { name: good, apiKeys: [{ name: 'ATS' }] },
    { name: bad, tags: [{ name: 'refused' }] },
  ]
  const failure = await load({ organizations }).catch((error) => error)
  expect(failure.message).toContain(bad)
  expect(failure.summary.organizations).toEqual([expect.objectContaining({ name: good })])
  expect(failure.summary.generatedKeys).toHaveLength(1)
  const written = await service.db.organization.findMany({ where: { name: { in: [good, bad] } } })
  expect(written.map(({ name }) => name)).toEqual([good])
})

test('counts created rows', async () => {
  const summary = await load(fullDocument())
  expect(total(summary, 'updated')).toBe(0)
  expect(summary.counts.questions).toEqual({ created: 2, updated: 0, unchanged: 0 })
  expect(summary.counts.organizations).toEqual({ created: 1, updated: 0, unchanged: 0 })
})
