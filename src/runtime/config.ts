import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Static, TSchema } from '@sinclair/typebox'
import { envSchema } from 'env-schema'
import type { Allowance, AtsSettings } from '../domain/context.ts'
import type { MailCeilings } from '../domain/invites/mail-ceilings.ts'
import { OPERATOR_PROVIDERS, type OperatorProvider } from '../domain/ports/identity-provider.ts'
import type { KeptDays } from '../domain/submissions/media/delete-expired-media.ts'
import { readAllowance } from '../domain/webhooks/targets.ts'
import type { MailboxSettings } from '../interfaces/mailbox/access.ts'
import type { ImapAddress } from '../mail/events/bounce-mailbox.ts'
import {
  findContradictions,
  findOmissions,
  isOfThisMachine,
  readImapAddress,
  readMailEvents,
  splitAddresses,
  splitList,
} from './contradictions.ts'
import { Environment, SECRETS } from './environment.ts'
import { findLookalikes } from './lookalikes.ts'

/** Of mails that are only captured. */
const NOBODY = 'Assessments <assessments@localhost.localdomain>'

/** The settings, checked, in the program's terms. */
export type Config = {
  port: number
  host: string
  /** Without a trailing slash. */
  publicUrl: string
  /** Further hosts by which the service is reached, in lower case. */
  publicHosts: ReadonlySet<string>
  role: 'all' | 'api' | 'worker'
  /** undefined: the embedded database. */
  databaseUrl: string | undefined
  /** Where sessions of one's own are to be had; the same, unless a pooler is between. */
  databaseDirectUrl: string | undefined
  /** Whether DATABASE_URL leads to a pooler in transaction mode, and whether statements may have names. */
  databasePooler: { isShared: boolean; isNamed: boolean }
  databaseReadUrls: string[]
  databasePoolSize: number
  dataDir: string
  /** Newest first. undefined: one is made and kept under dataDir. */
  secretKeys: string[] | undefined
  /** `url` is undefined where mails are captured; how many may be handed to it at a time, and a minute (0: any number). */
  smtp: { url: string | undefined; isOpportunistic: boolean; connections: number; perMinute: number }
  mailFrom: string
  /** Where what became of mails is told: to addresses of a domain, which are perhaps a mailbox's, by a topic of SNS, by who knows Postmark's secret. */
  bounces: {
    domain: string | undefined
    mailbox: ImapAddress | undefined
    sesTopic: string | undefined
    postmarkSecret: string | undefined
  }
  /** Invitations within 24 hours; 0: any number. */
  mailCeilings: MailCeilings
  /** Whether mail of test invites goes out. */
  deliverTestMail: boolean
  playerUrl: string | undefined
  webcam: 'stills' | 'video'
  /** Requests a minute, by tier. */
  rateLimits: { standard: number; enterprise: number; unknownKeys: number }
  /** Page loads a minute. */
  candidatePageLimits: { perLink: number; perNetwork: number }
  redisUrl: string | undefined
  /** Milliseconds. */
  maxRequestWait: number
  /** Milliseconds from the signal to stop until nothing is accepted any more. */
  stopNotice: number
  alternate: { prefix: string; expiresInDays: number; graderRequired: boolean }
  trustProxy: boolean | string
  /** Whether somebody tries the service out: without a database of its own, or as docker-compose.yml starts it at first. */
  isTrial: boolean
  /** The page of captured mails; undefined: there is none. */
  mailbox: MailboxSettings | undefined
  /** undefined: no metrics. */
  metrics: { port: number; host: string } | undefined
  /** `s3://bucket/prefix?endpoint=…&region=…`; undefined: a folder under dataDir. */
  mediaUrl: string | undefined
  /** The file of the receipts of erasures. */
  erasureLog: string
  /** For how long backups are kept. */
  backupsKeptDays: number
  /** Of one organization, in bytes. */
  mediaQuota: number
  /** Recordings that are joined at a time. */
  joiners: number
  /** For how many days media are kept, by what they show; from when on, see domain/submissions/media/delete-expired-media.ts. */
  mediaKeptDays: KeptDays
  /** For how many days the feed of events goes back. */
  eventsKeptDays: number
  /** Deliveries to one endpoint at a time, of one process, to begin with. */
  webhookConcurrency: number
  /** Where webhooks may go besides public addresses. */
  webhookAllowance: Allowance
  /** Where identity providers may be besides at public addresses. */
  ssoAllowance: Allowance
  /** What everybody may link an account of, and sign in with it. */
  operatorProviders: OperatorProvider[]
  /** Where new passwords are looked up; undefined: nowhere. */
  hibpUrl: string | undefined
  ats: AtsSettings
  /** undefined: nothing is traced. */
  traces: { endpoint: string; ratio: number } | undefined
  logLevel: string
  /** What to make at the start, where it is missing. */
  init: { organization: string | undefined; apiKey: string | undefined; adminEmail: string | undefined }
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
 * @param serves whether it is the service that starts, or is examined: then what it needs to send mails must be there.
 * @throws ConfigError naming every bad variable at once.
 */
export function loadConfig(env: NodeJS.ProcessEnv, { serves = false } = {}): Config {
  const problems: string[] = []
  const settings = readEnvironment(collectVariables(env, problems), problems)
  problems.push(...findContradictions(settings))
  if (serves) problems.push(...findOmissions(settings, findLookalikes(env)))
  if (problems.length > 0) throw new ConfigError(problems)
  const smtpUrl = settings.MAIL === 'capture' ? undefined : settings.SMTP_URL
  const mailbox = readMailbox(settings)
  return {
    port: settings.PORT,
    host: settings.HOST,
    publicUrl: (settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`).replace(/\/+$/, ''),
    publicHosts: new Set(splitList(settings.PUBLIC_HOSTS.toLowerCase())),
    role: settings.ROLE,
    databaseUrl: settings.DATABASE_URL,
    databaseDirectUrl: settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL,
    databasePooler: {
      isShared: settings.DATABASE_POOLER === 'transaction',
      isNamed: (settings.DATABASE_STATEMENTS ?? (settings.DATABASE_POOLER ? 'unnamed' : 'named')) === 'named',
    },
    databaseReadUrls: splitAddresses(settings.DATABASE_READ_URL),
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    dataDir: settings.DATA_DIR,
    secretKeys: splitList(settings.SECRET_KEY),
    smtp: {
      url: smtpUrl,
      isOpportunistic: settings.SMTP_SECURITY === 'opportunistic',
      connections: settings.SMTP_CONNECTIONS,
      perMinute: settings.SMTP_RATE,
    },
    mailFrom: settings.MAIL_FROM ?? NOBODY,
    bounces: readBounces(settings),
    mailCeilings: { perRecipient: settings.MAILS_PER_RECIPIENT, perOrganization: settings.MAILS_PER_ORGANIZATION },
    deliverTestMail: settings.TEST_MAIL === 'deliver',
    playerUrl: settings.PLAYER_URL,
    webcam: settings.WEBCAM,
    rateLimits: {
      standard: settings.RATE_LIMIT_STANDARD,
      enterprise: settings.RATE_LIMIT_ENTERPRISE,
      unknownKeys: settings.RATE_LIMIT_UNKNOWN_KEYS,
    },
    candidatePageLimits: {
      perLink: settings.RATE_LIMIT_CANDIDATE_LINK,
      perNetwork: settings.RATE_LIMIT_CANDIDATE_NETWORK,
    },
    redisUrl: settings.REDIS_URL,
    maxRequestWait: settings.MAX_REQUEST_WAIT,
    stopNotice: settings.STOP_NOTICE * 1_000,
    alternate: {
      prefix: settings.ALTERNATE_PREFIX,
      expiresInDays: settings.ALTERNATE_EXPIRES_IN_DAYS,
      graderRequired: settings.ALTERNATE_GRADER_REQUIRED,
    },
    trustProxy: settings.TRUST_PROXY === 'true' || (settings.TRUST_PROXY !== 'false' && settings.TRUST_PROXY),
    isTrial: settings.DATABASE_URL === undefined || mailbox !== undefined,
    mailbox,
    metrics: settings.METRICS_PORT === undefined ? undefined : { port: settings.METRICS_PORT, host: settings.METRICS_HOST },
    mediaUrl: settings.MEDIA_URL,
    erasureLog: erasureLogOf(settings),
    backupsKeptDays: settings.BACKUPS_KEPT_DAYS,
    mediaQuota: settings.MEDIA_QUOTA,
    joiners: settings.JOINERS ?? Math.max(1, availableParallelism() - 1),
    mediaKeptDays: {
      idPhoto: settings.ID_PHOTO_KEPT_DAYS,
      proctoring: settings.PROCTORING_KEPT_DAYS,
      answers: settings.ANSWERS_KEPT_DAYS,
    },
    eventsKeptDays: settings.EVENTS_KEPT_DAYS,
    webhookConcurrency: settings.WEBHOOK_CONCURRENCY,
    webhookAllowance: readAllowance([settings.WEBHOOK_ALLOW, ...(mailbox ? THIS_MACHINE : [])].join()).allowance,
    ssoAllowance: readAllowance(settings.SSO_ALLOW).allowance,
    operatorProviders: readOperatorProviders(settings),
    hibpUrl: settings.HIBP_URL,
    ats: readAtsSettings(settings),
    traces: readTraces(settings),
    logLevel: settings.LOG_LEVEL,
    init: {
      organization: settings.INIT_ORG_NAME,
      apiKey: settings.INIT_API_KEY_NAME,
      adminEmail: settings.INIT_ADMIN_EMAIL,
    },
  }
}

/** Webhook receivers that a trial may have: those of the machine that it runs on. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '::1']

/** The page of captured mails is for a service of this machine alone: by default on the embedded database, on another if MAIL says so. */
function readMailbox({ DATABASE_URL, PUBLIC_URL, SMTP_URL, MAIL }: Static<typeof Environment>): MailboxSettings | undefined {
  const isAskedFor = MAIL === 'mailbox'
  const isDefault = MAIL === undefined && DATABASE_URL === undefined
  if (SMTP_URL || !isOfThisMachine(PUBLIC_URL) || !(isAskedFor || isDefault)) return undefined
  return { allowsPrivatePeers: isAskedFor }
}

const readBounces = ({ MAIL_BOUNCE_DOMAIN, BOUNCE_IMAP_URL, MAIL_EVENTS }: Static<typeof Environment>): Config['bounces'] => ({
  domain: MAIL_BOUNCE_DOMAIN,
  mailbox: (BOUNCE_IMAP_URL && readImapAddress(BOUNCE_IMAP_URL)) || undefined,
  ...readMailEvents(MAIL_EVENTS)!,
})

const erasureLogOf = ({ ERASURE_LOG, DATA_DIR }: Static<typeof Environment>): string =>
  ERASURE_LOG ?? path.join(DATA_DIR, 'erasures.jsonl')

const readTraces = ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Static<typeof Environment>): Config['traces'] => (endpoint === undefined ? undefined : { endpoint, ratio })

function readOperatorProviders(settings: Static<typeof Environment>): OperatorProvider[] {
  const given = {
    google: [GOOGLE, settings.GOOGLE_CLIENT_ID, settings.GOOGLE_CLIENT_SECRET],
    microsoft: [settings.MICROSOFT_ISSUER, settings.MICROSOFT_CLIENT_ID, settings.MICROSOFT_CLIENT_SECRET],
  } as const
  return OPERATOR_PROVIDERS.flatMap((provider) => {
    const [issuer, clientId, clientSecret] = given[provider.address]
    return clientId && clientSecret ? [{ ...provider, issuer, clientId, clientSecret, clientAuth: 'client_secret_basic' }] : []
  })
}
const GOOGLE = 'https://accounts.google.com'

/** The systems that the operator has entered something for, the addresses without a trailing slash. */
function readAtsSettings(settings: Static<typeof Environment>): AtsSettings {
  const { ATS_GREENHOUSE, ATS_ASHBY, ATS_RECRUITEE, ATS_RECRUITEE_SECRET: secret = '', ATS_CALLBACK_HOSTS } = settings
  return {
    greenhouse: ATS_GREENHOUSE ? {} : undefined,
    ashby: ATS_ASHBY ? { url: ATS_ASHBY.replace(/\/+$/, '') } : undefined,
    recruitee: ATS_RECRUITEE ? { url: ATS_RECRUITEE.replace(/\/+$/, ''), secret } : undefined,
    callbackHosts: new Set(splitList(ATS_CALLBACK_HOSTS.toLowerCase())?.filter((host) => host !== '')),
  }
}

/** Whether there has to be a proxy, because somebody speaks HTTPS and it is not the service, but none is trusted. */
export const lacksTrustedProxy = ({ publicUrl, trustProxy }: Pick<Config, 'publicUrl' | 'trustProxy'>): boolean =>
  publicUrl.startsWith('https:') && trustProxy === false

/** The variables that are set; secrets also from their files, which go before: docker-compose.yml has defaults. */
function collectVariables(env: NodeJS.ProcessEnv, problems: string[]): Record<string, string> {
  const given: Record<string, string> = {}
  for (const name of Object.keys(Environment.properties)) {
    const inFile = SECRETS.includes(name) && env[`${name}_FILE`]
    const isLoginMailbox = name === 'MAIL' && env.MAIL?.startsWith('/') // login shells set it to a path
    const own = isLoginMailbox ? undefined : env[name]
    const value = inFile ? readSecretFile(`${name}_FILE`, env, problems) : own
    if (value) given[name] = value
  }
  return given
}

function readSecretFile(name: string, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  try {
    return readFileSync(env[name]!, 'utf8').trim()
  } catch (error) {
    problems.push(`${name}: the file can not be read (${(error as NodeJS.ErrnoException).code}).`)
    return undefined
  }
}

/** The settings, those that are unusable left out: the others are still to be looked at. */
function readEnvironment(given: Record<string, string>, problems: string[]): Static<typeof Environment> {
  try {
    return envSchema<Static<typeof Environment>>({ schema: Environment, data: given, env: false })
  } catch (error) {
    const errors = (error as { errors?: { instancePath: string }[] }).errors
    if (!errors) throw error
    const names = new Set(errors.map(({ instancePath }) => instancePath.slice(1)))
    for (const name of names)
      problems.push(`${name}: ${describe(Environment.properties[name as keyof typeof Environment.properties])}`)
    const usable = Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)))
    return readEnvironment(usable, problems)
  }
}

/** What would be right. What was given is not repeated: it may hold a password. */
function describe({
  description,
  type,
  enum: words,
  minimum,
  maximum,
  default: preset,
  examples: [example] = [preset],
}: TSchema) {
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  const kinds = {
    integer: `an integer ${range}`,
    number: `a number ${range}`,
    boolean: 'true or false',
    string: 'a value of this form',
  }
  const kind = words ? `one of ${words.join(', ')}` : kinds[type as keyof typeof kinds]
  return `needs ${kind}, e.g. ${example}. ${description}`
}
