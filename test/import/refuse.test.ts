import { v7 as newId } from 'uuid'
import { describe, expect, test } from 'vitest'
import { importDocument } from '../../src/import/import-document.ts'
import { ImportError, type ImportProblem } from '../../src/import/problems.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { startServiceForFile } from '../support/service.ts'
import { documentOf, dumpDatabase, uniqueName } from './document.ts'

const service = await startServiceForFile()

const load = (document: unknown) => importDocument(service.system, readDocument(document))

/** Loads a document that must be rejected without writing anything. Returns the problems. */
async function problemsOf(document: unknown): Promise<ImportProblem[]> {
  const before = await dumpDatabase(service.db)
  const error = await load(document).catch((refusal) => refusal)
  expect(error).toBeInstanceOf(ImportError)
  expect(await dumpDatabase(service.db)).toEqual(before)
  return error.problems
}

const pathsOf = async (document: unknown) => (await problemsOf(document)).map(({ path }) => path)
/** Paths of the problems, relative to the only organization. */
const pathsWithin = async (organization: Record<string, unknown>) =>
  (await pathsOf(documentOf(organization))).map((path) => path.replace(/^organizations\[0\]\.?/, ''))

const person = (email: string) => ({ firstName: 'A', lastName: 'B', email })
const question = (order: number) => ({ order, inputType: 'text', responseType: 'text' })

