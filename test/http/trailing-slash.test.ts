import { expect, it } from 'vitest'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

it('ignores a trailing slash in both interfaces, even with a query', async () => {
  const { id, key } = await service.make.organization()
  const tag = await service.make.tag(id)
  const { body } = await service.v1(key).get('/tags?limit=5')
  expect((await service.v1(key).get('/tags/?limit=5')).body).toEqual(body)
  expect((await service.v1(key).get(`/tags/${tag.id}/`)).body.tag.id).toBe(tag.id)
  expect((await service.v1(key).post('/tags/').send({ name: 'Slash' })).status).toBe(201)
  const list = await service.alternate(key).get('/tags/?page_size=1')
  expect([list.status, list.body.count]).toEqual([200, 2])
  expect(list.body.next).toMatch(/\/api\/alternate\/tags\?page=2&page_size=1$/)
})

it.each(['/tags//', '/', '//'])('answers 404 for %s', async (path) => {
  const { key } = await service.make.organization()
  const { status, body } = await service.v1(key).get(path)
  expect([status, body]).toEqual([404, { error: 'Not found' }])
})

it('answers 404 in v1 for an unsupported method, and ignores If-Match', async () => {
  const { id, key } = await service.make.organization()
  const tag = await service.make.tag(id)
  expect((await service.v1(key).put(`/tags/${tag.id}`)).status).toBe(404)
  const changed = await service.v1(key).patch(`/tags/${tag.id}`).set('if-match', '"another"').send({ description: 'New' })
  expect(changed.status).toBe(200)
})
