import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { revokeKey, rotateKey } from '../../src/domain/api-keys/manage-keys.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { DAY_MS } from '../support/factories.ts'
import { asOperator } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { documentOf, dumpDatabase, fullDocument, uniqueName } from './document.ts'

const service = await startServiceForFile()

const load = (document: unknown) => importDocument(service.system, readDocument(document))
const loadOne = async (document: unknown) => (await load(document)).organizations[0]!.id

test('changes nothing when the same document is loaded again', async () => {
  const document = fullDocument()
  const first = await load(document)
  const before = await dumpDatabase(service.db)
  service.clock.advance(60_000)
  const again = await load(document)
  expect(await dumpDatabase(service.db)).toEqual(before)
  for (const [kind, { created }] of Object.entries(first.counts)) {
    expect(again.counts).toHaveProperty(kind, { created: 0, updated: 0, unchanged: created })
  }
})

test('changes nothing when a document without times and IDs is loaded again', async () => {
  const assessmentId = newId()
  const document = documentOf({
    categories: [{ name: 'C' }],
    instructions: [{ body: 'Read this.' }],
    apiKeys: [{ name: 'ATS' }],
    tags: [{ name: 'T' }],
    members: [{ firstName: 'Ada', lastName: 'L', email: 'ada@example.com', gradingLanguages: ['it'] }],
    assessments: [{ id: assessmentId, name: 'A', questions: [{ order: 1, inputType: 'text', responseType: 'text' }] }],
    invites: [{ assessmentId, recipientEmail: 'c@example.com' }],
  })
  await load(document)
  const before = await dumpDatabase(service.db)
  service.clock.advance(60_000)
  await load(document)
  expect(await dumpDatabase(service.db)).toEqual(before)
})

test('finds rows without an ID by their names and addresses, ignoring case', async () => {
  const name = uniqueName()
  const assessmentId = newId()
  const invite = { assessmentId, status: 'pending' }
  const organization = (fold: (text: string) => string) => ({
    name: fold(name),
    tags: [{ name: fold('Señor É') }],
    members: [{ firstName: 'Ada', lastName: 'L', email: fold('Ada@Example.com') }],
    assessments: [{ id: assessmentId, name: 'A' }],
    invites: [{ ...invite, recipientEmail: fold('Sam@Example.com') }],
  })
  const id = await loadOne({ organizations: [organization((text) => text)] })
  const { counts, organizations } = await load({ organizations: [organization((text) => text.toUpperCase())] })
  expect(organizations).toEqual([{ id, name: name.toUpperCase() }])
  const changed = { created: 0, updated: 1, unchanged: 0 }
  expect(counts).toMatchObject({ organizations: changed, tags: changed, members: changed, invites: changed })
})

test('updates only the rows that differ, and only their given fields', async () => {
  const document = (color: string) =>
    documentOf({
      name,
      tags: [
        { name: 'Same', color: '#111111' },
        { name: 'Other', color, ...(color === '#222222' && { description: 'kept' }) },
      ],
    })
  const name = uniqueName()
  const organizationId = await loadOne(document('#222222'))
  const before = service.clock.now()
  service.clock.advance(60_000)
  expect((await load(document('#333333'))).counts.tags).toEqual({ created: 0, updated: 1, unchanged: 1 })
  const [other, same] = await service.db.tag.findMany({ where: { organizationId }, orderBy: { name: 'asc' } })
  expect(same).toMatchObject({ color: '#111111', updatedAt: before })
  expect(other).toMatchObject({ color: '#333333', description: 'kept', createdAt: before, updatedAt: service.clock.now() })
})

