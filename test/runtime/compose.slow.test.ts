import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { ClientVariables, ComposeVariables } from '../../.ci/settings.ts'
import { type Config, loadConfig } from '../../src/runtime/config.ts'
import { Environment, SECRETS } from '../../src/runtime/environment.ts'
import { version } from '../../src/runtime/version.ts'
import { type Compose, readCompose } from '../support/compose.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { startPostgres } from '../support/postgres.ts'
import { launchService, startProcess } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Variables of the compose file that aren't settings of the service. */
const OWN_VARIABLES = Object.keys(ComposeVariables.properties)
const CLIENT_VARIABLES = Object.keys(ClientVariables.properties)
/** Required settings. */
const ENOUGH = { SECRET_KEY: 's'.repeat(32), POSTGRES_PASSWORD: 'p' }

let text: string
let services: Compose['services']
let volumes: Compose['volumes']
beforeAll(async () => {
  text = await readFile('docker-compose.yml', 'utf8')
  ;({ services, volumes } = await readCompose(ENOUGH))
})

const environmentOf = async (set: Record<string, string>) => (await readCompose({ ...ENOUGH, ...set })).services.app!.environment!
/** Configuration of the service in its container. */
const configOf = async (set: Record<string, string>): Promise<Config> => loadConfig(await environmentOf(set), { serves: true })

it('starts the service once the database is healthy and migrated, and puts optional services under a profile', () => {
  expect(services.app!.depends_on).toMatchObject({
    db: { condition: 'service_healthy' },
    migrate: { condition: 'service_completed_successfully' },
  })
  expect(services.migrate).toMatchObject({ restart: 'no', depends_on: { db: { condition: 'service_healthy' } } })
  expect(services.db!.healthcheck!.test[0]).toBe('CMD')
  expect(services.valkey!.profiles).toEqual(['shared-limits'])
  expect(services.caddy!.profiles).toEqual(['https'])
  const starters = Object.entries(services).filter(([, service]) => !service.profiles)
  expect(starters.map(([name]) => name).sort()).toEqual(['app', 'db', 'migrate'])
  // Each service in depends_on has to exist, including optional ones.
  for (const { depends_on = {} } of Object.values(services))
    for (const name of Object.keys(depends_on)) expect(Object.keys(services)).toContain(name)
})

it('allows more time for stopping than needed, and keeps data in a named volume', () => {
  expect(Number.parseInt(services.app!.stop_grace_period!, 10)).toBeGreaterThan(10)
  expect(services.app!.restart).toBe('unless-stopped')
  for (const [name] of services.db!.volumes!.map((volume) => volume.split(':'))) expect(volumes).toHaveProperty(name!)
})

