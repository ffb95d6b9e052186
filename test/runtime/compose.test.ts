import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { ComposeVariables } from '../../.ci/settings.ts'
import { loadConfig } from '../../src/runtime/config.ts'
import { Environment } from '../../src/runtime/environment.ts'
import { startPostgres } from '../support/postgres.ts'
import { launchService, startProcess } from '../support/processes.ts'

type Dependency = { condition: string; required?: boolean }
type ComposeService = {
  environment?: Record<string, string>
  depends_on?: Record<string, Dependency>
  profiles?: string[]
  ports?: string[]
  healthcheck?: { test: string[] }
  stop_grace_period?: string
  restart?: string
  volumes?: string[]
  image?: string
  mem_limit?: string
  pids_limit?: number
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  logging?: { driver: string; options: Record<string, string> }
}

/** What is set for the compose file itself. */
const OWN_VARIABLES = Object.keys(ComposeVariables.properties)
/** Read by the driver of the database, as by all of PostgreSQL's own programs, and by the client of S3, as by all of Amazon's. */
const DRIVER_VARIABLES = ['PGPASSWORD', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
const REQUIRED = ['SECRET_KEY', 'POSTGRES_PASSWORD']

let text: string
let services: Record<string, ComposeService>
let volumes: Record<string, unknown>
beforeAll(async () => {
  text = await readFile('docker-compose.yml', 'utf8')
  ;({ services, volumes } = parse(text, { merge: true }))
})

/** A value as compose passes it on, where nothing is set but these. @throws Error for one that is required and missing. */
function interpolate(value: unknown, set: Record<string, string>): string {
  const text = String(value)
  const inner = text.replaceAll(/\$\{(\w+)(:[-?])([^${}]*)\}/g, (_, name: string, operator: string, rest: string) => {
    if (operator === ':?' && !set[name]) throw new Error(`${name}: ${rest}`)
    return set[name] || rest
  })
  return inner === text ? text : interpolate(inner, set)
}
const environmentOf = (set: Record<string, string>) =>
  Object.fromEntries(Object.entries(services.app!.environment!).map(([name, value]) => [name, interpolate(value, set)]))

it('starts the service when the database is healthy and migrated, and keeps what is not needed at first under a profile', () => {
  expect(services.app!.depends_on).toMatchObject({
    db: { condition: 'service_healthy' },
    migrate: { condition: 'service_completed_successfully' },
  })
  expect(services.migrate).toMatchObject({ restart: 'no', depends_on: { db: { condition: 'service_healthy' } } })
  expect(services.db!.healthcheck!.test[0]).toBe('CMD')
  expect(services.valkey!.profiles).toEqual(['shared-limits'])
  const starters = Object.entries(services).filter(([, service]) => !service.profiles)
  expect(starters.map(([name]) => name).sort()).toEqual(['app', 'db', 'mailpit', 'migrate'])
  // A service that somebody waits for, or an optional one, has to be there.
  for (const { depends_on = {} } of Object.values(services))
    for (const name of Object.keys(depends_on)) expect(Object.keys(services)).toContain(name)
})

it('gives the service longer to stop than it takes, and keeps the data in a volume with a name', () => {
  expect(Number.parseInt(services.app!.stop_grace_period!, 10)).toBeGreaterThan(10)
  expect(services.app!.restart).toBe('unless-stopped')
  for (const [name] of services.db!.volumes!.map((volume) => volume.split(':'))) expect(volumes).toHaveProperty(name!)
})

it('finds its volumes from every folder, and lets the service write to nothing else', () => {
  expect(parse(text)).toHaveProperty('name', 'assessments')
  for (const name of ['app', 'migrate']) expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  for (const { volumes: mounted = [] } of Object.values(services))
    for (const volume of mounted) expect(volumes).toHaveProperty(volume.split(':')[0]!)
  for (const service of Object.values(services))
    expect(service).toMatchObject({ pids_limit: expect.any(Number), security_opt: ['no-new-privileges:true'] })
})

it('opens ports on loopback only', () => {
  const ports = Object.values(services).flatMap((service) => service.ports ?? [])
  expect(ports.length).toBeGreaterThan(0)
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
})

it('hands the service nothing but settings it reads, and each that differs between installations', () => {
  const settings = Object.keys(Environment.properties)
  const given = Object.keys(services.app!.environment!).filter((name) => !DRIVER_VARIABLES.includes(name))
  expect(given.filter((name) => !settings.includes(name))).toEqual([])
  const used = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
  expect(used.filter((name) => ![...settings, ...OWN_VARIABLES, ...DRIVER_VARIABLES].includes(name))).toEqual([])
  // These are the image's, the compose file's, or of no use without the embedded database.
  const fixed = ['PORT', 'HOST', 'DATA_DIR']
  expect(settings.filter((name) => !given.includes(name) && !fixed.includes(name))).toEqual([])
})

it('is a usable configuration with nothing but the secrets, and not without', () => {
  const secrets = { SECRET_KEY: 's'.repeat(32), POSTGRES_PASSWORD: 'p' }
  const config = loadConfig(environmentOf(secrets))
  expect(config).toMatchObject({
    init: { organization: 'My organization', apiKey: 'First key' },
    publicUrl: 'http://localhost:3000',
  })
  expect(loadConfig(environmentOf({ ...secrets, PORT: '8080' })).publicUrl).toBe('http://localhost:8080')
  for (const name of REQUIRED) {
    expect(() => environmentOf({ ...secrets, [name]: '' })).toThrow(`${name}: set it in .env`)
    expect(text).toMatch(new RegExp(`^ *${name}: .*# REQUIRED`, 'm'))
  }
  const serve = (set: object) => loadConfig(environmentOf({ ...secrets, ...set }), { serves: true }).mailFrom
  expect(serve({})).toContain('@localhost')
  const SMTP_URL = 'smtp://mail.example.com'
  expect(() => serve({ SMTP_URL })).toThrow('MAIL_FROM: is required')
  expect(serve({ SMTP_URL, MAIL_FROM: 'a@example.com' })).toBe('a@example.com')
  for (const name of ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL']) expect(text).toMatch(new RegExp(`^ *${name}: .*# CHANGE`, 'm'))
})

it('takes the latest of no image, and lets no container fill the disk with its log or take all memory', () => {
  for (const [name, { image, mem_limit, logging }] of Object.entries(services)) {
    expect({ name, image, mem_limit, logging }).toEqual({
      name,
      image: expect.stringMatching(/^(assessment-invitation-service|.+:v?\d[\d.]*)$/),
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      logging: {
        driver: 'json-file',
        options: expect.objectContaining({
          'max-size': expect.stringMatching(/^\d+m$/),
          'max-file': expect.stringMatching(/^\d+$/),
        }),
      },
    })
  }
})

it('keeps what the service logs in a week at 50 requests a second', () => {
  const request = { method: 'GET', route: '/api/alternate/assessment_invites/:id', status: 200, ms: 12.3, msg: 'request' }
  const ids = { reqId: randomUUID(), organizationId: randomUUID(), apiKeyId: randomUUID() }
  const line = JSON.stringify({ level: 'info', time: new Date(), version: '1.0.0', ...request, ...ids })
  const written = JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: new Date().toISOString() })
  const { 'max-size': size, 'max-file': files, compress } = services.app!.logging!.options
  expect(Number.parseInt(size!, 10) * 1e6 * Number(files)).toBeGreaterThan(7 * 86_400 * 50 * written.length)
  expect(compress).toBe('true')
})

