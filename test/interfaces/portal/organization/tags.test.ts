import { expect, it } from 'vitest'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

async function start() {
  const { id } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  return { id, admin, path: `${admin.home}tags` }
}
const find = (organizationId: string) => service.db.tag.findMany({ where: { organizationId }, orderBy: { name: 'asc' } })
const green = { name: ' Urgent ', color: '#16A34A', description: 'Look first\r\nat these' }

it('creates, changes, and deletes tags, each with an audit entry', async () => {
  const { id, admin, path } = await start()
  expect((await admin.post(path, green)).headers.location).toBe(`${path}?done=created`)
  const [tag] = await find(id)
  const made = { name: 'Urgent', color: '#16A34A', description: 'Look first\nat these', createdById: admin.member.id }
  expect(tag).toMatchObject(made)
  expect((await admin.get(path)).text).toContain('Urgent')
  expect((await admin.post(`${path}/${tag!.id}`, { ...green, name: 'Later' })).headers.location).toBe(`${path}?done=saved`)
  expect(await find(id)).toMatchObject([{ name: 'Later' }])
  expect((await admin.post(`${path}/${tag!.id}/delete`)).headers.location).toBe(`${path}?done=deleted`)
  expect(await find(id)).toEqual([])
  const entries = await service.db.auditEntry.findMany({ where: { organizationId: id }, orderBy: { id: 'asc' } })
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ['generated_key', { name: 'Test' }],
    ['created_tag', { name: 'Urgent' }],
    ['changed_tag', { name: 'Later' }],
    ['deleted_tag', { name: 'Later' }],
  ])
})

it('shows the uses of a tag, and removes it there when it is deleted', async () => {
  const { id, admin, path } = await start()
  const tag = await service.make.tag(id)
  const assessment = await service.make.assessment(id)
  const row = { organizationId: id, tagId: tag.id, position: 0 }
  await service.db.assessmentTag.create({ data: { ...row, assessmentId: assessment.id } })
  for (let i = 0; i < 2; i++)
    await service.db.inviteTag.create({ data: { ...row, inviteId: (await service.make.invite(assessment)).id } })
  expect((await admin.get(`${path}/${tag.id}`)).text).toContain(
    `assessments: 1, members: 0, <a href="${admin.home}invites?tag=${tag.id}">invites: 2</a>`,
  )
  expect((await admin.get(path)).text).toMatch(
    new RegExp(`<td[^>]*>1</td><td[^>]*>0</td><td[^>]*><a href="${admin.home}invites\\?tag=${tag.id}">2</a></td>`),
  )
  await admin.post(`${path}/${tag.id}/delete`)
  expect(await service.db.inviteTag.count({ where: { organizationId: id } })).toBe(0)
})

it.each([
  [{ ...green, name: '  ' }, 'Enter the name.'],
  [{ ...green, name: 'x'.repeat(101) }, 'The name has more than 100 characters.'],
  [{ ...green, color: 'red' }, 'Enter the color as # and six hexadecimal digits'],
  [{ ...green, description: 'x'.repeat(1_001) }, 'The description has more than 1000 characters.'],
  [{ ...green, name: 'tAKEN' }, 'The name is already taken.'],
])('rejects an invalid tag on creation and change, with a reason: %#', async (fields, words) => {
  const { id, admin, path } = await start()
  await service.make.tag(id, { name: 'Taken' })
  const other = await service.make.tag(id, { name: 'Other' })
  const before = await find(id)
  for (const address of [path, `${path}/${other.id}`]) {
    const answer = await admin.post(address, fields)
    expect([address, answer.status, answer.text]).toEqual([address, 422, expect.stringContaining(words)])
  }
  expect(await find(id)).toEqual(before)
})

it('finds tags by words of their name', async () => {
  const { id, admin, path } = await start()
  await service.make.tag(id, { name: 'Front end' })
  await service.make.tag(id, { name: 'Back end' })
  expect((await admin.get(`${path}?search=front`)).text).not.toContain('Back end')
})