test('rejects a document as a whole, and names all problems of format and database at once', async () => {
  const stranger = newId()
  const document = {
    organizations: [
      { name: uniqueName(), tags: [{ name: 'fine' }] },
      {
        name: '',
        tier: 'gold',
        tags: [{ name: 'a', color: 'red' }, { name: 'A' }, { color: '#000000' }, 'tag'],
        members: [
          { ...person('not an address'), tagIds: [stranger] },
          { ...person('ok@example.com'), roles: [' '] },
        ],
        assessments: [{ name: 'A', timeLimit: -1, questions: [question(1), question(1)] }],
        invites: [{ assessmentId: stranger, recipientEmail: 'c@example.com', sentAt: '2026-02-30T00:00:00Z' }],
      },
    ],
  }
  const problems = await problemsOf(document)
  expect(problems.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual(
    [
      'organizations[1].name: must be text of 1 to 200 characters, not blank, without NUL characters and unpaired surrogates',
      'organizations[1].tier: must be one of: standard, enterprise',
      'organizations[1].tags[0].color: must be a color like #2563EB',
      'organizations[1].tags[1].name: is taken by organizations[1].tags[0]',
      'organizations[1].tags[2].name: is required',
      'organizations[1].tags[3]: must be an object',
      'organizations[1].members[0].email: must be an email address',
      'organizations[1].members[0].tagIds[0]: is not the id of any tag of this organization',
      'organizations[1].members[1].roles[0]: must be text of 1 to 200 characters, not blank, without NUL characters and unpaired surrogates',
      'organizations[1].assessments[0].timeLimit: must be a whole number from 0 to 2147483647',
      'organizations[1].assessments[0].questions[1].order: is taken by organizations[1].assessments[0].questions[0]',
      'organizations[1].invites[0].assessmentId: is not the id of any assessment of this organization',
      'organizations[1].invites[0].sentAt: must be a time with its zone, like 2026-03-02T09:30:00Z',
    ].sort(),
  )
})

test.each([
  ['null', null],
  ['a list', []],
  ['a string', 'organizations'],
])('rejects %s as a document', async (_, document) => {
  expect(await pathsOf(document)).toEqual(['document'])
})

test('rejects a document without organizations, or with another value in their place', async () => {
  expect(await pathsOf({})).toEqual(['organizations'])
  expect(await pathsOf({ organizations: {} })).toEqual(['organizations'])
  expect(await pathsOf({ organizations: [null] })).toEqual(['organizations[0]'])
})

describe('an organization in a document', () => {
  const bad: [string, Record<string, unknown>, string[]][] = [
    ['a name with a NUL', { tags: [{ name: 'a\u0000b' }] }, ['tags[0].name']],
    ['half a surrogate pair', { tags: [{ name: 'a', description: '\ud800' }] }, ['tags[0].description']],
    ['a blank name', { categories: [{ name: ' ' }] }, ['categories[0].name']],
    ['a name too long for an index', { assessments: [{ name: 'x'.repeat(201) }] }, ['assessments[0].name']],
    ['an ID that is no UUID', { tags: [{ id: '1', name: 'a' }] }, ['tags[0].id']],
    [
      'a number as a string',
      { points: 1, assessments: [{ name: 'A', questions: [{ ...question(1), points: '5' }] }] },
      ['assessments[0].questions[0].points'],
    ],
    [
      "an integer beyond PostgreSQL's range",
      { assessments: [{ name: 'A', timeLimit: 2_147_483_648 }] },
      ['assessments[0].timeLimit'],
    ],
    [
      'a preparation time of more than an hour',
      { assessments: [{ name: 'A', questions: [{ ...question(1), preparationTime: 3_601 }] }] },
      ['assessments[0].questions[0].preparationTime'],
    ],
    [
      'an answer during a prompt that the service does not store',
      {
        assessments: [
          {
            name: 'A',
            questions: [{ ...question(1), responseType: 'audio', simultaneous: true, audioUrl: 'https://a.example/b.mp3' }],
          },
        ],
      },
      ['assessments[0].questions[0].simultaneous'],
    ],
    [
      'a sum of points beyond that range',
      { assessments: [{ name: 'A', questions: [1, 2].map((order) => ({ ...question(order), points: 2_000_000_000 })) }] },
      ['assessments[0].questions'],
    ],
    ['a time without a zone', { tags: [{ name: 'a', createdAt: '2026-03-02T09:30:00' }] }, ['tags[0].createdAt']],
    ['a time before the common era', { tags: [{ name: 'a', createdAt: '0000-03-02T09:30:00Z' }] }, ['tags[0].createdAt']],
    [
      'a key that contradicts its mode',
      { apiKeys: [{ name: 'a', mode: 'live', key: `ak_test_${'x'.repeat(32)}` }] },
      ['apiKeys[0].key'],
    ],
    ['a malformed key', { apiKeys: [{ name: 'a', key: 'ak_live_short' }] }, ['apiKeys[0].key']],
    [
      "a key that can't be sent in a header",
      { apiKeys: [{ name: 'a', key: `ak_live_${'\u0000'.repeat(32)}` }] },
      ['apiKeys[0].key'],
    ],
    ['a repeated key', { apiKeys: ['a', 'b'].map((name) => ({ name, key: `ak_live_${'x'.repeat(32)}` })) }, ['apiKeys[1].key']],
    ['a repeated member', { members: [person('a@example.com'), person('A@example.com')] }, ['members[1].email']],
    ['a repeated language', { languages: [{ code: 'xx' }, { code: 'xx' }] }, ['languages[1].code']],
    ['a repeated instruction', { instructions: [{ body: 'b' }, { title: '', body: 'b' }] }, ['instructions[1].body']],
  ]
  test.each(bad)('is rejected for %s', async (_, organization, paths) => {
    expect(await pathsWithin(organization)).toEqual(paths)
  })
})

test('rejects an organization, an ID, or an invite that occurs twice in the document', async () => {
  const [name, id, assessmentId] = [uniqueName(), newId(), newId()]
  expect(await pathsOf({ organizations: [{ name }, { name: name.toUpperCase() }] })).toEqual(['organizations[1].name'])
  const tag = (text: string) => ({ tags: [{ id, name: text }] })
  expect(
    await pathsOf({
      organizations: [
        { name: uniqueName(), ...tag('a') },
        { name: uniqueName(), ...tag('b') },
      ],
    }),
  ).toEqual(['organizations[1].tags[0].id'])
  const invites = ['c@example.com', 'C@Example.com'].map((recipientEmail) => ({ assessmentId, recipientEmail }))
  expect(await pathsWithin({ assessments: [{ id: assessmentId, name: 'A' }], invites })).toEqual(['invites[1].recipientEmail'])
})

test('rejects references to another organization, in any field', async () => {
  const { db } = service
  await load(
    documentOf({
      categories: [{ name: 'c' }],
      instructions: [{ body: 'b' }],
      tags: [{ name: 't' }],
      members: [person('m@example.com')],
      assessments: [{ name: 'a' }],
    }),
  )
  const other = {
    category: await db.category.findFirstOrThrow(),
    instruction: await db.instruction.findFirstOrThrow(),
    tag: await db.tag.findFirstOrThrow(),
    member: await db.member.findFirstOrThrow(),
    assessment: await db.assessment.findFirstOrThrow(),
  }
  const [tag, member] = [other.tag.id, other.member.id]
  const paths = await pathsWithin({
    apiKeys: [{ name: 'k', createdById: member }],
    tags: [{ name: 't', createdById: member }],
    members: [{ ...person('n@example.com'), tagIds: [tag] }],
    assessments: [
      {
        name: 'a',
        instructionId: other.instruction.id,
        categoryIds: [other.category.id],
        clientIds: [member],
        tagIds: [tag],
        createdById: member,
      },
    ],
    invites: [
      {
        assessmentId: other.assessment.id,
        recipientEmail: 'c@example.com',
        assignedGraderId: member,
        tagIds: [tag],
        createdById: member,
      },
    ],
  })
  const expected = [
    ...['apiKeys[0].createdById', 'tags[0].createdById', 'members[0].tagIds[0]'],
    ...['instructionId', 'categoryIds[0]', 'clientIds[0]', 'tagIds[0]', 'createdById'].map((field) => `assessments[0].${field}`),
    ...['assessmentId', 'assignedGraderId', 'tagIds[0]', 'createdById'].map((field) => `invites[0].${field}`),
  ]
  expect(paths).toEqual(expected)
})

test("rejects IDs of another organization's rows", async () => {
  const [tagId, assessmentId] = [newId(), newId()]
  const rows = {
    tags: [{ id: tagId, name: 't' }],
    assessments: [{ id: assessmentId, name: 'a', questions: [{ id: newId(), ...question(1) }] }],
  }
  await load(documentOf(rows))
  expect(await pathsWithin(rows)).toEqual(['tags[0].id', 'assessments[0].id', 'assessments[0].questions[0].id'])
})

test('rejects IDs of test tags, test invites, and retakes, of this organization and of another', async () => {
  const { db } = service
  const [tagId, assessmentId, testInviteId, retakeId] = [newId(), newId(), newId(), newId()]
  const name = uniqueName()
  const assessments = [{ id: assessmentId, name: 'A' }]
  const invitesWith = (...ids: string[]) =>
    ids.map((id, i) => ({ id, assessmentId, recipientEmail: `${i}@example.com`, recipientName: 'Changed' }))
  await load({
    organizations: [{ name, tags: [{ id: tagId, name: 't' }], assessments, invites: invitesWith(testInviteId, retakeId) }],
  })
  await db.tag.update({ where: { id: tagId }, data: { mode: 'test' } })
  await db.invite.update({ where: { id: testInviteId }, data: { mode: 'test' } })
  await db.invite.update({ where: { id: retakeId }, data: { attempt: 2 } })
  const document = (organizationName: string) => ({
    organizations: [
      {
        name: organizationName,
        tags: [{ id: tagId, name: 'Changed' }],
        assessments: organizationName === name ? [{ ...assessments[0], tagIds: [tagId] }] : [],
        invites: organizationName === name ? invitesWith(testInviteId, retakeId) : [],
      },
    ],
  })
  expect((await problemsOf(document(name))).map(({ path, message }) => `${path} ${message}`)).toEqual([
    'organizations[0].tags[0].id is the id of a test tag, which no import changes',
    'organizations[0].invites[0].id is the id of a test invite or a retake, which no import changes',
    'organizations[0].invites[1].id is the id of a test invite or a retake, which no import changes',
  ])
  expect(await problemsOf(document(uniqueName()))).toEqual([
    { path: 'organizations[0].tags[0].id', message: 'is the id of a row of another organization' },
  ])
})

test('rejects names and addresses that another row has', async () => {
  const [id, assessmentId] = [newId(), newId()]
  const name = uniqueName()
  const rows = {
    tags: [{ name: 'Taken' }],
    members: [person('taken@example.com')],
    assessments: [{ id: assessmentId, name: 'A' }],
    invites: [{ assessmentId, recipientEmail: 'taken@example.com' }],
  }
  await load({ organizations: [{ id, name, ...rows }] })
  const paths = await pathsOf({
    organizations: [
      {
        id,
        name,
        tags: [{ id: newId(), name: 'TAKEN' }],
        members: [{ id: newId(), ...person('Taken@example.com') }],
        invites: [{ id: newId(), assessmentId, recipientEmail: 'TAKEN@example.com' }],
      },
    ],
  })
  expect(paths).toEqual([
    'organizations[0].members[0].email',
    'organizations[0].tags[0].name',
    'organizations[0].invites[0].recipientEmail',
  ])
  expect(await pathsOf({ organizations: [{ id: newId(), name: name.toUpperCase() }] })).toEqual(['organizations[0].name'])
})

test('rejects two rows that match one row of the database', async () => {
  const id = newId()
  const name = uniqueName()
  await load({ organizations: [{ name, tags: [{ id, name: 'Old' }] }] })
  expect(await pathsOf({ organizations: [{ name, tags: [{ id, name: 'New' }, { name: 'Old' }] }] })).toEqual([
    'organizations[0].tags[1]',
  ])
})

test("rejects another organization's key, and a mode that differs from the stored key's", async () => {
  const key = `ak_live_${newId().replaceAll('-', '')}`
  const name = uniqueName()
  await load({ organizations: [{ name, apiKeys: [{ name: 'ATS', key }] }] })
  expect(await pathsWithin({ apiKeys: [{ name: 'Mine', key }] })).toEqual(['apiKeys[0].key'])
  expect(await pathsOf({ organizations: [{ name, apiKeys: [{ name: 'ATS', mode: 'test' }] }] })).toEqual([
    'organizations[0].apiKeys[0].mode',
  ])
})

test('rejects organizations that contradict each other in shared rows', async () => {
  const userId = newId()
  const organizations = ['English', 'Englisch'].map((name, index) => ({
    name: uniqueName(),
    languages: [{ code: 'en-x-shared', name }],
    members: [{ userId, ...person(`ada${index}@example.com`) }],
  }))
  expect(await pathsOf({ organizations })).toEqual(['organizations[1].languages[0].name', 'organizations[1].members[0].email'])
})

test("rejects an account's new address if it is taken in another of its organizations", async () => {
  const userId = newId()
  const [here, there] = [uniqueName(), uniqueName()]
  const ada = { userId, ...person('ada.account@example.com') }
  await load({
    organizations: [
      { name: here, members: [ada] },
      { name: there, members: [ada, person('taken.account@example.com')] },
    ],
  })
  const member = await service.db.member.findFirstOrThrow({ where: { userId, organization: { name: here } } })
  const moved = { id: member.id, ...person('taken.account@example.com') }
  expect(await pathsOf({ organizations: [{ name: here, members: [moved] }] })).toEqual(['organizations[0].members[0].email'])
})

test('rejects a second membership of an account in one organization', async () => {
  const userId = newId()
  const name = uniqueName()
  await load({ organizations: [{ name, members: [{ userId, ...person('one@example.com') }] }] })
  expect(await pathsOf({ organizations: [{ name, members: [{ userId, ...person('two@example.com') }] }] })).toEqual([
    'organizations[0].members[0].userId',
  ])
})

test('rejects a member who was erased', async () => {
  const id = newId()
  const document = documentOf({ members: [{ id, ...person('gone@example.com') }] })
  await load(document)
  await service.db.member.update({ where: { id }, data: { erasedAt: service.clock.now() } })
  expect(await problemsOf(document)).toEqual([{ path: 'organizations[0].members[0]', message: 'is of a member who was erased' }])
})