it('uses the same volumes from every folder, and lets the service write to nothing else', () => {
  expect(text).toMatch(/^name: assessments$/m)
  for (const name of ['app', 'migrate', 'caddy']) expect(services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
  for (const { volumes: mounted = [] } of Object.values(services))
    for (const [source] of mounted.filter((volume) => !volume.endsWith(':ro')).map((volume) => volume.split(':')))
      expect(volumes).toHaveProperty(source!)
  for (const service of Object.values(services))
    expect(service).toMatchObject({ pids_limit: expect.any(Number), security_opt: ['no-new-privileges:true'] })
})

it('opens ports on loopback only, except for HTTPS', () => {
  const ports = Object.entries(services).flatMap(([name, service]) => (name === 'caddy' ? [] : (service.ports ?? [])))
  expect(ports.length).toBeGreaterThan(0)
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  expect(services.caddy!.ports).toEqual(['80:80', '443:443', '443:443/udp'])
})

it('keeps the database and the counters in an internal network', async () => {
  const { networks } = await readCompose(ENOUGH)
  expect(networks.inside).toEqual({ internal: true })
  const places = Object.entries(services).map(([name, service]) => [name, service.networks?.join()])
  expect(Object.fromEntries(places)).toEqual({
    app: 'inside,default',
    migrate: 'inside,default',
    db: 'inside',
    valkey: 'inside',
    caddy: 'default',
  })
})

it('passes only settings that the service reads', () => {
  const settings = Object.keys(Environment.properties)
  const files = SECRETS.map((name) => `${name}_FILE`)
  const given = Object.keys(services.app!.environment!).filter((name) => ![...CLIENT_VARIABLES, ...files].includes(name))
  expect(given.filter((name) => !settings.includes(name))).toEqual([])
  const used = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
  expect(used.filter((name) => ![...settings, ...files, ...OWN_VARIABLES, ...CLIENT_VARIABLES].includes(name))).toEqual([])
})

it('passes each setting of .env.example to a container, unless the example says otherwise', async () => {
  const example = await readFile('.env.example', 'utf8')
  const lines = [...example.matchAll(/^# (.*)\n# ([A-Z_]+)=/gm)].map(([, description, name]) => ({ description, name: name! }))
  expect(lines.length).toBeGreaterThan(40)
  const without = JSON.stringify(await readCompose(ENOUGH))
  const isPassed = async (name: string) => JSON.stringify(await readCompose({ ...ENOUGH, [name]: './4242' })) !== without
  const unpassed: string[] = []
  for (const { name, description } of lines)
    if (!(await isPassed(name)) && !description!.includes('docker-compose.yml')) unpassed.push(name)
  // Compose itself reads COMPOSE_PROFILES.
  expect(unpassed).toEqual(['COMPOSE_PROFILES'])

  const elsewhere = {
    DATABASE_URL: 'postgresql://user:password@db.example.com/assessments',
    HOST: '10.0.0.5',
    DATA_DIR: '/srv/data',
  }
  const { app } = (await readCompose({ ...ENOUGH, ...elsewhere })).services
  expect(app!.environment!.DATABASE_URL).toBe(elsewhere.DATABASE_URL)
  expect(app!.ports).toEqual(['10.0.0.5:3000:3000'])
  expect(app!.volumes).toContain('/srv/data/media:/app/data/media')
})

it('passes on secrets given as files, which override the default', async () => {
  for (const name of SECRETS) {
    const secret = name.toLowerCase()
    const unset = await readCompose(ENOUGH)
    expect(unset.services.app!.environment![`${name}_FILE`]).toBe('')
    expect(unset.secrets[secret]).toEqual({ file: '/dev/null' })
    const compose = await readCompose({ ...ENOUGH, [`${name}_FILE`]: '/etc/assessments/secret' })
    expect(compose.secrets[secret]).toEqual({ file: '/etc/assessments/secret' })
    expect(compose.services.app!.environment![`${name}_FILE`]).toBe(`/run/secrets/${secret}`)
    for (const service of ['app', 'migrate']) expect(compose.services[service]!.secrets).toContain(secret)
  }
  const DATABASE_URL = 'postgresql://from.a.file/assessments'
  const file = path.join(await makeDataDir(), 'database-url')
  await writeFile(file, `${DATABASE_URL}\n`)
  const environment = await environmentOf({ DATABASE_URL_FILE: file })
  expect(loadConfig({ ...environment, DATABASE_URL_FILE: file }).databaseUrl).toBe(DATABASE_URL)
})

it('is a usable configuration with only the secrets set, and not without them', async () => {
  expect(await configOf({})).toMatchObject({
    publicUrl: 'http://localhost:3000',
    isTrial: true,
    mailbox: { allowsPrivatePeers: true },
  })
  expect((await configOf({ PORT: '8080' })).publicUrl).toBe('http://localhost:8080')
  await expect(configOf({ SECRET_KEY: '' })).rejects.toThrow('SECRET_KEY: is required')
  await expect(configOf({ POSTGRES_PASSWORD: '' })).rejects.toThrow('POSTGRES_PASSWORD: set it in .env')
  for (const name of ['SECRET_KEY', 'POSTGRES_PASSWORD']) expect(text).toMatch(new RegExp(`^ *${name}: .*# REQUIRED`, 'm'))
  const SMTP_URL = 'smtp://mail.example.com'
  await expect(configOf({ SMTP_URL })).rejects.toThrow('MAIL_FROM: is required')
  const real = await configOf({ SMTP_URL, MAIL_FROM: 'a@example.com' })
  expect(real).toMatchObject({ mailFrom: 'a@example.com', isTrial: false, mailbox: undefined })
  for (const name of ['SMTP_URL', 'MAIL_FROM', 'PUBLIC_URL']) expect(text).toMatch(new RegExp(`^ *${name}: .*# CHANGE`, 'm'))
})

it("derives URL and proxy from the site's name, and then has no mailbox page", async () => {
  const SITE = 'assessments.example.com'
  await expect(configOf({ SITE })).rejects.toThrow('SMTP_URL: is required')
  const config = await configOf({ SITE, SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'a@example.com' })
  expect(config).toMatchObject({ publicUrl: `https://${SITE}`, trustProxy: 'uniquelocal', mailbox: undefined })
  expect((await configOf({ SITE, MAIL: 'capture' })).mailbox).toBeUndefined()
  expect((await readCompose({ ...ENOUGH, SITE })).services.caddy!.environment).toEqual({ SITE })
})

it('leads to a first invite without further steps, as npm start does', async () => {
  const { DATABASE_URL: _, ...environment } = await environmentOf({})
  const DATABASE_URL = await createEmptyDatabase()
  const service = await startProcess({ ...environment, DATABASE_URL, METRICS_PORT: '', DATA_DIR: await makeDataDir() })
  const client = new Client({ connectionString: DATABASE_URL })
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query('SELECT count(*)::int AS keys FROM api_keys')
  expect(rows).toEqual([{ keys: 2 }]) // /readyz answers "starting" until both keys exist
  const output = await waitUntil(
    'the link to the portal',
    () => (service.output().includes('/portal/join/') && service.output()) || undefined,
  )
  const [key] = /ak_live_\w+/.exec(output)!
  const [assessmentId] = /(?<="assessmentId":")[^"]+/.exec(output)!
  const invited = await fetch(`${service.url}/api/v1/invites`, {
    method: 'POST',
    headers: { 'x-api-key': key!, 'content-type': 'application/json' },
    body: JSON.stringify({ assessmentId, recipientEmail: 'alex@example.com' }),
  })
  expect(invited.status).toBe(201)
  const [, token] = /\/dev\/mailbox\?token=(\S+)/.exec(output)!
  await waitUntil('the mail', async () => {
    const page = await fetch(`${service.url}/dev/mailbox`, { headers: { cookie: `mailbox=${token}` } })
    return (await page.text()).includes('alex@example.com') || undefined
  })
})

it('starts without trial data if mails are sent, and shows the first steps', async () => {
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com' }
  const { DATABASE_URL: _, ...environment } = await environmentOf(mail)
  const service = await startProcess({
    ...environment,
    DATABASE_URL: await createEmptyDatabase(),
    METRICS_PORT: '',
    DATA_DIR: await makeDataDir(),
  })
  await waitUntil('the hint', () => service.output().includes('There is no organization yet') || undefined)
  expect(service.output()).not.toMatch(/ak_live_|portal\/join/)
  expect((await fetch(`${service.url}/dev/mailbox/`)).status).toBe(404)
})

it("pins every image's version, and limits every container's log and memory", () => {
  for (const [name, { image, mem_limit, logging }] of Object.entries(services)) {
    expect({ name, image, mem_limit, logging }).toEqual({
      name,
      image: expect.stringMatching(/^.+:v?\d[\d.]*$/),
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

it('has one image per release, so that a rollback is possible', () => {
  for (const name of ['app', 'migrate'])
    expect(services[name]).toMatchObject({ image: `assessment-invitation-service:${version}`, pull_policy: 'build' })
})

it('keeps a week of service logs at 50 requests a second', () => {
  const request = { method: 'GET', route: '/api/alternate/assessment_invites/:id', status: 200, ms: 12.3, msg: 'request' }
  const ids = { reqId: randomUUID(), organizationId: randomUUID(), apiKeyId: randomUUID() }
  const line = JSON.stringify({ level: 'info', time: new Date(), version: '1.0.0', ...request, ...ids })
  const written = JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: new Date().toISOString() })
  const { 'max-size': size, 'max-file': files, compress } = services.app!.logging!.options
  expect(Number.parseInt(size!, 10) * 1e6 * Number(files)).toBeGreaterThan(7 * 86_400 * 50 * written.length)
  expect(compress).toBe('true')
})

it("checks the database's health over TCP, which the server for setup doesn't offer", () => {
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

  const { DATABASE_URL, PGPASSWORD } = await environmentOf({ POSTGRES_PASSWORD: password })
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
