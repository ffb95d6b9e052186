import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const otherUnknownId = '01900000-0000-7000-8000-000000000001'
const PATH = '/assessment_invites'

let service: Service
let own: Awaited<ReturnType<typeof setUp>>
beforeAll(async () => {
  service = await startService()
  own = await setUp(service)
})
afterAll(() => service.close())

/** Creates an organization with the rows that an invite refers to. No test in this file creates an invite in it. */
async function setUp({ make }: Service) {
  const { id, key } = await make.organization()
  const [assessment, grader, tag] = [await make.assessment(id), await make.member(id), await make.tag(id)]
  return { id, key, assessment, grader, tag }
}

const goodBody = (): Record<string, unknown> => ({
  email: 'candidate@example.com',
  assessment: own.assessment.id,
  question_play_limit: 2,
  answer_record_limit: 1,
  face_photo_required: true,
  id_photo_required: false,
  tags: [],
  assigned_grader: null,
})
const post = (body: string | object | undefined) =>
  service.alternate(own.key).post(PATH).set('content-type', 'application/json').send(body)

/** Expects that the request is rejected with exactly these errors and creates no invite. */
async function refuse(body: string | object | undefined, errors: object) {
  const response = await post(body)
  expect([response.status, response.body]).toEqual([400, errors])
  expect(await service.db.invite.count({ where: { organizationId: own.id } })).toBe(0)
}

const required = ['This field is required.']
const notNull = ['This field may not be null.']
const blank = ['This field may not be blank.']
const notInteger = ['A valid integer is required.']
const tooSmall = ['Ensure this value is greater than or equal to 1.']
const tooLarge = ['Ensure this value is less than or equal to 2147483647.']
const notBoolean = ['Must be a valid boolean.']
const notUuid = ['Must be a valid UUID.']
const noAddress = ['Enter a valid email address.']
const noObject = (...ids: string[]) => ids.map((id) => `Invalid pk "${id}" - object does not exist.`)
const noGrader = (id: string) => [`Invalid pk "${id}" - object is not an active grader or admin.`]
const noList = (type: string) => [`Expected a list of items but got type "${type}".`]

const fields = [
  'email',
  'assessment',
  'question_play_limit',
  'answer_record_limit',
  'face_photo_required',
  'id_photo_required',
  'tags',
  'assigned_grader',
]
const limits = ['question_play_limit', 'answer_record_limit']
const switches = ['face_photo_required', 'id_photo_required']

describe('a required field', () => {
  it.each(fields)('answers 400 when %s is missing', (field) =>
    refuse({ ...goodBody(), [field]: undefined }, { [field]: required }),
  )

  it.each(fields.filter((field) => field !== 'assigned_grader'))('answers 400 when %s is null', (field) =>
    refuse({ ...goodBody(), [field]: null }, { [field]: notNull }),
  )
})

describe('the email', () => {
  it.each(['', ' ', '\t\n', '\u00a0'])('is rejected with 400 if it is the blank %j', (email) =>
    refuse({ ...goodBody(), email }, { email: blank }),
  )

  it.each([
    ...['plain', 'a@b', '@example.com', 'a@', 'a b@example.com', 'a@example..com', 'Sam <sam@example.com>', 'ä@example'],
    ...['a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com', 'a\u0000@example.com', '\ud800@example.com'],
    ...[`${'a'.repeat(250)}@example.com`, 5, 0, true, false, ['a@example.com'], [], { a: 1 }, {}],
  ])('is rejected with 400 if it is %j, not an address', (email) => refuse({ ...goodBody(), email }, { email: noAddress }))
})

describe.each(limits)('%s', (field) => {
  const json = (value: string) => JSON.stringify({ ...goodBody(), [field]: 'HERE' }).replace('"HERE"', value)

  it.each(['0', '-1', '-0', '"0"', '"-1"', '" -2147483649 "', '-1e400', `"-${'9'.repeat(400)}"`])(
    'is rejected with 400 if it is %s, too small',
    (value) => refuse(json(value), { [field]: tooSmall }),
  )

  it.each(['2147483648', '"2147483648"', '1e300', '1e400', '9'.repeat(400), `"${'9'.repeat(400)}"`])(
    'is rejected with 400 if it is %s, too large',
    (value) => refuse(json(value), { [field]: tooLarge }),
  )

  it.each([
    '1.5',
    '"1.5"',
    '"abc"',
    '""',
    '" "',
    'true',
    'false',
    '[]',
    '[1]',
    '{}',
    '"1e3"',
    '"0x1"',
    '"１"',
    '"NaN"',
    '"Infinity"',
  ])('is rejected with 400 if it is %s, not an integer', (value) => refuse(json(value), { [field]: notInteger }))
})

