import { afterAll, beforeAll, expect, it } from 'vitest'
import { links } from '../../support/links.ts'
import { recordQueries } from '../../support/queries.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let small: World
let large: World
beforeAll(async () => {
  service = await startService()
  ;[small, large] = [await setUp(1), await setUp(50)]
})
afterAll(() => service.close())

type World = Awaited<ReturnType<typeof setUp>>

/** Creates this many rows in every list. Each row refers to rows that no other row refers to. */
async function setUp(size: number) {
  const { make, db, deps } = service
  const { id: organizationId, key } = await make.organization()
  const join = links(db)
  const makeOneOfEach = async (_: unknown, nth: number) => {
    const tag = await make.tag(organizationId)
    const language = await make.language(`${size}-${nth}`)
    const member = await make.member(organizationId)
    const instruction = await db.instruction.create({ data: { id: deps.newId(), organizationId, body: 'Speak.' } })
    const category = await db.category.create({ data: { id: deps.newId(), organizationId, name: make.unique('Category') } })
    const assessment = await make.assessment(organizationId, { instructionId: instruction.id })
    const invite = await make.invite(assessment, { assignedGraderId: member.id })
    await Promise.all([
      join.tagMember(member, tag),
      join.addGradingLanguages(member, language),
      join.tagAssessment(assessment, tag),
      join.addClients(assessment, member),
      join.addLanguages(assessment, language),
      join.addCategories(assessment, category),
      join.tagInvite(invite, tag),
    ])
  }
  await Promise.all(Array.from({ length: size }, makeOneOfEach))
  return { key, size }
}

/** SQL of the queries that a list runs, without the key lookup. */
async function readQueries({ key, size }: World, path: string): Promise<string[]> {
  const request = { url: `/api/alternate${path}`, headers: { 'x-service-docs-api-key': key } }
  const { result: response, queries } = await recordQueries(async () => await service.app.inject(request))
  expect([response.statusCode, response.json().results.length]).toEqual([200, size])
  return queries.map(({ text }) => text).filter((text) => !text.includes('api_keys'))
}

it.each(
  Object.entries({
    '/assessments': [1, 2, 3],
    '/assessment_invites': [1, 2, 3],
    // Their references lead to the organization, which is already loaded.
    '/organization_users': [1, 2, 2],
    '/tags': [1, 1, 1],
  }).flatMap(([path, each]) => each.map((expected, depth) => ({ path, depth, expected }))),
)(
  'runs for GET $path at depth $depth the same $expected queries for a page of 50 as for a page of 1',
  async ({ path, depth, expected }) => {
    const parameters = `page_size=100${depth === 0 ? '' : `&depth=${depth}`}`
    const [one, fifty] = [await readQueries(small, `${path}?${parameters}`), await readQueries(large, `${path}?${parameters}`)]
    expect([one.length, fifty.length]).toEqual([expected, expected])
  },
)
