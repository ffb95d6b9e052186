import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import S3rver from 's3rver'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { MediaStore } from '../../src/domain/ports/media-store.ts'
import { openS3 } from '../../src/media/s3.ts'
import { openMediaStore } from '../../src/media/store.ts'
import { findFreePort } from '../support/free-port.ts'
import { startServiceForTest } from '../support/service.ts'
import { itSlow } from '../support/slow.ts'
import { takeAssessment, webmPart } from '../support/submissions.ts'
import { waitUntil } from '../support/wait-until.ts'

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'media-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const inFolder = async (): Promise<MediaStore> => openMediaStore({ mediaUrl: undefined, dataDir: await makeFolder() })

/** Sets the access key and secret for signing requests until the test ends. */
function signAs(key: string): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', key)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', key)
  onTestFinished(() => void vi.unstubAllEnvs())
}

async function inS3(): Promise<MediaStore> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: await makeFolder(),
    configureBuckets: [{ name: 'recordings', configs: [] }],
  })
  const { port } = await server.run()
  onTestFinished(() => server.close())
  signAs('S3RVER') // the only key that the test server accepts, with the same secret
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`)
  return openMediaStore({ mediaUrl: `s3://recordings/below?endpoint=${endpoint}&region=us-east-1`, dataDir: '' })
}

describe.each([
  ['a folder', inFolder],
  ['S3', inS3],
])('a media store in %s', (_name, open) => {
  const read = async (store: MediaStore, key: string, range?: { start: number; end: number }) => {
    const content = await store.get(key, range)
    return content && (await buffer(content)).toString()
  }

  it('returns the size of a file, and lists all files', async () => {
    const store = await open()
    expect(await store.size('organization/one/file')).toBeNull()
    await store.put('organization/one/file', Buffer.alloc(10))
    await store.put('organization/two/parts/0-0', Buffer.alloc(3))
    expect(await store.size('organization/one/file')).toBe(10)
    const listed: { key: string; bytes: number }[] = []
    for await (const some of store.list()) listed.push(...some)
    expect(listed.sort((one, other) => one.key.localeCompare(other.key))).toEqual([
      { key: 'organization/one/file', bytes: 10 },
      { key: 'organization/two/parts/0-0', bytes: 3 },
    ])
  })

  it('returns what was stored, whole and in ranges, and the later of two versions', async () => {
    const store = await open()
    await store.put('organization/one/parts/0-0', Buffer.from('0123456789'))
    expect(await read(store, 'organization/one/parts/0-0')).toBe('0123456789')
    expect(await read(store, 'organization/one/parts/0-0', { start: 3, end: 6 })).toBe('3456')
    expect(await read(store, 'organization/one/parts/0-0', { start: 9, end: 9 })).toBe('9')
    await store.put('organization/one/parts/0-0', Buffer.from('another'))
    expect(await read(store, 'organization/one/parts/0-0')).toBe('another')
  })

  it('stores a file from disk', async () => {
    const store = await open()
    const file = path.join(await makeFolder(), 'file')
    const content = 'x'.repeat(3_000_000)
    await writeFile(file, content)
    await store.put('organization/one/file', { path: file, bytes: content.length })
    expect(await read(store, 'organization/one/file')).toBe(content)
  })

  it('returns nothing for a deleted or unknown key, and ignores deleting it', async () => {
    const store = await open()
    expect(await store.get('organization/none')).toBeNull()
    await store.delete('organization/none')
    await store.put('organization/one', Buffer.from('content'))
    await store.delete('organization/one')
    expect(await store.get('organization/one')).toBeNull()
  })

  it('deletes what is below a prefix, and nothing else', async () => {
    const store = await open()
    for (const key of ['a/1/parts/0-0', 'a/1/parts/0-1', 'a/1/file', 'a/11/file']) await store.put(key, Buffer.from(key))
    await store.deletePrefix('a/1/parts/')
    expect(await store.get('a/1/parts/0-1')).toBeNull()
    expect(await read(store, 'a/1/file')).toBe('a/1/file')
    await store.deletePrefix('a/1/')
    expect(await store.get('a/1/file')).toBeNull()
    expect(await read(store, 'a/11/file')).toBe('a/11/file')
    await store.deletePrefix('a/none/')
  })

  it('rejects keys that lead out of it', async () => {
    const store = await open()
    for (const key of ['../out', 'a/../../out', '/etc/passwd', 'a//b', 'a/', '', 'A/b', 'a/b.txt', 'a/\0'])
      await expect(store.put(key, Buffer.from('content')), key).rejects.toThrow('key')
    for (const prefix of ['../', 'a/..//', '/', '', 'a']) await expect(store.deletePrefix(prefix), prefix).rejects.toThrow()
  })

  it('reports its free space', async () => {
    expect(await (await open()).free()).toBeGreaterThan(0)
  })
})

