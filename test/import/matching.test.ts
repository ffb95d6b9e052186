import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { importDocument } from '../../src/import/import-document.ts'
import { ImportError } from '../../src/import/problems.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { startServiceForFile } from '../support/service.ts'
import { documentOf, dumpDatabase, uniqueName } from './document.ts'

const service = await startServiceForFile()

const load = (document: unknown) => importDocument(service.system, readDocument(document))
const loadOne = async (document: unknown) => (await load(document)).organizations[0]!.id
/** Loads a document that must be rejected. Returns the problems by path. */
async function problemsOf(document: unknown): Promise<Record<string, string>> {
  const error = await load(document).catch((refusal) => refusal)
  expect(error).toBeInstanceOf(ImportError)
  return Object.fromEntries((error as ImportError).problems.map(({ path, message }) => [path, message]))
}
/** Loads the document again, and expects no change. */
async function expectSettled(document: unknown): Promise<void> {
  const before = await dumpDatabase(service.db)
  service.clock.advance(60_000)
  await load(document)
  expect(await dumpDatabase(service.db)).toEqual(before)
}

const question = (order: number) => ({ order, inputType: 'text', responseType: 'text' })
const assessmentsOf = (organizationId: string) =>
  service.db.assessment.findMany({ where: { organizationId }, orderBy: { id: 'asc' }, select: { id: true, name: true } })

test('treats two assessments with one name and different IDs as two, even if one exists already', async () => {
  const [a, b, c] = [newId(), newId(), newId()]
  const name = uniqueName()
  const document = (ids: string[]) => ({ organizations: [{ name, assessments: ids.map((id) => ({ id, name: 'Same' })) }] })
  const organizationId = await loadOne(document([a, b]))
  expect(await assessmentsOf(organizationId)).toEqual([a, b].map((id) => ({ id, name: 'Same' })))
  await expectSettled(document([a, b]))
  await load(document([c]))
  expect(await assessmentsOf(organizationId)).toEqual([a, b, c].map((id) => ({ id, name: 'Same' })))
})

test('treats instructions with one text, and questions with one position, as separate by ID', async () => {
  const [a, b, c, d] = [newId(), newId(), newId(), newId()]
  const document = documentOf({
    instructions: [a, b].map((id) => ({ id, body: 'Read this.' })),
    assessments: [{ name: 'A', questions: [c, d].map((id) => ({ id, ...question(1) })) }],
  })
  const organizationId = await loadOne(document)
  expect(await service.db.instruction.count({ where: { organizationId } })).toBe(2)
  expect(await service.db.question.count({ where: { organizationId } })).toBe(2)
  await expectSettled(document)
})

test('matches a name without an ID to the row that no ID in the document matches', async () => {
  const [id, name] = [newId(), uniqueName()]
  const document = (timeLimit: number) => ({
    organizations: [
      {
        name,
        assessments: [
          { id, name: 'Same' },
          { name: 'Same', timeLimit },
        ],
      },
    ],
  })
  const organizationId = await loadOne(document(60))
  await expectSettled(document(60))
  await load(document(90))
  const assessments = await service.db.assessment.findMany({ where: { organizationId }, orderBy: { timeLimit: 'asc' } })
  expect(assessments).toMatchObject([{ id, timeLimit: 0 }, { timeLimit: 90 }])
})

test('rejects a name without an ID that matches several rows', async () => {
  const name = uniqueName()
  await load({ organizations: [{ name, assessments: [newId(), newId()].map((id) => ({ id, name: 'Same' })) }] })
  expect(await problemsOf({ organizations: [{ name, assessments: [{ name: 'Same' }] }] })).toEqual({
    'organizations[0].assessments[0].name': 'stands for several rows: give the id of one of them',
  })
  expect(await problemsOf({ organizations: [{ name, assessments: [{ name: 'New' }, { name: 'New' }] }] })).toEqual({
    'organizations[0].assessments[1].name': 'is taken by organizations[0].assessments[0]',
  })
})

test('uses an existing language with another ID for the same code', async () => {
  const code = `x-${newId().slice(-12)}`
  const uses = {
    members: [{ firstName: 'A', lastName: 'B', email: 'a@example.com', gradingLanguages: [code] }],
    assessments: [{ name: 'A', languages: [code], questions: [{ ...question(1), sourceLanguage: code }] }],
  }
  await load(documentOf({ languages: [{ id: newId(), code, name: 'First' }] }))
  const { id } = await service.db.language.findUniqueOrThrow({ where: { code } })
  const document = documentOf({ languages: [{ id: newId(), code, name: 'Second' }], ...uses })
  const organizationId = await loadOne(document)
  expect(await service.db.language.findUniqueOrThrow({ where: { code } })).toEqual({ id, code, name: 'Second' })
  const { languages } = await service.db.assessment.findFirstOrThrow({ where: { organizationId }, include: { languages: true } })
  expect(languages).toMatchObject([{ languageId: id }])
  await expectSettled(document)
})

test("uses one language per code, even if a document's organizations give it different IDs", async () => {
  const [first, second, code] = [newId(), newId(), `x-${newId().slice(-12)}`]
  const document = { organizations: [first, second].map((id) => ({ name: uniqueName(), languages: [{ id, code }] })) }
  await load(document)
  expect(await service.db.language.findMany({ where: { code } })).toMatchObject([{ id: first }])
  await expectSettled(document)
})

test('rejects another code for a language ID in use', async () => {
  const [id, code] = [newId(), `x-${newId().slice(-12)}`]
  await load(documentOf({ languages: [{ id, code }] }))
  expect(await problemsOf(documentOf({ languages: [{ id, code: `${code}-2` }] }))).toEqual({
    'organizations[0].languages[0].id': `is the id of the language ${code}`,
  })
})

test('allows rows of different kinds to share one ID', async () => {
  const id = newId()
  const document = documentOf({
    id,
    categories: [{ id, name: 'C' }],
    instructions: [{ id, body: 'I' }],
    apiKeys: [{ id, name: 'K', createdById: id }],
    tags: [{ id, name: 'T', createdById: id }],
    members: [{ id, userId: id, firstName: 'A', lastName: 'B', email: 'a@example.com', tagIds: [id] }],
    assessments: [{ id, name: 'A', clientIds: [id], tagIds: [id], categoryIds: [id], questions: [{ id, ...question(1) }] }],
    invites: [{ id, assessmentId: id, recipientEmail: 'c@example.com', assignedGraderId: id, tagIds: [id] }],
  })
  await load(document)
  expect(await service.db.invite.findUniqueOrThrow({ where: { id } })).toMatchObject({ organizationId: id, assessmentId: id })
  await expectSettled(document)
})
