import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { readDefinitionWithKey } from '../../src/domain/assessments/define-question.ts'
import { importDocument } from '../../src/import/import-document.ts'
import { ImportError } from '../../src/import/problems.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { examplesOf } from '../support/kinds.ts'
import { asOperator } from '../support/portal.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'
import { documentOf, dumpDatabase } from './document.ts'

const service = await startServiceForFile()
const EXAMPLES = examplesOf()

type Defined = { responseType: string; spec: unknown; key: unknown }
type More = { definition?: unknown; responseType?: string; updatedAt?: string }

/** A document with a question for each definition. @param more additional fields of questions, by index. */
function documentWith(definitions: readonly Defined[], more: Record<number, More> = {}) {
  const questions = definitions.map(({ responseType, spec, key }, i) => ({
    id: newId(),
    order: i + 1,
    inputType: 'text',
    responseType,
    definition: { spec, key },
    updatedAt: '2026-02-20T16:45:00.000Z',
    ...more[i],
  }))
  return documentOf({ assessments: [{ name: 'Scored', questions }] }) as {
    organizations: { name: string; assessments: { name: string; questions: ((typeof questions)[0] & More)[] }[] }[]
  }
}

const load = (document: unknown) => importDocument(service.system, readDocument(document))

async function readBack(organizationId: string): Promise<(Defined | null)[]> {
  const organization = await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const ctx = asOperator(service, organization)
  const questions = await service.db.question.findMany({ where: { organizationId }, orderBy: { order: 'asc' } })
  return Promise.all(questions.map(({ versionId }) => versionId && readDefinitionWithKey(ctx, versionId))) as Promise<
    (Defined | null)[]
  >
}

const bare = ({ responseType, spec, key }: Defined) => ({ responseType, spec, key })

test('imports a definition of each kind, and exports it unchanged for import into another organization', async () => {
  const { organizations } = await load(documentWith(EXAMPLES))
  const read = await readBack(organizations[0]!.id)
  expect(read).toEqual(EXAMPLES.map(bare))
  const other = await load(documentWith(read as Defined[]))
  expect(await readBack(other.organizations[0]!.id)).toEqual(read)
})

test('changes nothing when the same document is loaded again', async () => {
  const document = documentWith(EXAMPLES)
  await load(document)
  const tables = async () => [
    await dumpDatabase(service.db),
    await service.db.questionVersion.count(),
    await service.db.answerKey.count(),
  ]
  const before = await tables()
  service.clock.advance(60_000)
  const { counts } = await load(document)
  expect(counts.questions).toEqual({ created: 0, updated: 0, unchanged: EXAMPLES.length })
  expect(await tables()).toEqual(before)
})

test('edits unused definitions, adds versions of used ones, and keeps omitted ones', async () => {
  const [one] = examplesOf('single_choice')
  const document = documentWith([one!, one!, one!, one!])
  const { organizations } = await load(document)
  const organizationId = organizations[0]!.id
  const versions = () =>
    service.db.question.findMany({ where: { organizationId }, orderBy: { order: 'asc' }, select: { versionId: true } })
  const before = await versions()
  await service.db.questionVersion.updateMany({
    where: { organizationId, id: before[1]!.versionId! },
    data: { lockedAt: service.clock.now() },
  })
  const { questions } = document.organizations[0]!.assessments[0]!
  const spec = { ...(one!.spec as object), shuffle: false }
  for (const i of [0, 1]) questions[i]!.definition = { spec, key: one!.key }
  delete (questions[2] as More).definition
  delete (questions[3] as More).definition
  questions[3]!.responseType = 'text'
  const { counts } = await load(document)
  expect(counts.questions).toEqual({ created: 0, updated: 3, unchanged: 1 })
  const after = await versions()
  expect(after[0]).toEqual(before[0])
  expect(after[1]).not.toEqual(before[1])
  expect(await readBack(organizationId)).toEqual([{ ...bare(one!), spec }, { ...bare(one!), spec }, bare(one!), null])
  expect(await service.db.questionVersion.findFirst({ where: { organizationId, id: before[1]!.versionId! } })).toMatchObject({
    spec: one!.spec,
  })
})

