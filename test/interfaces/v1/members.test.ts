import { expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

it('shows exactly the documented fields of a member', async () => {
  const { id, key } = await service.make.organization()
  const member = await service.make.member(id, {
    firstName: 'Maya',
    lastName: 'Okafor',
    email: 'maya.okafor@example.com',
    avatarUrl: 'https://media.example.com/maya.png',
    roles: ['admin', 'grader', 'client'],
    status: 'inactive',
    department: 'Talent',
    joinedAt: new Date('2026-01-15T08:00:00.000Z'),
  })
  const { status, body } = await service.v1(key).get('/members')
  expect(status).toBe(200)
  expect(body).toEqual({
    members: [
      {
        id: member.id,
        firstName: 'Maya',
        lastName: 'Okafor',
        email: 'maya.okafor@example.com',
        avatarUrl: 'https://media.example.com/maya.png',
        roles: ['admin', 'grader', 'client'],
        status: 'inactive',
        department: 'Talent',
        joinedAt: '2026-01-15T08:00:00.000Z',
      },
    ],
    pagination: { page: 1, limit: 20, total: 1, totalPages: 1 },
  })
})

it('shows empty text, never null, for missing values of a member', async () => {
  const { id, key } = await service.make.organization()
  await service.make.member(id, { roles: [] })
  const { body } = await service.v1(key).get('/members')
  expect(body.members[0]).toMatchObject({ avatarUrl: '', department: '', roles: [], status: 'active' })
})

it('shows a person in each organization by the id of that membership', async () => {
  const [one, other] = [await service.make.organization(), await service.make.organization()]
  const member = await service.make.member(one.id, { firstName: 'Both' })
  const { userId, email, joinedAt, createdAt, updatedAt } = member
  const again = await service.db.member.create({
    data: {
      id: service.deps.newId(),
      organizationId: other.id,
      userId,
      email,
      roles: ['client'],
      joinedAt,
      createdAt,
      updatedAt,
    },
  })
  const read = async (key: string) => (await service.v1(key).get('/members')).body.members
  expect(await read(one.key)).toMatchObject([{ id: member.id, firstName: 'Both', email, roles: ['grader'] }])
  expect(await read(other.key)).toMatchObject([{ id: again.id, firstName: 'Both', email, roles: ['client'] }])
})
