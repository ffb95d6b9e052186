import { expect, it } from 'vitest'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

it.each([undefined, '*/*', 'text/html,application/xhtml+xml,*/*;q=0.8', 'text/html, application/json'])(
  'redirects people to the portal: %s',
  async (accept) => {
    const request = service.http().get('/')
    const { status, headers } = await (accept === undefined ? request : request.set('accept', accept))
    expect([status, headers.location, headers.vary]).toEqual([302, '/portal', 'accept'])
  },
)

it('lists the OpenAPI documents for clients that accept JSON', async () => {
  const { status, body } = await service.http().get('/').set('accept', 'application/json')
  expect(status).toBe(200)
  const read = body.documents.map(async ({ openapi }: { openapi: string }) => (await service.http().get(openapi)).body.openapi)
  expect(await Promise.all(read)).toEqual([expect.stringMatching(/^3\.1/), expect.stringMatching(/^3\.1/)])
})