test('keeps a definition whose key was corrected since, and reports it if the document differs', async () => {
  const [one, other] = examplesOf('single_choice', 'number')
  const document = documentWith([one!, one!])
  const { organizations, keptDefinitions } = await load(document)
  expect(keptDefinitions).toEqual([])
  const [{ id: organizationId, name }] = organizations as [(typeof organizations)[0]]
  const { questions } = document.organizations[0]!.assessments[0]!
  const { versionId } = await service.db.question.findFirstOrThrow({ where: { id: questions[0]!.id } })
  const of = { organizationId, versionId: versionId! }
  await service.db.questionVersion.updateMany({ where: { organizationId }, data: { lockedAt: service.clock.now() } })
  const key = { policy: 'exact', right: [(one!.spec as { options: { id: string }[] }).options.at(-1)!.id] }
  const corrected = { ...bare(one!), key }
  await service.db.answerKey.create({ data: { ...of, number: 2, key, createdAt: service.clock.now() } })
  const before = await dumpDatabase(service.db)
  const again = await load(document)
  expect(again.keptDefinitions).toEqual([{ organization: name, question: questions[0]!.id }])
  expect(again.counts.questions).toEqual({ created: 0, updated: 0, unchanged: 2 })
  expect(await dumpDatabase(service.db)).toEqual(before)
  questions[0]!.definition = { spec: other!.spec, key: other!.key }
  questions[0]!.responseType = other!.responseType
  expect((await load(document)).keptDefinitions).toHaveLength(1)
  expect(await readBack(organizationId)).toEqual([corrected, bare(one!)])
  questions[0]!.definition = { spec: one!.spec, key }
  questions[0]!.responseType = one!.responseType
  expect((await load(document)).keptDefinitions).toEqual([])
  expect(await dumpDatabase(service.db)).toEqual(before)
})

test('rejects invalid definitions by path, and writes nothing', async () => {
  const [one] = examplesOf('single_choice')
  const document = documentWith([one!, one!, one!, one!, one!], {
    1: { definition: { spec: one!.spec, key: { policy: 'exact', right: [] } } },
    2: { responseType: 'essay' },
    3: { definition: { spec: one!.spec } },
    4: { definition: 'riddle' },
  })
  const before = await dumpDatabase(service.db)
  const refusal = (await load(document).catch((error) => error)) as ImportError
  expect(refusal).toBeInstanceOf(ImportError)
  const at = 'organizations[0].assessments[0].questions'
  expect(refusal.problems.map(({ path, message }) => `${path}: ${message}`).sort()).toEqual([
    `${at}[1].definition.key.right: One option must be right.`,
    `${at}[2].responseType: is none that can have a definition here`,
    `${at}[3].definition.key: is required`,
    `${at}[4].definition: must be an object`,
  ])
  expect(await dumpDatabase(service.db)).toEqual(before)
})

test('rejects definitions if candidates take assessments in an external player', async () => {
  const elsewhere = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
  const document = readDocument(documentWith(examplesOf('number')))
  const refusal = (await importDocument(elsewhere.system, document).catch((error) => error)) as ImportError
  expect(refusal.problems.map(({ path }) => path)).toEqual(['organizations[0].assessments[0].questions[0].responseType'])
})

test("rejects points without a rubric that differ from the stored rubric's, and accepts equal ones", async () => {
  const rubric = [
    {
      name: 'Content',
      levels: [
        { text: 'Weak', points: 0 },
        { text: 'Strong', points: 4 },
      ],
    },
  ]
  const question = { id: newId(), order: 1, inputType: 'text', responseType: 'text', updatedAt: '2026-02-20T16:45:00.000Z' }
  const document = documentOf({ assessments: [{ name: 'With a rubric', questions: [{ ...question, rubric }] }] })
  await load(document)
  const withPoints = (points: number) => ({
    organizations: document.organizations.map((organization) => ({
      ...organization,
      assessments: [{ name: 'With a rubric', questions: [{ ...question, points }] }],
    })),
  })
  await expect(load(withPoints(5))).rejects.toMatchObject({
    problems: [
      {
        path: 'organizations[0].assessments[0].questions[0].points',
        message: "must be 4, the best levels of the question's rubric, or come with another rubric",
      },
    ],
  })
  expect((await load(withPoints(4))).counts.questions).toEqual({ created: 0, updated: 0, unchanged: 1 })
})

test('records the pictures and media that a question refers to, also after an update of its text', async () => {
  const [first, second, audio] = [newId(), newId(), newId()]
  const question = { id: newId(), order: 1, inputType: 'text', responseType: 'text', updatedAt: '2026-02-20T16:45:00.000Z' }
  const named = documentOf().organizations[0]!
  const loadQuestion = (given: object) =>
    load({ organizations: [{ ...named, assessments: [{ name: 'Pictures', questions: [{ ...question, ...given }] }] }] })
  const stored = async () => (await service.db.question.findFirstOrThrow({ where: { id: question.id } })).assetIds
  await loadQuestion({ script: `![a](asset:${first})`, audioUrl: `/api/v1/question-media/${audio}` })
  expect(await stored()).toEqual([first, audio].toSorted())
  await loadQuestion({ script: `![b](asset:${second})` })
  expect(await stored()).toEqual([second, audio].toSorted())
  await loadQuestion({ points: 2 })
  expect(await stored()).toEqual([second, audio].toSorted())
})

