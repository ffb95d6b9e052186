import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../support/service.ts'

type Setup = { service: Service; key: string; port: number }

let direct: Setup
let proxied: Setup
beforeAll(async () => {
  ;[direct, proxied] = await Promise.all([setUp(), setUp({ TRUST_PROXY: 'loopback, 10.0.0.0/8' })])
})
afterAll(() => Promise.all([direct.service.close(), proxied.service.close()]))

async function setUp(env: Record<string, string> = {}): Promise<Setup> {
  const PUBLIC_HOSTS = 'api.example.com, internal, [2001:db8::1]'
  const service = await startService({ PUBLIC_URL: 'https://assess.example.com', PUBLIC_HOSTS, ...env })
  const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { id, key } = await service.make.organization()
  for (let i = 0; i < 5; i++) await service.make.tag(id, { name: `Tag & ${i}` })
  return { service, key, port: Number(new URL(address).port) }
}

const PREFIX = '/api/alternate'

/** Sends a raw request, because client libraries do not allow some of these headers, such as Host. */
async function getRaw({ key, port }: Setup, path: string, headers: Record<string, string>) {
  const socket = net.connect(port, '127.0.0.1')
  const lines = Object.entries({ 'X-Service-Docs-Api-Key': key, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET ${PREFIX}${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  const text = (await socket.setEncoding('utf8').toArray()).join('')
  const [head, body] = text.split('\r\n\r\n')
  return { status: Number(head!.split(' ')[1]), body: JSON.parse(body!) }
}

const get = async (query: string) => (await direct.service.alternate(direct.key).get(`/tags?${query}`)).body
const queryOf = (link: string | null) => link && new URL(link).search

describe('next and previous', () => {
  it.each([
    ['api.example.com:8080', 'http://api.example.com:8080'],
    ['Assess.Example.com', 'http://assess.example.com'],
    ['localhost:4242', 'http://localhost:4242'],
    ['[::1]:4242', 'http://[::1]:4242'],
  ])('use the host that the client named if it is known: %s', async (Host, origin) => {
    const { body } = await getRaw(direct, '/tags?page_size=2&page=2', { Host })
    expect(body.next).toBe(`${origin}${PREFIX}/tags?page=3&page_size=2`)
    expect(body.previous).toBe(`${origin}${PREFIX}/tags?page_size=2`)
  })

  it.each(['evil.example', 'assess.example.com.evil.example', 'x-api.example.com', 'localhost.evil.example', '10.0.0.5'])(
    'use PUBLIC_URL if the client named another host: %s',
    async (Host) => {
      const { body } = await getRaw(direct, '/tags?page_size=2', { Host })
      expect(body.next).toBe(`https://assess.example.com${PREFIX}/tags?page=2&page_size=2`)
    },
  )

  it('omit the page parameter for page 1', async () => {
    expect(queryOf((await get('page=2&page_size=2')).previous)).toBe('?page_size=2')
    expect(queryOf((await get('page=3&page_size=2')).previous)).toBe('?page=2&page_size=2')
  })

  it('are null on the first and last page', async () => {
    expect(await get('page_size=5')).toMatchObject({ next: null, previous: null })
  })

  it('keep every other parameter, known or not, re-encoded and sorted by name', async () => {
    const { next } = await get('z=%7e&search=tag%20%26&page_size=2&a=1%2B1&depth=1&empty=&%C3%BC=%E2%9C%93')
    expect(queryOf(next)).toBe('?a=1%2B1&depth=1&empty=&page=2&page_size=2&search=tag+%26&z=%7E&%C3%BC=%E2%9C%93')
  })

  it('contain a repeated page once, and keep other repeated parameters', async () => {
    const { next } = await get('page=3&page=1&page_size=9&page_size=2&x=2&x=1')
    expect(queryOf(next)).toBe('?page=2&page_size=9&page_size=2&x=2&x=1')
  })

  it('lead to a page of the same list', async () => {
    const first = await get('search=tag%20%26&page_size=3')
    const { pathname, search } = new URL(first.next)
    const second = await direct.service.http().get(`${pathname}${search}`).set('x-service-docs-api-key', direct.key)
    expect(second.body).toMatchObject({ count: 5, current_page: 2, next: null })
    expect(second.body.results).toHaveLength(2)
  })

  it('stay below the organization if the client asked there', async () => {
    const { id, key } = await direct.service.make.organization()
    const assessment = await direct.service.make.assessment(id)
    for (let i = 0; i < 2; i++) await direct.service.make.invite(assessment)
    const path = `/organizations/${id}/assessment_invites`
    const { body } = await direct.service.alternate(key).get(`${path}?page_size=1`)
    expect(new URL(body.next).pathname).toBe(`${PREFIX}${path}`)
  })
})

describe('the service behind a proxy', () => {
  const host = { Host: 'internal:3000', 'X-Forwarded-For': '203.0.113.7' }
  const origins: [string, Record<string, string>, string][] = [
    ['passes the host on', { Host: 'api.example.com' }, 'http://api.example.com'],
    ['names the host', { 'X-Forwarded-Host': 'api.example.com' }, 'http://api.example.com'],
    ['names the scheme', { 'X-Forwarded-Proto': 'https' }, 'https://internal:3000'],
    ['names both', { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Proto': 'https' }, 'https://api.example.com'],
    [
      'names a host with a port',
      { 'X-Forwarded-Host': 'api.example.com:8443', 'X-Forwarded-Proto': 'https' },
      'https://api.example.com:8443',
    ],
    [
      'names the port apart',
      { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '8443' },
      'https://api.example.com:8443',
    ],
    [
      'names the port twice',
      { 'X-Forwarded-Host': 'api.example.com:8443', 'X-Forwarded-Port': '9000' },
      'http://api.example.com:8443',
    ],
    [
      "names the scheme's own port",
      { 'X-Forwarded-Host': 'api.example.com:443', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '443' },
      'https://api.example.com',
    ],
    [
      'names its own inner port 80 beside https',
      { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '80' },
      'https://api.example.com',
    ],
    ['names no number as port', { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Port': 'x' }, 'http://api.example.com'],
    [
      'names an IPv6 address',
      { 'X-Forwarded-Host': '[2001:db8::1]:8443', 'X-Forwarded-Proto': 'https' },
      'https://[2001:db8::1]:8443',
    ],
    ['writes in upper case', { 'X-Forwarded-Host': 'API.example.COM', 'X-Forwarded-Proto': 'HTTPS' }, 'https://api.example.com'],
    [
      'adds to what the client sent',
      { 'X-Forwarded-Host': 'localhost, api.example.com', 'X-Forwarded-Proto': 'http,https', 'X-Forwarded-Port': '1,8443' },
      'https://api.example.com:8443',
    ],
    [
      'is the outer one of two that add to the lists',
      {
        ...{ 'X-Forwarded-For': '203.0.113.7, 10.0.0.5', 'X-Forwarded-Port': '8443, 3000' },
        ...{ 'X-Forwarded-Host': 'api.example.com, internal:3000', 'X-Forwarded-Proto': 'https, http' },
      },
      'https://api.example.com:8443',
    ],
    [
      'is the outer one of two that add to what the client sent',
      {
        ...{ 'X-Forwarded-For': '10.0.0.9, 203.0.113.7, 10.0.0.5', 'X-Forwarded-Port': '1, 8443, 3000' },
        ...{ 'X-Forwarded-Host': 'localhost, api.example.com, internal:3000', 'X-Forwarded-Proto': 'http, https, http' },
      },
      'https://api.example.com:8443',
    ],
    [
      'is the outer one of two, and the inner one leaves the headers as they are',
      {
        'X-Forwarded-For': '203.0.113.7, 10.0.0.5',
        'X-Forwarded-Host': 'api.example.com',
        'X-Forwarded-Proto': 'https',
      },
      'https://api.example.com',
    ],
    [
      'names a host that is not the service',
      { 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' },
      'https://assess.example.com',
    ],
    ['names what is no host', { 'X-Forwarded-Host': 'a b' }, 'http://internal:3000'],
    ['names a host with a path', { 'X-Forwarded-Host': 'api.example.com/path?' }, 'http://internal:3000'],
    ['names what is no port', { 'X-Forwarded-Host': 'api.example.com:99999' }, 'http://internal:3000'],
    [
      'names a port that there is not',
      { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Port': '99999' },
      'http://api.example.com',
    ],
    ['names another scheme', { 'X-Forwarded-Proto': 'javascript' }, 'http://internal:3000'],
    ['names no scheme', { 'X-Forwarded-Proto': 'https:' }, 'http://internal:3000'],
    ['names nothing', { 'X-Forwarded-Host': ',', 'X-Forwarded-Proto': '', 'X-Forwarded-Port': ' ' }, 'http://internal:3000'],
  ]
  it.each(origins)('builds links that the client can follow if the proxy %s', async (_name, headers, origin) => {
    const { status, body } = await getRaw(proxied, '/tags?page_size=2', { ...host, ...headers })
    expect([status, body.next]).toEqual([200, `${origin}${PREFIX}/tags?page=2&page_size=2`])
  })

  it('ignores the headers of a proxy that is not trusted', async () => {
    const headers = { 'X-Forwarded-Host': 'api.example.com', 'X-Forwarded-Proto': 'https', 'X-Forwarded-Port': '8443' }
    const { body } = await getRaw(direct, '/tags?page_size=2', { ...host, ...headers })
    expect(body.next).toBe(`http://internal:3000${PREFIX}/tags?page=2&page_size=2`)
  })
})

it.each(['', '[]', 'a b', '%', 'x:99999999', 'example.com/path?', 'user@example.com', 'exa<mple'])(
  'answers 400 to the malformed Host %j',
  async (Host) => {
    const { status, body } = await getRaw(direct, '/tags?page_size=2', { Host })
    expect([status, body]).toEqual([400, { detail: 'Malformed request.' }])
  },
)
