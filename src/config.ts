import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'
import { isEmailAddress } from './domain/email-address.ts'
import { Words } from './http/field-types.ts'

const MIN_SECRET_LENGTH = 32

/** Every setting by its environment variable. The defaults are those of a first try on one's own machine. */
const Environment = Type.Object({
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535, description: 'TCP port to listen on; 0 takes any free one.' }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for every interface.' }),
  PUBLIC_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Address of the service as candidates and clients reach it, without a path.',
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({ pattern: '^postgres(ql)?://', description: 'PostgreSQL to use. Unset: an embedded one under DATA_DIR.' }),
  ),
  DATA_DIR: Type.String({ default: './data', description: 'Folder of the embedded database and its secret.' }),
  SECRET_KEY: Type.Optional(
    Type.Unsafe<string[]>({
      type: 'string',
      separator: ',',
      description: `Signs the candidates' links: at least ${MIN_SECRET_LENGTH} random characters; several keys, comma-separated, newest first.`,
    }),
  ),
  SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://',
      description: 'Mail server, e.g. smtp://user:password@mail.example.com:587. Unset: mails are captured.',
    }),
  ),
  MAIL_FROM: Type.String({
    default: 'Assessments <assessments@localhost.localdomain>',
    description: 'Sender of the invitations.',
  }),
  TEST_MAIL: Words(['capture', 'deliver'], {
    default: 'capture',
    description: 'What becomes of the mail of invites made with a test key: captured, or delivered like any other.',
  }),
  PLAYER_URL: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description: 'Where Start sends the candidate, with ?session=<reference>. Unset: the questions are on our own page.',
    }),
  ),
  LOG_LEVEL: Words(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe log lines to write.',
  }),
  RATE_LIMIT_STANDARD: Type.Integer({
    default: 100,
    minimum: 1,
    description: 'Requests a minute of an organization of the standard tier.',
  }),
  RATE_LIMIT_ENTERPRISE: Type.Integer({
    default: 1000,
    minimum: 1,
    description: 'Requests a minute of one of the enterprise tier.',
  }),
  ALTERNATE_PREFIX: Type.String({
    default: '/api/alternate',
    pattern: '^(/[A-Za-z0-9_-]+)+$',
    description: 'Path prefix of the snake_case interface.',
  }),
  ALTERNATE_EXPIRES_IN_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'Days until an invite made through the snake_case interface expires.',
  }),
  ALTERNATE_GRADER_REQUIRED: Type.Boolean({
    default: false,
    description: 'Whether the snake_case interface refuses assigned_grader: null.',
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    description: 'Whose X-Forwarded-* headers to believe: true, false, or addresses and networks, comma-separated.',
  }),
})

/** The settings, checked, in the program's terms. */
export type Config = {
  port: number
  host: string
  /** Without a trailing slash. */
  publicUrl: string
  /** undefined: the embedded database. */
  databaseUrl: string | undefined
  dataDir: string
  /** Newest first. undefined: one is made and kept under dataDir. */
  secretKeys: string[] | undefined
  smtpUrl: string | undefined
  mailFrom: string
  /** Whether mail of test invites goes out. */
  deliverTestMail: boolean
  playerUrl: string | undefined
  logLevel: string
  /** Requests a minute, by tier. */
  rateLimits: { standard: number; enterprise: number }
  alternate: { prefix: string; expiresInDays: number; graderRequired: boolean }
  trustProxy: boolean | string
}

/** All that is wrong with the environment, one line each. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads the settings; an empty variable counts as unset. Nothing else reads the environment.
 *
 * @throws ConfigError naming every bad variable at once.
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in Environment.properties && value !== ''))
  const problems: string[] = []
  const settings = readEnvironment(given, problems)
  if (settings) problems.push(...findContradictions(settings))
  if (!settings || problems.length > 0) throw new ConfigError(problems)
  return {
    port: settings.PORT,
    host: settings.HOST,
    publicUrl: (settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`).replace(/\/+$/, ''),
    databaseUrl: settings.DATABASE_URL,
    dataDir: settings.DATA_DIR,
    secretKeys: settings.SECRET_KEY,
    smtpUrl: settings.SMTP_URL,
    mailFrom: settings.MAIL_FROM,
    deliverTestMail: settings.TEST_MAIL === 'deliver',
    playerUrl: settings.PLAYER_URL,
    logLevel: settings.LOG_LEVEL,
    rateLimits: { standard: settings.RATE_LIMIT_STANDARD, enterprise: settings.RATE_LIMIT_ENTERPRISE },
    alternate: {
      prefix: settings.ALTERNATE_PREFIX,
      expiresInDays: settings.ALTERNATE_EXPIRES_IN_DAYS,
      graderRequired: settings.ALTERNATE_GRADER_REQUIRED,
    },
    trustProxy: settings.TRUST_PROXY === 'true' || (settings.TRUST_PROXY !== 'false' && settings.TRUST_PROXY),
  }
}

function readEnvironment(given: Record<string, unknown>, problems: string[]): Static<typeof Environment> | null {
  try {
    return envSchema<Static<typeof Environment>>({ schema: Environment, data: given, env: false })
  } catch (error) {
    const errors = (error as { errors?: { instancePath: string }[] }).errors
    if (!errors) throw error
    const names = new Set(errors.map(({ instancePath }) => instancePath.slice(1)))
    for (const name of names)
      problems.push(`${name}: ${describe(Environment.properties[name as keyof typeof Environment.properties])}`)
    return null
  }
}

/** The value itself is not repeated: it may hold a password. */
const describe = ({ description, type, enum: words, default: preset }: TSchema): string => {
  const kind = words ? `one of ${words.join(', ')}` : `a valid ${type}`
  return `needs ${kind}${preset === undefined ? '' : `, e.g. ${preset}`}. ${description}`
}

function findContradictions(settings: Static<typeof Environment>): string[] {
  const problems: string[] = []
  const { SECRET_KEY, DATABASE_URL, MAIL_FROM, ALTERNATE_PREFIX } = settings
  if (DATABASE_URL && !SECRET_KEY)
    problems.push('SECRET_KEY: is required with a DATABASE_URL. Make one with: openssl rand -hex 32')
  if (SECRET_KEY?.some((key) => key.length < MIN_SECRET_LENGTH)) {
    problems.push(`SECRET_KEY: each key needs at least ${MIN_SECRET_LENGTH} characters. Make one with: openssl rand -hex 32`)
  }
  for (const name of ['PUBLIC_URL', 'PLAYER_URL'] as const) {
    const url = settings[name]
    if (url && !URL.canParse(url)) problems.push(`${name}: is not a URL.`)
  }
  if (!isEmailAddress(/<([^<>]*)>$/.exec(MAIL_FROM)?.[1] ?? MAIL_FROM)) {
    problems.push('MAIL_FROM: needs an address, e.g. invitations@example.com or Assessments <invitations@example.com>.')
  }
  if (/^\/(api\/v1|docs|i|dev)(\/|$)/.test(ALTERNATE_PREFIX))
    problems.push('ALTERNATE_PREFIX: is taken by another part of the service.')
  return problems
}