test('replaces a list with the given one in its order, and counts that as an update', async () => {
  const [a, b, assessmentId] = [newId(), newId(), newId()]
  const name = uniqueName()
  const tags = [
    { id: a, name: 'a' },
    { id: b, name: 'b' },
  ]
  const document = (tagIds: string[] | undefined) => ({
    organizations: [{ name, tags, assessments: [{ id: assessmentId, name: 'A', tagIds }] }],
  })
  const read = () =>
    service.db.assessment.findUniqueOrThrow({ where: { id: assessmentId }, include: { tags: { orderBy: { position: 'asc' } } } })
  await load(document([a, b, a]))
  expect((await read()).tags.map(({ tagId }) => tagId)).toEqual([a, b])

  service.clock.advance(1_000)
  await load(document([b, a]))
  const turned = await read()
  expect(turned.tags.map(({ tagId }) => tagId)).toEqual([b, a])
  expect(turned.updatedAt).toEqual(service.clock.now())

  await load(documentOf({ name, assessments: [{ id: assessmentId, name: 'A' }] }))
  expect((await read()).tags).toHaveLength(2)
  await load(document([]))
  expect((await read()).tags).toEqual([])
})

test('renames rows by ID', async () => {
  const [id, tag] = [newId(), newId()]
  await load({ organizations: [{ id, name: uniqueName(), tags: [{ id: tag, name: 'Old' }] }] })
  const name = uniqueName()
  await load({ organizations: [{ id, name, tags: [{ id: tag, name: 'New' }] }] })
  expect(await service.db.organization.findUniqueOrThrow({ where: { id }, include: { tags: true } })).toMatchObject({
    name,
    tags: [{ id: tag, name: 'New' }],
  })
})

test('assigns a tag from the document to an existing member', async () => {
  const [tag, name] = [newId(), uniqueName()]
  const member = { firstName: 'Ada', lastName: 'L', email: 'tagged@example.com' }
  const organizationId = await loadOne({ organizations: [{ name, members: [member] }] })
  await load({ organizations: [{ name, tags: [{ id: tag, name: 'New' }], members: [{ ...member, tagIds: [tag] }] }] })
  expect(await service.db.memberTag.findMany({ where: { organizationId } })).toMatchObject([{ tagId: tag, position: 0 }])
})

test('lets questions swap positions', async () => {
  const [a, b, assessmentId] = [newId(), newId(), newId()]
  const name = uniqueName()
  const question = (id: string, order: number) => ({ id, order, inputType: 'text', responseType: 'text', points: order })
  const document = (questions: object[]) => ({
    organizations: [{ name, assessments: [{ id: assessmentId, name: 'A', questions }] }],
  })
  await load(document([question(a, 1), question(b, 2)]))
  await load(document([question(a, 2), question(b, 1)]))
  const questions = await service.db.question.findMany({ where: { assessmentId }, orderBy: { order: 'asc' } })
  expect(questions.map(({ id }) => id)).toEqual([b, a])
  expect(await service.db.assessment.findUniqueOrThrow({ where: { id: assessmentId } })).toMatchObject({
    questionCount: 2,
    totalPoints: 3,
  })
})

test('stays without changes after the sweep expired imported invites', async () => {
  const assessmentId = newId()
  const expiresAt = new Date(service.clock.now().getTime() + DAY_MS).toISOString()
  const long = {
    assessmentId,
    recipientEmail: 'past@example.com',
    sentAt: '2020-01-01T00:00:00Z',
    updatedAt: '2020-01-01T00:00:00Z',
  }
  const document = documentOf({
    assessments: [{ id: assessmentId, name: 'A' }],
    apiKeys: [{ name: 'ATS' }],
    invites: [
      { ...long, status: 'pending' },
      { assessmentId, recipientEmail: 'soon@example.com', status: 'accepted', expiresAt },
    ],
  })
  const { generatedKeys, organizations } = await load(document)
  service.clock.advance(2 * DAY_MS)
  expect((await load(document)).counts.invites).toEqual({ created: 0, updated: 0, unchanged: 2 })
  const { body } = await service.v1(generatedKeys[0]!.key).get('/invites?status=expired')
  expect(body.invites).toHaveLength(2)
  // The key's use is recorded after the response. Waits for it, so that it doesn't change a row between the two dumps.
  const used = { where: { organizationId: organizations[0]!.id, lastUsedAt: { not: null } } }
  await waitUntil('the recorded use of the key', async () => (await service.db.apiKey.findFirst(used)) ?? undefined)
  const swept = await dumpDatabase(service.db)
  expect((await load(document)).counts.invites).toEqual({ created: 0, updated: 0, unchanged: 2 })
  expect(await dumpDatabase(service.db)).toEqual(swept)
})

