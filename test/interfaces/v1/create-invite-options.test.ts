import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unknownId } from '../../support/factories.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let organizationId: string
let assessmentId: string
let key: string
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  const organization = await service.make.organization()
  organizationId = organization.id
  key = organization.key
  assessmentId = (await service.make.assessment(organizationId)).id
})

const create = (fields: object) =>
  service
    .v1(key)
    .post('/invites')
    .send({ assessmentId, recipientEmail: 'candidate@example.com', ...fields })
const createAndRead = async (fields: object) => {
  const { status, body } = await create(fields)
  expect(status).toBe(201)
  return (await service.v1(key).get(`/invites/${body.invite.id}`)).body
}
const refuse = async (fields: object, error: string) => {
  const { status, body } = await create(fields)
  expect([status, body]).toEqual([400, { error }])
  expect(await service.db.invite.count({ where: { organizationId } })).toBe(0)
}

describe('proctoringSettings', () => {
  const allOn = { screenRecording: true, webcamMonitoring: true, requireIdCapture: true }
  const options = Object.keys(allOn)

  it.each([[undefined], [{}], [{ colour: 'red' }]])('enable every option if they are %j', async (proctoringSettings) => {
    expect((await createAndRead({ proctoringSettings })).proctoringSettings).toEqual(allOn)
  })

  it.each(options)('disable %s, and leave the others enabled', async (option) => {
    expect((await createAndRead({ proctoringSettings: { [option]: false } })).proctoringSettings).toEqual({
      ...allOn,
      [option]: false,
    })
  })

  it('disable every option', async () => {
    const allOff = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false }
    expect((await createAndRead({ proctoringSettings: allOff })).proctoringSettings).toEqual(allOff)
  })

  it.each([[null], [true], ['all'], [[]], [1]])('are rejected with 400 if they are %j', (proctoringSettings) =>
    refuse({ proctoringSettings }, 'proctoringSettings must be an object'),
  )

  it.each(options.flatMap((option) => ['true', 1, null, {}, []].map((value) => [option, value] as const)))(
    'are rejected with 400 if %s is %j',
    (option, value) => refuse({ proctoringSettings: { [option]: value } }, `proctoringSettings.${option} must be true or false`),
  )
})

describe('recipientName', () => {
  it.each([[null], [undefined], [''], ['Sam Rivera'], ['Zoë 孫 🎓'], ['x'.repeat(200)], ['🎓'.repeat(200)]])(
    'can be %j',
    async (recipientName) => {
      expect((await createAndRead({ recipientName })).recipientName).toBe(recipientName ?? null)
    },
  )

  it.each([
    ['x'.repeat(201), 'recipientName must be at most 200 characters long'],
    [5, 'recipientName must be a string'],
    [['Sam'], 'recipientName must be a string'],
    ['a\u0000b', 'recipientName must not contain NUL characters or unpaired surrogates'],
    ['a\ud800b', 'recipientName must not contain NUL characters or unpaired surrogates'],
  ])('is rejected with 400 if it is %j', (recipientName, error) => refuse({ recipientName }, error))
})

describe('customMessage', () => {
  it.each([[undefined], [''], ['Good luck!\n\n🍀 <b>&</b>'], ['x'.repeat(5_000)]])('can be %j', async (customMessage) => {
    expect((await createAndRead({ customMessage })).customMessage).toBe(customMessage ?? '')
  })

  it.each([
    ['x'.repeat(5_001), 'customMessage must be at most 5000 characters long'],
    [null, 'customMessage must be a string'],
    [{}, 'customMessage must be a string'],
    ['\u0000', 'customMessage must not contain NUL characters or unpaired surrogates'],
    ['\udfff', 'customMessage must not contain NUL characters or unpaired surrogates'],
  ])('is rejected with 400 if it is %j', (customMessage, error) => refuse({ customMessage }, error))
})

describe('assignedGraderId', () => {
  it('assigns the member', async () => {
    const { id, email } = await service.make.member(organizationId, { firstName: 'Grace', lastName: 'Grader' })
    const assignedGrader = { id, firstName: 'Grace', lastName: 'Grader', email }
    expect((await createAndRead({ assignedGraderId: id })).assignedGrader).toEqual(assignedGrader)
    expect((await createAndRead({ assignedGraderId: id.toUpperCase(), recipientEmail: 'b@example.com' })).assignedGrader).toEqual(
      assignedGrader,
    )
  })

  it.each([[null], [undefined]])('assigns nobody if it is %j', async (assignedGraderId) => {
    expect((await createAndRead({ assignedGraderId })).assignedGrader).toBeNull()
  })

  it('must be a member of the organization', () =>
    refuse({ assignedGraderId: unknownId }, `assignedGraderId must be of this organization: ${unknownId} is not`))

  it.each([
    ['not active', { status: 'inactive' as const, roles: ['grader'] }],
    ['neither grader nor admin', { roles: ['client'] }],
  ])('is rejected with 400 if the member is %s', async (_what, data) => {
    const { id } = await service.make.member(organizationId, data)
    await refuse({ assignedGraderId: id }, 'assignedGraderId must be an active member with the role grader or admin')
  })

  it('can be an admin', async () => {
    const { id } = await service.make.member(organizationId, { roles: ['client', 'admin'] })
    expect((await createAndRead({ assignedGraderId: id })).assignedGrader).toMatchObject({ id })
  })

  it.each([[''], ['none'], [1], [[]], [{}]])('is rejected with 400 if it is %j', (assignedGraderId) =>
    refuse({ assignedGraderId }, 'assignedGraderId must be a UUID'),
  )
})

describe('tagIds', () => {
  const readTags = async (inviteId: string) => {
    const rows = await service.db.inviteTag.findMany({ where: { inviteId }, orderBy: { position: 'asc' } })
    return rows.map(({ tagId }) => tagId)
  }

  it('tag the invite once each, in the order sent', async () => {
    const tags = [
      await service.make.tag(organizationId),
      await service.make.tag(organizationId),
      await service.make.tag(organizationId),
    ]
    const [a, b, c] = tags.map(({ id }) => id) as [string, string, string]
    const { id } = await createAndRead({ tagIds: [c, a, c.toUpperCase(), b, a] })
    expect(await readTags(id)).toEqual([c, a, b])
  })

  it('can be empty', async () => {
    expect(await readTags((await createAndRead({ tagIds: [] })).id)).toEqual([])
  })

  it('must all be tags of the organization', async () => {
    const { id } = await service.make.tag(organizationId)
    await refuse({ tagIds: [id, unknownId] }, `tagIds must be of this organization: ${unknownId} is not`)
  })

  it.each([
    [null, 'tagIds must be an array'],
    [unknownId, 'tagIds must be an array'],
    [{}, 'tagIds must be an array'],
    [['none'], 'tagIds.0 must be a UUID'],
    [[unknownId, null], 'tagIds.1 must be a UUID'],
    [Array(101).fill(unknownId), 'tagIds must have at most 100 items'],
  ])('are rejected with 400 if they are %j', (tagIds, error) => refuse({ tagIds }, error))

  it('are rejected with 400 if there are too many, even in the longest list that fits into a body', () =>
    refuse({ tagIds: Array(31_000).fill(1) }, 'tagIds must have at most 100 items'))
})
