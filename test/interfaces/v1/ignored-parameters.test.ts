import { expect, it } from 'vitest'
import { follow, readDocument } from '../../support/openapi.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

it.each([
  ['/tags?nmae=x&page=1&Limit=2', 'nmae, Limit'],
  ['/events?type=invite.created&kind=a&kind=b', 'kind'],
  ['/webhooks?x%20y=1&%0d%0aset-cookie=1&%F0%9F%8E%93=1', 'x%20y, %0D%0Aset-cookie, %F0%9F%8E%93'],
  ['/members?limit=5', undefined],
  [`/tags?${Array.from({ length: 20 }, (_, i) => `p${i}`).join('&')}`, 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9'],
  [`/tags?a=1&${'x'.repeat(300)}=1&b=1`, 'a, b'],
  [`/tags?${'x'.repeat(200)}=1`, 'x'.repeat(200)],
  [`/tags?${'x'.repeat(201)}=1`, undefined],
])('names what it does not know of the query, and answers as without it: %s', async (path, ignored) => {
  const { key } = await service.make.organization()
  const { status, headers } = await service.v1(key).get(path)
  expect([status, headers['ignored-parameters']]).toEqual([200, ignored])
})

it('names it in the answer to one row and to a path that takes no query, too', async () => {
  const organization = await service.make.organization()
  const { id } = await service.make.tag(organization.id)
  const { headers } = await service.v1(organization.key).get(`/tags/${id}?verbose=1`)
  expect(headers['ignored-parameters']).toBe('verbose')
})

it('is a header that the document has for every list, and for the feed', async () => {
  const document = await readDocument(service, 'v1')
  const answers = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get?.responses[200] ? [{ path, headers: Object.keys(follow(document, get.responses[200]).headers ?? {}) }] : [],
  )
  const lists = answers.filter(({ path, headers }) => headers.includes('Link') || path.endsWith('/events'))
  expect(lists.length).toBeGreaterThan(8)
  for (const { path, headers } of lists) expect([path, headers.includes('Ignored-Parameters')]).toEqual([path, true])
})

it('takes type and types alike, for the feed and for webhooks', async () => {
  const organization = await service.make.organization()
  const api = service.v1(organization.key)
  await service.make.tag(organization.id)
  const asked = { url: 'https://hooks.example.com/in', type: ['invite.created'] }
  const { webhook } = (await api.post('/webhooks').send(asked)).body
  expect(webhook.types).toEqual(['invite.created'])
  const changed = await api.patch(`/webhooks/${webhook.id}`).send({ type: ['invite.expired'], types: ['invite.revoked'] })
  expect(changed.body.webhook.types).toEqual(['invite.expired', 'invite.revoked'])
  const assessment = await service.make.assessment(organization.id)
  await api.post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com' })
  for (const name of ['type', 'types']) {
    const { events } = (await api.get(`/events?${name}=invite.revoked`)).body
    expect(events).toEqual([])
  }
})