it("leaves nothing in the folder if the content can't be written", async () => {
  const dataDir = await makeFolder()
  const store = await openMediaStore({ mediaUrl: undefined, dataDir })
  await expect(store.put('a/file', { path: path.join(dataDir, 'missing'), bytes: 1 })).rejects.toThrow('ENOENT')
  expect(await store.get('a/file')).toBeNull()
  expect(await readdir(path.join(dataDir, 'media/a'))).toEqual([])
})

it('fails an S3 request that the server does not answer', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.closeAllConnections())
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  signAs('any')
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`)
  const store = openS3(new URL(`s3://recordings?endpoint=${endpoint}&region=us-east-1`), 100)
  await expect(store.put('organization/one', Buffer.from('x'))).rejects.toThrow('timed out')
  await expect(store.get('organization/one')).rejects.toThrow('timed out')
})

itSlow.each<[string, (port: number) => Promise<void>]>([
  ['hangs', (port) => listenSilently(port)],
  ['is dead', async () => {}],
])(
  'answers candidates with 503 while S3 %s, reports it by /readyz and the log, and recovers',
  { timeout: 60_000 },
  async (_what, fail) => {
    const directory = await makeFolder()
    const port = await findFreePort()
    const start = async () => {
      const server = new S3rver({
        address: '127.0.0.1',
        port,
        silent: true,
        directory,
        configureBuckets: [{ name: 'recordings', configs: [] }],
      })
      await server.run()
      return server
    }
    signAs('S3RVER')
    await fail(port)
    const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`)
    const service = await startServiceForTest({
      ROLE: 'api',
      MEDIA_URL: `s3://recordings/below?endpoint=${endpoint}&region=us-east-1`,
    })
    const candidate = await takeAssessment(service)
    const mediaId = await candidate.beginAttempt()
    const refused = await candidate.putPart(mediaId, 0, 0, webmPart())
    expect([refused.status, refused.body.code]).toEqual([503, 'store_unavailable'])
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
    const readiness = await service.http().get('/readyz')
    expect([readiness.status, readiness.body]).toEqual([503, { status: 'not ready', problems: ['media'] }])
    await waitUntil(
      'the log to say it',
      async () => service.logLines.some((line) => line.includes('cannot be stored')) || undefined,
    )
    await stopSilent()
    const server = await start()
    onTestFinished(() => server.close())
    await waitUntil('the service to be ready', async () => (await service.http().get('/readyz')).status === 200 || undefined)
    expect((await candidate.putPart(mediaId, 0, 0, webmPart())).status).toBe(204)
    expect(service.logLines.some((line) => line.includes('can be stored again'))).toBe(true)
  },
)

itSlow('is checked once for concurrent requests to /readyz while it hangs', async () => {
  const service = await startServiceForTest({ ROLE: 'api' })
  const { media } = service.deps
  const { put } = media
  const looks: (() => void)[] = []
  media.put = () => new Promise((_resolve, reject) => looks.push(() => reject(new Error('no answer'))))
  const ask = async () => (await service.http().get('/readyz')).body.problems
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([['media'], ['media'], ['media']])
  expect(await ask()).toEqual(['media'])
  expect(looks).toHaveLength(1)
  media.put = put
  looks[0]!()
  await waitUntil('the service to be ready', async () => (await ask()).length === 0 || undefined)
})

it('fails /readyz if its folder is not writable, and answers candidates with 503, except with an external player', async () => {
  const dataDir = await makeFolder()
  await writeFile(path.join(dataDir, 'media'), 'a file where the folder should be')
  const service = await startServiceForTest({ ROLE: 'api', DATA_DIR: dataDir })
  expect((await service.http().get('/readyz')).body.problems).toEqual(['media'])
  const candidate = await takeAssessment(service)
  const answer = await candidate.post('questions/1/attempts', { kind: 'video' })
  expect([answer.status, answer.body.code]).toEqual([503, 'store_unavailable'])
  const elsewhere = await startServiceForTest({ ROLE: 'api', DATA_DIR: dataDir, PLAYER_URL: 'https://player.example.com' })
  expect((await elsewhere.http().get('/readyz')).body.problems).toEqual([])
})

let stopSilent = async () => {}

/** Starts a server that accepts connections and never answers. */
async function listenSilently(port: number): Promise<void> {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve))
  stopSilent = async () => {
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  }
}