describe.each(switches)('%s', (field) => {
  it.each(['maybe', 2, '', ' ', -1, 1.5, '2', 'null', 'truefalse', [], [true], {}])('is rejected with 400 if it is %j', (value) =>
    refuse({ ...goodBody(), [field]: value }, { [field]: notBoolean }),
  )
})

describe('the validation of assessment, assigned_grader, and tags', () => {
  const malformed = [
    'x',
    '1',
    unknownId.slice(1),
    `${unknownId} `,
    `{${unknownId}}`,
    unknownId.replace('-', ''),
    5,
    true,
    [],
    [unknownId],
    {},
    'a\u0000',
  ]

  it.each(malformed)('answers 400 to the malformed assessment %j', (assessment) =>
    refuse({ ...goodBody(), assessment }, { assessment: notUuid }),
  )
  it.each(malformed)('answers 400 to the malformed assigned_grader %j', (value) =>
    refuse({ ...goodBody(), assigned_grader: value }, { assigned_grader: notUuid }),
  )
  it.each([...malformed, null, ''])('answers 400 to the malformed tag %j', (tag) =>
    refuse({ ...goodBody(), tags: [own.tag.id, tag] }, { tags: notUuid }),
  )

  it('answers 400 to an empty assessment', () => refuse({ ...goodBody(), assessment: '' }, { assessment: notNull }))

  it.each([
    ['string', 'x'],
    ['string', ''],
    ['string', unknownId],
    ['int', 1],
    ['float', 1.5],
    ['bool', true],
    ['dict', {}],
  ])('answers 400 to tags of the type %s', (type, tags) => refuse({ ...goodBody(), tags }, { tags: noList(type) }))

  it('answers 400 to more tags than an invite can have', async () => {
    await refuse(
      { ...goodBody(), tags: Array(101).fill(own.tag.id) },
      { tags: ['Ensure this field has no more than 100 elements.'] },
    )
  })

  it('answers 400 to unknown ids, reporting all of them as they were sent', () =>
    refuse(
      { ...goodBody(), assessment: unknownId, assigned_grader: unknownId, tags: [unknownId, own.tag.id, otherUnknownId] },
      {
        assessment: noObject(unknownId),
        assigned_grader: noObject(unknownId),
        tags: noObject(unknownId, otherUnknownId),
      },
    ))

  it("answers 400 to another organization's ids, reporting them as unknown", async () => {
    const other = await setUp(service)
    await refuse(
      { ...goodBody(), assessment: other.assessment.id, assigned_grader: other.grader.id, tags: [other.tag.id] },
      {
        assessment: noObject(other.assessment.id),
        assigned_grader: noObject(other.grader.id),
        tags: noObject(other.tag.id),
      },
    )
  })

  it.each([
    ['no longer active', { status: 'inactive' }],
    ['neither grader nor admin', { roles: ['client'] }],
    ['without a role', { roles: [] }],
  ] as [string, { status?: 'inactive'; roles?: string[] }][])('answers 400 to a grader who is %s', async (_what, data) => {
    const { id } = await service.make.member(own.id, data)
    await refuse({ ...goodBody(), assigned_grader: id }, { assigned_grader: noGrader(id) })
  })
})