it('waits for the database that is there to stay, not for the one that sets it up and listens on a unix socket only', () => {
  expect(services.db!.healthcheck!.test).toContain('--host=127.0.0.1')
})

it('logs in to the database with a password of any characters', async () => {
  const password = `p/a@s#s%w?o:r&d"' ${randomUUID()}`
  const postgres = await startPostgres()
  onTestFinished(postgres.close)
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`CREATE ROLE assessments LOGIN PASSWORD ${client.escapeLiteral(password)}`)
  await client.query('ALTER DATABASE assessments OWNER TO assessments')
  const { rows } = await client.query(`SELECT current_setting('hba_file') AS hba`)
  await writeFile(rows[0].hba, 'local all postgres trust\nlocal all all scram-sha-256\n')
  await client.query('SELECT pg_reload_conf()')
  await client.end()

  const { DATABASE_URL, PGPASSWORD } = environmentOf({ SECRET_KEY: 's'.repeat(32), POSTGRES_PASSWORD: password })
  const address = new URL(DATABASE_URL!)
  address.searchParams.set('host', path.dirname(postgres.socket))
  const service = await startProcess({ DATABASE_URL: address.href, PGPASSWORD: PGPASSWORD! })
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  service.kill('SIGTERM')
  await service.exited

  const wrong = launchService({ DATABASE_URL: address.href, PGPASSWORD: 'wrong' })
  expect((await wrong.exited).code).toBe(1)
  expect(wrong.output()).toContain('password authentication failed')
})
