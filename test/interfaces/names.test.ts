import { expect, it } from 'vitest'
import { migrate } from '../../src/db/migrate.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { signInAs } from '../support/portal.ts'
import { startService, startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

const COMPOSED = 'Caf\u00e9'
const DECOMPOSED = 'Cafe\u0301'

async function setUp() {
  const { id, key } = await service.make.organization()
  return { id, v1: service.v1(key), alternate: service.alternate(key) }
}

it.each([
  [COMPOSED, DECOMPOSED],
  ['Straße', 'STRASSE'],
  ['ΟΔΟΣ', 'οδος'],
  ['İzmir', 'i\u0307zmir'],
])('rejects a second tag whose name differs from %j only in case or normalization: %j', async (name, second) => {
  const { v1 } = await setUp()
  const { body } = await v1.post('/tags').send({ name: 'Other' }).expect(201)
  const made = await v1.post('/tags').send({ name }).expect(201)
  expect(made.body.tag.name).toBe(name)
  await v1.post('/tags').send({ name: second }).expect(409)
  await v1.patch(`/tags/${body.tag.id}`).send({ name: second }).expect(409)
  await v1.patch(`/tags/${made.body.tag.id}`).send({ name: second }).expect(200)
})

it('distinguishes the tags ı and i, and names with and without accents', async () => {
  const { v1 } = await setUp()
  for (const name of ['kız', 'kiz', COMPOSED, 'Cafe']) await v1.post('/tags').send({ name }).expect(201)
})

it.each([COMPOSED, DECOMPOSED, 'cafe', 'CAFÉ', 'af'])(
  'finds tags, assessments, members, and candidates by %j',
  async (search) => {
    const { id, v1, alternate } = await setUp()
    const namesOf = async (path: string) => (await alternate.get(path).query({ search })).body.results.length
    const one = await service.make.assessment(id, { name: `${COMPOSED} one` })
    await service.make.assessment(id, { name: `${DECOMPOSED} two` })
    for (const name of [`a ${COMPOSED}`, `b ${DECOMPOSED}`]) await v1.post('/tags').send({ name }).expect(201)
    for (const firstName of [COMPOSED, DECOMPOSED]) await service.make.member(id, { firstName })
    for (const [i, recipientName] of [COMPOSED, DECOMPOSED].entries())
      await v1
        .post('/invites')
        .send({ assessmentId: one.id, recipientEmail: `${i}@example.com`, recipientName })
        .expect(201)
    expect(await namesOf('/tags')).toBe(2)
    expect(await namesOf('/assessments')).toBe(2)
    expect(await namesOf('/organization_users')).toBe(2)
    expect(await namesOf('/assessment_invites')).toBe(2)
    expect((await v1.get('/invites').query({ recipient: search })).body.pagination.total).toBe(2)
  },
)

it('compares an exact name after normalization, with its case and accents', async () => {
  const { id, v1, alternate } = await setUp()
  for (const name of [DECOMPOSED, 'Cafe']) {
    await v1.post('/tags').send({ name }).expect(201)
    await service.make.assessment(id, { name })
  }
  const found = async (path: string, name: string) =>
    (await alternate.get(path).query({ name })).body.results.map((row: { name: string }) => row.name)
  for (const path of ['/tags', '/assessments']) {
    expect(await found(path, COMPOSED)).toEqual([DECOMPOSED])
    expect(await found(path, DECOMPOSED)).toEqual([DECOMPOSED])
    expect(await found(path, 'Cafe')).toEqual(['Cafe'])
    expect(await found(path, COMPOSED.toUpperCase())).toEqual([])
  }
})

it('compares the full name of a member in any case and normalization, with its accents', async () => {
  const { id, alternate } = await setUp()
  await service.make.member(id, { firstName: COMPOSED, lastName: 'Straße' })
  const found = async (query: object) => (await alternate.get('/organization_users').query(query)).body.results.length
  expect(await found({ first_name: DECOMPOSED.toUpperCase() })).toBe(1)
  expect(await found({ last_name: 'STRASSE' })).toBe(1)
  expect(await found({ first_name: 'Cafe' })).toBe(0)
})

it('finds a library question by the beginnings of its words, with the marks of its script', async () => {
  const { id } = await setUp()
  const admin = await signInAs(service, id, ['admin'])
  const assessment = await service.make.assessment(id)
  const question = await service.make.question(assessment, { script: `हिन्दी ${DECOMPOSED} größe` })
  await admin.post(`${admin.home}assessments/${assessment.id}/questions/${question.id}/library/save`).expect(303)
  for (const search of ['हिन', COMPOSED, 'cafe gro']) {
    const { text } = await admin.get(`${admin.home}questions?search=${encodeURIComponent(search)}`)
    expect([search, text.includes('हिन्दी')]).toEqual([search, true])
  }
  expect((await admin.get(`${admin.home}questions?search=${encodeURIComponent('न्दी')}`)).text).not.toContain('हिन्दी')
})

it('compares addresses correctly in a database with a Turkish locale', async () => {
  const url = await createEmptyDatabase(`LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR'`)
  await migrate(url)
  const turkish = await startService({ DATABASE_URL: url })
  const { id, key } = await turkish.make.organization()
  const { id: assessmentId } = await turkish.make.assessment(id)
  const v1 = turkish.v1(key)
  await v1.post('/invites').send({ assessmentId, recipientEmail: 'INFO@EXAMPLE.COM' }).expect(201)
  await v1.post('/invites').send({ assessmentId, recipientEmail: 'info@example.com' }).expect(409)
  expect((await v1.get('/invites').query({ search: 'info' })).body.pagination.total).toBe(1)
  expect((await v1.get('/invites').query({ recipientEmail: 'Info@example.com' })).body.pagination.total).toBe(1)
  await turkish.close()
})
