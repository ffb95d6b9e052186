import { request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { KEY_SCOPES } from '../../../src/domain/authorization/permissions.ts'
import { candidateOf } from '../../support/candidate.ts'
import { unknownId } from '../../support/factories.ts'
import { readDocument } from '../../support/openapi.ts'
import { signInAs } from '../../support/portal.ts'
import { createSampleOrganization, fillPath, type SampleOrganization } from '../../support/sample-organization.ts'
import { startServiceForFile, startServiceForTest } from '../../support/service.ts'
import { submitRows } from '../../support/submissions.ts'

const service = await startServiceForFile()
let port: number
beforeAll(async () => {
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})

/** Requests a path and returns the raw response, without decoding. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }>((resolve, reject) => {
    const sent = ask({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }))
    })
    sent.on('error', reject).end()
  })

async function makeTags(count: number): Promise<Record<string, string>> {
  const { id: organizationId, key } = await service.make.organization()
  for (let i = 0; i < count; i++) await service.make.tag(organizationId, { name: `Tag ${i}` })
  return { 'x-api-key': key, 'x-service-docs-api-key': key }
}

describe('the compression', () => {
  it.each(['/api/v1/tags', '/api/alternate/tags', '/docs/v1/openapi.json'])(
    'applies to bodies over a kilobyte for clients that accept it, and to no others: %s',
    async (path) => {
      const keys = await makeTags(30)
      const plain = await get(path, keys)
      expect(plain.body.length).toBeGreaterThan(1_024)
      expect(plain.headers).not.toHaveProperty('content-encoding')
      expect(plain.headers.vary).toBe('accept-encoding')
      expect(Number(plain.headers['content-length'])).toBe(plain.body.length)
      for (const accepted of ['gzip', 'br, GZIP;q=0.5', '*', 'gzip, deflate, br, zstd']) {
        const compressed = await get(path, { ...keys, 'accept-encoding': accepted })
        expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
        expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true)
        expect(compressed.body.length).toBeLessThan(plain.body.length / 2)
        expect(Number(compressed.headers['content-length'])).toBe(compressed.body.length)
      }
      for (const accepted of ['', 'br', 'gzip;q=0', 'identity', 'gzip;q=0.0, *']) {
        const { body } = await get(path, { ...keys, 'accept-encoding': accepted })
        expect(body.equals(plain.body), accepted).toBe(true)
      }
    },
  )

  it('skips short responses, pages with private data, and responses with a secret', async () => {
    const keys = await makeTags(1)
    const gzip = { 'accept-encoding': 'gzip' }
    expect((await get('/api/v1/tags', { ...keys, ...gzip })).headers).not.toHaveProperty('content-encoding')
    const organization = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(organization.id))
    for (const path of [candidateOf(service, invite).path, '/portal/sign-in'])
      expect((await get(path, gzip)).headers, path).not.toHaveProperty('content-encoding')
    const endpoint = { url: 'https://example.com/hook', description: 'x'.repeat(200), types: [] }
    const made = await service.v1(organization.key).post('/webhooks').set('accept-encoding', 'gzip').send(endpoint)
    expect(made.headers['cache-control']).toBe('no-store')
    expect(made.headers).not.toHaveProperty('content-encoding')
  })

  it('reports the same length for HEAD and GET', async () => {
    const headers = { ...(await makeTags(30)), 'accept-encoding': 'gzip' }
    const [head, whole] = [await get('/api/v1/tags', headers, 'HEAD'), await get('/api/v1/tags', headers)]
    expect([head.status, head.body.length, head.headers['content-encoding']]).toEqual([200, 0, 'gzip'])
    expect(head.headers['content-length']).toBe(whole.headers['content-length'])
  })

  it('applies to CSV and the assets of pages', async () => {
    const organization = await service.make.organization()
    const assessment = await service.make.assessment(organization.id)
    for (let i = 0; i < 40; i++) await service.make.invite(assessment)
    const person = await signInAs(service, organization.id, ['admin'])
    const headers = { cookie: person.cookie()!, 'accept-encoding': 'gzip', 'sec-fetch-site': 'same-origin' }
    const file = await get(`${person.home}invites/export`, headers, 'POST')
    expect(file.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', 'content-encoding': 'gzip' })
    expect(gunzipSync(file.body).toString().split('\r\n')).toHaveLength(42)
    const page = (await get('/portal/sign-in')).body.toString()
    for (const [address] of page.matchAll(/\/portal\/assets\/[^"]+/g)) {
      const [plain, compressed] = [await get(address), await get(address, { 'accept-encoding': 'gzip' })]
      expect([plain.headers.vary, plain.headers['content-encoding']]).toEqual(['accept-encoding', undefined])
      if (plain.body.length < 1_024) continue
      expect(compressed.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true)
    }
  })
})

describe.each(['v1', 'alternate'] as const)('the ETag of single resources in %s', (name) => {
  let own: SampleOrganization
  let keys: Record<string, string>
  let reads: string[]
  beforeAll(async () => {
    own = await createSampleOrganization(service, name)
    await submitRows(service, { organizationId: own.id, inviteId: own.invite.id, assessmentId: own.assessment.id }, 'words')
    // Some resources can only be read with a key that has their scope.
    const allowed = { organizationId: own.id, name: 'All', mode: 'live', scopes: KEY_SCOPES } as const
    const { key } = await createApiKey(service.system, allowed)
    keys = { 'x-api-key': key, 'x-service-docs-api-key': key }
    const { paths } = await readDocument(service, name)
    reads = Object.keys(paths).flatMap((path) => (paths[path]!.get?.responses[304] ? [fillPath(path, own)] : []))
  })

  it('is sent by all reads', async () => {
    const { paths } = await readDocument(service, name)
    const lists = /^list|Link$|Report$|Media$/ // lists, secrets, and files
    const one = Object.values(paths).flatMap(({ get }) => (get && !lists.test(get.operationId) ? [get] : []))
    expect(one.filter(({ responses }) => !responses[304]).map(({ operationId }) => operationId)).toEqual([])
    expect(reads.length).toBeGreaterThan(4)
  })

  it('answers 304 without a body to a client with the current version, compressed or not', async () => {
    for (const path of reads) {
      const first = await get(path, keys)
      const { etag } = first.headers as { etag: string }
      expect([path, first.status, etag]).toEqual([path, 200, expect.stringMatching(/^W\/"[\w-]{22}"$/)])
      for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const again = await get(path, { ...keys, 'if-none-match': known, 'accept-encoding': 'gzip' }, method)
          expect([again.status, again.headers.etag, again.body.length]).toEqual([304, etag, 0])
          expect(again.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'accept-encoding' })
          expect(Number(again.headers['ratelimit-remaining'])).toBeGreaterThan(0)
        }
      }
      for (const known of ['"other"', 'W/"other"', etag.replace('"', '')]) {
        const again = await get(path, { ...keys, 'if-none-match': known })
        expect([again.status, again.headers.etag, again.body.toString()]).toEqual([200, etag, first.body.toString()])
      }
    }
  })

  it('changes with the resource, and is absent from errors', async () => {
    const path = reads.find((read) => read.includes('/tags/'))!
    const { etag } = (await get(path, keys)).headers as { etag: string }
    await service.v1(own.key).patch(`/tags/${own.tag.id}`).send({ name: 'renamed' })
    const changed = await get(path, { ...keys, 'if-none-match': etag })
    expect([changed.status, changed.body.includes('renamed'), changed.headers.etag]).not.toContain(etag)
    expect([changed.status, changed.body.includes('renamed')]).toEqual([200, true])
    const missing = await get(path.replace(own.tag.id, unknownId), { ...keys, 'if-none-match': '*' })
    expect([missing.status, missing.headers.etag]).toEqual([404, undefined])
  })
})

describe('the security and cache headers', () => {
  it('keep personal data out of shared caches', async () => {
    const { key } = await service.make.organization()
    for (const api of [service.v1(key), service.alternate(key)]) {
      expect((await api.get('/tags')).headers['cache-control']).toBe('private, no-cache')
      expect((await api.get('/nowhere')).headers['cache-control']).toBe('private, no-cache')
    }
  })

  it('require HTTPS for a year only if the service is reached by HTTPS', async () => {
    const secure = await startServiceForTest({ PUBLIC_URL: 'https://assessments.example.com' })
    for (const path of ['/portal/sign-in', '/healthz', '/api/v1/tags'])
      expect((await secure.http().get(path)).headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await service.http().get('/portal/sign-in')).headers).not.toHaveProperty('strict-transport-security')
  })

  it("allow camera, microphone, and screen capture on candidates' pages only", async () => {
    const used = async (path: string) => {
      const policy = String((await service.http().get(path)).headers['permissions-policy'])
      return [...policy.matchAll(/([\w-]+)=\(self\)/g)].map(([, name]) => name)
    }
    expect(await used('/i/nonsense')).toEqual(['camera', 'microphone', 'display-capture', 'speaker-selection'])
    for (const path of ['/portal/sign-in', '/docs/v1', '/api/v1/tags', '/healthz']) expect(await used(path)).toEqual([])
  })
})