const asked = (order: number, place: object) => ({
  order,
  inputType: 'text',
  responseType: 'text',
  script: `Question ${order}`,
  updatedAt: '2026-02-20T16:45:00.000Z',
  ...place,
})

test('loads sections and pools, again without a change, and without them', async () => {
  const sections = [
    { name: 'Grammar', intro: 'Read **this**.', timeLimit: 600, navigation: 'free', shuffle: true },
    { name: 'Style' },
  ]
  const inPool = { section: 2, pool: 1, points: 5 }
  const questions = [asked(1, { section: 1, points: 3 }), asked(2, inPool), asked(3, inPool), asked(4, inPool)]
  const documentOfParts = (parts: object) => documentOf({ assessments: [{ name: 'Structured', questions, ...parts }] })
  const document = documentOfParts({ sections, pools: [{ name: 'Numbers', draw: 2, points: 5 }] })
  const summary = await load(document)
  const where = { organizationId: summary.organizations[0]!.id }
  expect(await service.db.assessment.findFirstOrThrow({ where })).toMatchObject({ totalPoints: 13, questionCount: 4 })
  const stored = () => service.db.question.findMany({ where, include: { section: true, pool: true }, orderBy: { order: 'asc' } })
  expect((await stored()).map(({ section, pool }) => [section?.name, section?.navigation, pool?.draw])).toEqual([
    ['Grammar', 'free', undefined],
    ['Style', 'forward', 2],
    ['Style', 'forward', 2],
    ['Style', 'forward', 2],
  ])
  const before = await dumpDatabase(service.db)
  expect((await load(document)).counts.questions).toEqual({ created: 0, updated: 0, unchanged: 4 })
  expect(await dumpDatabase(service.db)).toEqual(before)
  const flat = questions.map(({ section: _, pool: __, ...question }: Record<string, unknown>) => question)
  const name = document.organizations[0]!.name
  await load({ organizations: [{ name, assessments: [{ name: 'Structured', sections: [], pools: [], questions: flat }] }] })
  expect((await stored()).map(({ section, pool }) => [section, pool])).toEqual(flat.map(() => [null, null]))
  expect(await service.db.assessment.findFirstOrThrow({ where })).toMatchObject({ totalPoints: 18 })
})

test('rejects questions that don’t fit their section or pool, by path', async () => {
  const questions = [
    asked(1, { section: 2, responseType: 'audio' }),
    asked(2, { section: 1, pool: 1, points: 4 }),
    asked(3, { section: 2, pool: 1, points: 5 }),
    asked(4, {}),
    asked(5, { section: 3, pool: 9 }),
  ]
  const structure = {
    sections: [{ name: 'One' }, { name: 'Two', navigation: 'free' }],
    pools: [{ name: 'Numbers', draw: 3, points: 5 }],
  }
  const document = documentOf({ assessments: [{ name: 'Structured', questions, ...structure }] })
  const refusal = (await load(document).catch((error) => error)) as ImportError
  expect(refusal.problems.map(({ path }) => path.replace('organizations[0].assessments[0].', '')).sort()).toEqual([
    'pools[0]',
    'pools[0].draw',
    'questions[0].responseType',
    'questions[1].order',
    'questions[1].points',
    'questions[3].section',
    'questions[4].pool',
    'questions[4].section',
  ])
})

test('rejects questions that don’t fit the stored sections and pools, and writes nothing', async () => {
  const questions = [
    asked(1, { section: 1 }),
    asked(2, { section: 2, pool: 1, points: 5 }),
    asked(3, { section: 2, pool: 1, points: 5 }),
  ]
  const sections = [{ name: 'One' }, { name: 'Two', navigation: 'free' }]
  const pools = [{ name: 'Numbers', draw: 1, points: 5 }]
  const document = documentOf({ assessments: [{ name: 'Structured', sections, pools, questions }] })
  await load(document)
  const before = await dumpDatabase(service.db)
  const { name } = document.organizations[0]!
  const changed = [asked(1, {}), asked(2, { points: 4 }), asked(4, { responseType: 'audio' })]
  const assessments = [{ name: 'Structured', questions: changed }]
  const refusal = (await load({ organizations: [{ name, assessments }] }).catch((error) => error)) as ImportError
  expect(refusal).toBeInstanceOf(ImportError)
  expect(refusal.problems.map(({ path }) => path.replace('organizations[0].assessments[0].', ''))).toEqual([
    'questions[2].responseType',
    'questions[1].points',
  ])
  expect(await dumpDatabase(service.db)).toEqual(before)
})