test('shares an account between organizations, and applies a new address to all its memberships', async () => {
  const userId = newId()
  const organization = (name: string, email: string) => ({ name, members: [{ userId, firstName: 'Ada', lastName: 'L', email }] })
  const [first, second] = [uniqueName(), uniqueName()]
  await load({ organizations: [organization(first, 'ada@example.com'), organization(second, 'ada@example.com')] })
  expect(await service.db.member.count({ where: { userId } })).toBe(2)
  const id = (await service.db.member.findFirstOrThrow({ where: { userId, organization: { name: first } } })).id

  const renamed = { id, firstName: 'Ada', lastName: 'King', email: 'ada.king@example.com' }
  service.clock.advance(1_000)
  const { counts } = await load({ organizations: [{ name: first, members: [renamed] }] })
  expect(counts.members).toEqual({ created: 0, updated: 1, unchanged: 0 })
  const members = await service.db.member.findMany({ where: { userId }, include: { user: true } })
  expect(members.map(({ email, user }) => [email, user.lastName])).toEqual(Array(2).fill(['ada.king@example.com', 'King']))
  expect(members.find((member) => member.id === id)!.updatedAt).toEqual(service.clock.now())
})

test('moves a member to another account', async () => {
  const [id, userId] = [newId(), newId()]
  const name = uniqueName()
  const member = { id, firstName: 'Ada', lastName: 'L', email: 'moving@example.com' }
  await load({ organizations: [{ name, members: [member] }] })
  await load({ organizations: [{ name, members: [{ ...member, userId }] }] })
  expect(await service.db.member.findUniqueOrThrow({ where: { id } })).toMatchObject({ userId, email: 'moving@example.com' })
})

test('changes no existing key, reverts no rotation or revocation, and reports that', async () => {
  const name = uniqueName()
  const [rotated, revoked, other] = ['a', 'b', 'c'].map(() => `ak_live_${newId().replaceAll('-', '')}`) as [
    string,
    string,
    string,
  ]
  const document = (keys: object[]) => ({ organizations: [{ name, apiKeys: keys }] })
  const both = [
    { name: 'ATS', key: rotated, revokedAt: null },
    { name: 'HR', key: revoked, revokedAt: null, expiresAt: null },
  ]
  const { organizations } = await load(document(both))
  const ctx = asOperator(service, { id: organizations[0]!.id, name })
  const idOf = async (keyName: string) =>
    (await service.db.apiKey.findFirstOrThrow({ where: { organizationId: ctx.organization.id, name: keyName } })).id
  const { key } = await rotateKey(ctx, await idOf('ATS'))
  await revokeKey(ctx, await idOf('HR'))
  const before = await dumpDatabase(service.db)
  const again = await load(document(both))
  expect(again.keptKeys).toEqual(['ATS', 'HR'].map((keyName) => ({ organization: name, name: keyName })))
  expect((await load(document([{ name: 'ATS', key: other, revokedAt: '2026-01-01T00:00:00Z' }]))).keptKeys).toHaveLength(1)
  expect(await dumpDatabase(service.db)).toEqual(before)
  const statusOf = async (value: string) => (await service.v1(value).get('/tags')).status
  expect(await Promise.all([key, revoked, other].map(statusOf))).toEqual([200, 401, 401])
})

test('counts a member as updated if only the account has changed, even if the document gives the time', async () => {
  const name = uniqueName()
  const member = { firstName: 'Ada', email: 'account.only@example.com', updatedAt: '2026-03-01T10:00:00.000Z' }
  const document = (lastName: string) => ({ organizations: [{ name, members: [{ ...member, lastName }] }] })
  const organizationId = await loadOne(document('L'))
  expect((await load(document('King'))).counts.members).toEqual({ created: 0, updated: 1, unchanged: 0 })
  const stored = await service.db.member.findFirstOrThrow({ where: { organizationId }, include: { user: true } })
  expect(stored).toMatchObject({ updatedAt: new Date(member.updatedAt), user: { lastName: 'King' } })
})