describe('the error response', () => {
  it('reports unknown ids together with errors in other fields', () =>
    refuse(
      {
        email: 'x',
        assessment: unknownId,
        question_play_limit: 0,
        answer_record_limit: 'many',
        face_photo_required: 'maybe',
        id_photo_required: null,
        tags: [unknownId, otherUnknownId, unknownId],
      },
      {
        email: noAddress,
        assessment: noObject(unknownId),
        question_play_limit: tooSmall,
        answer_record_limit: notInteger,
        face_photo_required: notBoolean,
        id_photo_required: notNull,
        tags: noObject(unknownId, otherUnknownId),
        assigned_grader: required,
      },
    ))

  it('reports a grader who may not grade together with unknown ids and errors in other fields', async () => {
    const { id } = await service.make.member(own.id, { roles: ['client'] })
    await refuse(
      { ...goodBody(), email: 'x', assigned_grader: id, assessment: unknownId, tags: [unknownId] },
      { email: noAddress, assigned_grader: noGrader(id), assessment: noObject(unknownId), tags: noObject(unknownId) },
    )
  })

  it('reports a tag that is deleted while the invite is being created', async () => {
    const other = await setUp(service)
    const body = { ...goodBody(), assessment: other.assessment.id, tags: [other.tag.id] }
    const isHeldUp = async () =>
      (
        await service.db.$queryRaw<object[]>`SELECT FROM pg_stat_activity 
        WHERE datname = current_database() AND wait_event_type = 'Lock'`
      )[0] && true
    const answer = await service.db.$transaction(async (tx) => {
      await tx.tag.delete({ where: { id: other.tag.id } })
      const answer = service.alternate(other.key).post(PATH).send(body).then()
      await waitUntil('the invite to wait for its tag', isHeldUp)
      return { underWay: answer }
    })
    const { status, body: errors } = await answer.underWay
    expect([status, errors]).toEqual([400, { tags: noObject(other.tag.id) }])
  })

  it('reports unknown ids before an earlier invite for the address', async () => {
    const other = await setUp(service)
    const body = { ...goodBody(), assessment: other.assessment.id }
    const create = (tags: string[]) =>
      service
        .alternate(other.key)
        .post(PATH)
        .send({ ...body, tags })
    expect((await create([])).status).toBe(201)
    const { status, body: errors } = await create([unknownId])
    expect([status, errors]).toEqual([400, { tags: noObject(unknownId) }])
  })

  it('reports an unknown id when another id is malformed', () =>
    refuse(
      { ...goodBody(), assessment: 'x', assigned_grader: unknownId, tags: 'x' },
      { assessment: notUuid, assigned_grader: noObject(unknownId), tags: noList('string') },
    ))
})

describe('the body', () => {
  const allRequired = Object.fromEntries(fields.map((field) => [field, required]))
  const notDictionary = (type: string) => ({ non_field_errors: [`Invalid data. Expected a dictionary, but got ${type}.`] })

  it.each(['{}', ''])('is rejected with 400 for all eight fields if it is %j', (body) => refuse(body, allRequired))
  it('is rejected with 400 for all eight fields if it is missing', async () => {
    const { status, body } = await service.alternate(own.key).post(PATH)
    expect([status, body]).toEqual([400, allRequired])
  })

  it.each([
    ['[]', 'list'],
    ['[{}]', 'list'],
    ['"text"', 'string'],
    ['5', 'int'],
    ['-0.5', 'float'],
    ['1e400', 'float'],
    ['true', 'bool'],
    ['null', 'NoneType'],
  ])('is rejected with 400 if it is %s, not a dictionary', (body, type) => refuse(body, notDictionary(type)))

  it.each(['{"email": "a', '{email: 1}', "{'email': 1}", '{} x', 'undefined', '{"email":1,}', '\ufeff{}x'])(
    'is rejected with 400 and a JSON parse error if it is %s',
    async (body) => {
      await refuse(body, { detail: expect.stringMatching(/^JSON parse error - ./) })
    },
  )
})

it('accepts ids without dashes and integers with a plus sign, as Django REST framework does', async () => {
  const bare = (id: string) => id.replaceAll('-', '').toUpperCase()
  const { assessment, tag, grader } = own
  const ids = { assessment: bare(assessment.id), tags: [bare(tag.id), tag.id], assigned_grader: bare(grader.id) }
  const numbers = { question_play_limit: '+1', answer_record_limit: ' +2.0 ' }
  const created = await post({ ...goodBody(), ...ids, ...numbers, email: 'bare@example.com' })
  expect(created.body).toMatchObject({
    ...{ assessment: assessment.id, tags: [tag.id], assigned_grader: grader.id },
    ...{ question_play_limit: 1, answer_record_limit: 2 },
  })
  const client = service.alternate(own.key)
  expect((await client.get(`${PATH}/${bare(created.body.id)}`)).body.id).toBe(created.body.id)
  expect((await client.get(`/organizations/${bare(own.id)}${PATH}/${bare(created.body.id)}`)).status).toBe(200)
  const pages = await client.get(`/tags?page=%2B1&page_size=%2B5&depth=%2B1`)
  expect([pages.status, pages.body.current_page, typeof pages.body.results[0].organization]).toEqual([200, 1, 'object'])
  const found = await client.get(`/assessments?tags=${bare(tag.id)}`)
  expect(found.status).toBe(200)
})
