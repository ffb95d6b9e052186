import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { beforeAll, expect, it } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { Environment, SECRETS } from '../../src/environment.ts'

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
}

// The parser that the OpenAPI documents' plugin comes with.
const { parse } = createRequire(import.meta.resolve('@fastify/swagger'))('yaml')

/** What is set for the compose file itself, and explained in it. */
const OWN_VARIABLES = ['POSTGRES_PASSWORD', 'MAILBOX_PORT']

let text: string
let services: Record<string, ComposeService>
let volumes: Record<string, unknown>
beforeAll(async () => {
  text = await readFile('docker-compose.yml', 'utf8')
  ;({ services, volumes } = parse(text, { merge: true }))
})

/** A value as compose passes it on, where nothing is set. */
const withDefaults = (value: string) => String(value).replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')

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

it('opens ports on loopback only', () => {
  const ports = Object.values(services).flatMap((service) => service.ports ?? [])
  expect(ports.length).toBeGreaterThan(0)
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
})

it('hands the service nothing but settings it reads, and each that differs between installations', () => {
  const settings = Object.keys(Environment.properties)
  const given = Object.keys(services.app!.environment!)
  expect(given.filter((name) => !settings.includes(name))).toEqual([])
  const used = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!)
  expect(used.filter((name) => !settings.includes(name) && !OWN_VARIABLES.includes(name))).toEqual([])
  // These are the image's, the compose file's, or of no use without the embedded database.
  const fixed = ['PORT', 'HOST', 'DATA_DIR']
  expect(settings.filter((name) => !given.includes(name) && !fixed.includes(name))).toEqual([])
})

it('is a usable configuration where nothing is set, and marks what is to be changed', () => {
  const environment = Object.fromEntries(
    Object.entries(services.app!.environment!).map(([name, value]) => [name, withDefaults(value)]),
  )
  expect(loadConfig(environment).init).toEqual({ organization: 'My organization', apiKey: 'First key' })
  for (const name of [
    ...SECRETS.filter((name) => !['DATABASE_URL', 'REDIS_URL'].includes(name)),
    'POSTGRES_PASSWORD',
    'PUBLIC_URL',
  ])
    expect(text).toMatch(new RegExp(`^ *${name}: .*# CHANGE`, 'm'))
})
