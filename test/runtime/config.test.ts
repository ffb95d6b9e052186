import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ConfigError, loadConfig } from '../../src/runtime/config.ts'
import { Environment } from '../../src/runtime/environment.ts'

const secret = 'x'.repeat(32)
const database = 'postgresql://service:hunter2@db.example.org/assessments'

/** Problems that loading the configuration reports. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env)
  } catch (error) {
    return (error as ConfigError).problems
  }
  return []
}
const namesOf = (problems: string[]) => problems.map((problem) => problem.split(':')[0]!).sort()

describe('a configuration without any variable', () => {
  it("has the defaults for a trial on one's own machine", () => {
    expect(loadConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:3000',
      databaseUrl: undefined,
      dataDir: './data',
      secretKeys: undefined,
      smtp: { url: undefined, isOpportunistic: false, connections: 10, perMinute: 0 },
      mailFrom: 'Assessments <assessments@localhost.localdomain>',
      logLevel: 'info',
      rateLimits: { standard: 100, enterprise: 1000, unknownKeys: 1000 },
      candidatePageLimits: { perLink: 60, perNetwork: 600 },
      alternate: { prefix: '/api/alternate', expiresInDays: 30, graderRequired: false },
      trustProxy: false,
    })
  })

  it('equals one with empty variables, and ignores unrelated ones', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: '', SECRET_KEY: '', SMTP_URL: '', LOG_LEVEL: '', HOME: '/', PATH: 'x' })).toEqual(
      loadConfig({}),
    )
  })
})

describe('a variable', () => {
  it.each([
    ['PORT', '8080', { port: 8080, publicUrl: 'http://localhost:8080' }],
    ['PORT', '0', { port: 0 }],
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['PUBLIC_URL', 'https://assess.example.org/', { publicUrl: 'https://assess.example.org' }],
    ['DATA_DIR', '/srv/data', { dataDir: '/srv/data' }],
    ['SECRET_KEY', secret, { secretKeys: [secret] }],
    ['SECRET_KEY', `${secret}1,${secret}2`, { secretKeys: [`${secret}1`, `${secret}2`] }],
    ['SECRET_KEY', ` ${secret}1 , ${secret}2 `, { secretKeys: [`${secret}1`, `${secret}2`] }],
    [
      'SMTP_URL',
      'smtps://user:hunter2@mail.example.org',
      { smtp: expect.objectContaining({ url: 'smtps://user:hunter2@mail.example.org' }) },
    ],
    ['MAIL_FROM', 'talent@example.org', { mailFrom: 'talent@example.org' }],
    ['MAIL_FROM', 'Talent <talent@example.org>', { mailFrom: 'Talent <talent@example.org>' }],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['RATE_LIMIT_STANDARD', '1', { rateLimits: { standard: 1, enterprise: 1000, unknownKeys: 1000 } }],
    ['RATE_LIMIT_ENTERPRISE', '5000', { rateLimits: { standard: 100, enterprise: 5000, unknownKeys: 1000 } }],
    ['RATE_LIMIT_CANDIDATE_LINK', '7', { candidatePageLimits: { perLink: 7, perNetwork: 600 } }],
    ['RATE_LIMIT_CANDIDATE_NETWORK', '7', { candidatePageLimits: { perLink: 60, perNetwork: 7 } }],
    ['RATE_LIMIT_UNKNOWN_KEYS', '7', { rateLimits: { standard: 100, enterprise: 1000, unknownKeys: 7 } }],
    ['ALTERNATE_PREFIX', '/public/v2', { alternate: { prefix: '/public/v2' } }],
    ['ALTERNATE_EXPIRES_IN_DAYS', '7', { alternate: { expiresInDays: 7 } }],
    ['ALTERNATE_GRADER_REQUIRED', 'true', { alternate: { graderRequired: true } }],
    ['TRUST_PROXY', 'true', { trustProxy: true }],
    ['TRUST_PROXY', '10.0.0.0/8,127.0.0.1', { trustProxy: '10.0.0.0/8,127.0.0.1' }],
    ['TRUST_PROXY', '10.0.0.1/32, fd00::/8', { trustProxy: '10.0.0.1/32, fd00::/8' }],
    ['REDIS_URL', 'redis://:hunter2@valkey:6379/1', { redisUrl: 'redis://:hunter2@valkey:6379/1' }],
    ['PLAYER_URL', 'https://player.example.org/start', { playerUrl: 'https://player.example.org/start' }],
  ])('is accepted as %s=%s', (name, value, expected) => {
    expect(loadConfig({ [name]: value })).toMatchObject(expected)
  })

  it.each([
    ['PORT', 'http'],
    ['GOOGLE_CLIENT_ID', 'without-its-secret'],
    ['MICROSOFT_CLIENT_ID', 'without-its-secret'],
    ['MICROSOFT_ISSUER', 'login.microsoftonline.com'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PUBLIC_URL', 'assess.example.org'],
    ['PUBLIC_URL', 'ftp://assess.example.org'],
    ['PUBLIC_URL', 'http://'],
    ['PUBLIC_URL', 'https://assess.example.org/?from=mail'],
    ['PUBLIC_URL', 'https://assess.example.org#top'],
    ['PUBLIC_URL', 'https://user@assess.example.org'],
    ['DATABASE_URL', 'mysql://db.example.org/assessments'],
    ['SECRET_KEY', 'x'.repeat(31)],
    ['SECRET_KEY', `${secret},short`],
    ['SECRET_KEY', `${secret},`],
    ['SECRET_KEY', 'change-me-change-me-change-me-change-me'],
    ['SECRET_KEY', `${secret},CHANGE-ME-change-me-change-me-change-me`],
    ['SMTP_URL', 'mail.example.org:25'],
    ['SMTP_URL', 'smtp://'],
    ['SMTP_URL', 'smtp://:25'],
    ['REDIS_URL', 'redis://:hunter2@valkey:99999'],
    ['REDIS_URL', 'redis://:hunter2%@valkey:6379'],
    ['MAIL_FROM', 'Talent Team'],
    ['MAIL_FROM', 'Talent <talent>'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMIT_STANDARD', '0'],
    ['RATE_LIMIT_ENTERPRISE', 'many'],
    ['ALTERNATE_PREFIX', 'api'],
    ['ALTERNATE_PREFIX', '/api/'],
    ['ALTERNATE_PREFIX', '/api/v1'],
    ['ALTERNATE_PREFIX', '/docs/alternate'],
    ['ALTERNATE_EXPIRES_IN_DAYS', '3651'],
    ['ALTERNATE_GRADER_REQUIRED', 'maybe'],
    ['INIT_ADMIN_EMAIL', 'admin@example.com'],
    ['ALTERNATE_PREFIX', '/portal'],
    ['TRUST_PROXY', 'everybody'],
    ['TRUST_PROXY', '10.0.0.0/99'],
    ['TRUST_PROXY', '10.0.0.0/0'],
    ['TRUST_PROXY', 'fd00::/129'],
    ['TRUST_PROXY', '127.0.0.1,'],
  ])('is rejected by name as %s=%s', (name, value) => {
    expect(namesOf(problemsOf({ [name]: value }))).toEqual([name])
  })
})

it('offers Google and Microsoft if both client ID and secret are set', () => {
  expect(loadConfig({}).operatorProviders).toEqual([])
  const env = { GOOGLE_CLIENT_ID: 'g', GOOGLE_CLIENT_SECRET: 'of g', MICROSOFT_CLIENT_ID: 'm', MICROSOFT_CLIENT_SECRET: 'of m' }
  expect(loadConfig(env).operatorProviders).toMatchObject([
    { name: 'Google', issuer: 'https://accounts.google.com', clientId: 'g', clientSecret: 'of g' },
    { name: 'Microsoft', issuer: 'https://login.microsoftonline.com/common/v2.0', clientId: 'm', clientSecret: 'of m' },
  ])
  expect(namesOf(problemsOf({ GOOGLE_CLIENT_SECRET: 'alone' }))).toEqual(['GOOGLE_CLIENT_ID'])
})

it.each([
  ['an invalid port', 'postgresql://service:hunter2@db.example.org:99999/assessments'],
  ['a password with a # in it', 'postgresql://service:hunter2#@db.example.org/assessments'],
  ['a password with a % in it', 'postgresql://service:hunter2%ff@db.example.org/assessments'],
  ['a missing certificate', 'postgresql://service:hunter2@db.example.org/assessments?sslrootcert=/none.pem'],
])('rejects a DATABASE_URL with %s, without repeating its password', (_, DATABASE_URL) => {
  const problems = problemsOf({ DATABASE_URL, SECRET_KEY: secret })
  expect(namesOf(problems)).toEqual(['DATABASE_URL'])
  expect(problems[0]).not.toContain('hunter2')
})

describe('SECRET_KEY', () => {
  it('is required with a DATABASE_URL', () => {
    expect(problemsOf({ DATABASE_URL: database })).toEqual([
      expect.stringMatching(/^SECRET_KEY: is required with a DATABASE_URL/),
    ])
    expect(loadConfig({ DATABASE_URL: database, SECRET_KEY: secret })).toMatchObject({
      databaseUrl: database,
      secretKeys: [secret],
    })
  })

  it('can be given as a file, like every other secret', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'secrets-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = path.join(folder, 'secret-key')
    await writeFile(file, `${secret}\n`)
    expect(loadConfig({ DATABASE_URL: database, SECRET_KEY_FILE: file }).secretKeys).toEqual([secret])
    expect(namesOf(problemsOf({ SECRET_KEY_FILE: path.join(folder, 'none'), PORT: 'x' }))).toEqual(['PORT', 'SECRET_KEY_FILE'])
  })
})

describe('a configuration error', () => {
  const bad = {
    PORT: 'nonsense-1',
    PUBLIC_URL: 'nonsense-2',
    DATABASE_URL: 'mysql://service:hunter2@db',
    SECRET_KEY: 'too-short-a-secret',
    SMTP_URL: 'mail://user:hunter2@mail',
    MAIL_FROM: 'nonsense-3',
    LOG_LEVEL: 'nonsense-4',
    RATE_LIMIT_STANDARD: '-1',
    RATE_LIMIT_ENTERPRISE: '1.5',
    ALTERNATE_PREFIX: '/api/v1',
    TRUST_PROXY: 'nonsense-5',
  }

  it('is reported together with all others, a line for each variable', () => {
    expect(namesOf(problemsOf(bad))).toEqual(Object.keys(bad).sort())
    expect(() => loadConfig(bad)).toThrow(/^The configuration is not usable:\n {2}\S/)
  })

  it('is reported without repeating the value, which may hold a password', () => {
    const report = problemsOf(bad).join('\n')
    for (const value of Object.values(bad).filter((value) => value.length > 8)) expect(report).not.toContain(value)
    expect(report).not.toContain('hunter2')
  })

  it('is reported with an example of a valid value', () => {
    const [port, level] = [problemsOf({ PORT: 'x' })[0], problemsOf({ LOG_LEVEL: 'x' })[0]]
    expect(port).toMatch(/^PORT: needs an integer from 0 to 65535, e\.g\. 3000\. TCP port to listen on/)
    expect(level).toMatch(/^LOG_LEVEL: needs one of fatal, error, warn, info, debug, trace, silent, e\.g\. info\./)

    const problems = problemsOf(Object.fromEntries(Object.keys(Environment.properties).map((name) => [name, '?'])))
    expect(problems.length).toBeGreaterThan(15)
    expect(problems.filter((problem) => !/e\.g\. \S|Generate one with/.test(problem))).toEqual([])
  })
})
