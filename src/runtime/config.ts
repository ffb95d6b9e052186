import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import type { Static, TSchema } from '@sinclair/typebox'
import { envSchema } from 'env-schema'
import type { MailLimits } from '../domain/invites/mail-limits.ts'
import type { Allowance } from '../domain/networks/allowance.ts'
import type { AtsSettings } from '../domain/ports/ats-settings.ts'
import { OPERATOR_PROVIDERS, type OperatorProvider } from '../domain/ports/identity-provider.ts'
import type { KeptDays } from '../domain/submissions/media/delete-expired-media.ts'
import { readAllowance } from '../domain/webhooks/targets.ts'
import type { MailboxSettings } from '../interfaces/mailbox/access.ts'
import type { ImapAddress } from '../mail/events/bounce-mailbox.ts'
import type { TranscriberSettings } from '../media/transcriber.ts'
import { Environment, SECRETS } from './environment.ts'
import { findMisspelledSettings } from './misspelled-settings.ts'
import {
  findInvalidSettings,
  findMissingSettings,
  isLocalUrl,
  parseImapUrl,
  parseMailEvents,
  splitList,
  splitUrls,
} from './validate-settings.ts'

/** Sender of captured mails. */
const CAPTURE_SENDER = 'Assessments <assessments@localhost.localdomain>'

/** The validated settings. */
export type Config = {
  port: number
  host: string
  /** Without a trailing slash. */
  publicUrl: string
  /** Further host names of the service, in lower case. */
  publicHosts: ReadonlySet<string>
  role: 'all' | 'api' | 'worker'
  /** undefined: embedded. */
  databaseUrl: string | undefined
  /** Address past the pooler, for session-level features; equals `databaseUrl` without a pooler. */
  databaseDirectUrl: string | undefined
  /** `isShared`: DATABASE_URL is a pooler in transaction mode. `isNamed`: statements may have names. */
  databasePooler: { isShared: boolean; isNamed: boolean }
  databaseReadUrls: string[]
  databasePoolSize: number
  dataDir: string
  /** Newest first. undefined: generated, and stored under dataDir. */
  secretKeys: string[] | undefined
  /** `url` is undefined if mails are captured. `perMinute` 0: unlimited. */
  smtp: { url: string | undefined; isOpportunistic: boolean; connections: number; perMinute: number }
  mailFrom: string
  /** Sources of bounces and delivery reports: addresses of a domain (perhaps read from a mailbox), an SNS topic, Postmark. */
  bounces: {
    domain: string | undefined
    mailbox: ImapAddress | undefined
    sesTopic: string | undefined
    postmarkSecret: string | undefined
  }
  /** Invitations within 24 hours; 0: unlimited. */
  mailCeilings: MailLimits
  /** Mails of open links of one organization. */
  openLinkMails: { perHour: number; perDay: number }
  deliverTestMail: boolean
  playerUrl: string | undefined
  webcam: 'stills' | 'video'
  /** True if assistants may use /mcp. */
  hasMcp: boolean
  /** Requests a minute, by tier. */
  rateLimits: { standard: number; enterprise: number; unknownKeys: number }
  /** Page loads a minute. */
  candidatePageLimits: { perLink: number; perNetwork: number }
  redisUrl: string | undefined
  fileScanUrl: string | undefined
  /** Milliseconds, see MAX_REQUEST_WAIT. */
  maxRequestWait: number
  /** Milliseconds for which requests are still accepted after the signal to stop. */
  stopNotice: number
  alternate: { prefix: string; expiresInDays: number; graderRequired: boolean }
  trustProxy: boolean | string
  /** True if the database is embedded, or mails are captured, as docker-compose.yml sets it up at first. */
  isTrial: boolean
  /** Page of captured mails; undefined: none. */
  mailbox: MailboxSettings | undefined
  /** undefined: no metrics. */
  metrics: { port: number; host: string } | undefined
  /** `s3://bucket/prefix?endpoint=…&region=…`; undefined: a folder under dataDir. */
  mediaUrl: string | undefined
  /** Path of the log of erasure receipts. */
  erasureLog: string
  backupsKeptDays: number
  /** Bytes per organization. */
  mediaQuota: number
  /** Recordings joined at a time. */
  joiners: number
  /** Speech recognition; undefined: none is connected. `workers`: recordings sent at a time. */
  transcription: (TranscriberSettings & { workers: number }) | undefined
  /** Retention of media by purpose. domain/submissions/media/delete-expired-media.ts says from which date. */
  mediaKeptDays: KeptDays
  eventsKeptDays: number
  /** Initial number of concurrent deliveries to one endpoint, per process. */
  webhookConcurrency: number
  /** Destinations allowed for webhooks besides public addresses. */
  webhookAllowance: Allowance
  /** Locations allowed for identity providers besides public addresses. */
  ssoAllowance: Allowance
  /** Providers of personal accounts that the operator set up: Google and Microsoft. */
  operatorProviders: OperatorProvider[]
  /** Service that checks new passwords against known breaches; undefined: none. */
  hibpUrl: string | undefined
  ats: AtsSettings
  /** undefined: tracing is off. */
  traces: { endpoint: string; ratio: number } | undefined
  logLevel: string
  /** Rows to create on startup, if missing. */
  init: { organization: string | undefined; apiKey: string | undefined; adminEmail: string | undefined }
}

/** Invalid settings, one line each. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads the settings; an empty variable counts as unset. No other module reads the environment.
 *
 * @param serves true for the service itself: then settings that it needs to send mails are required.
 * @throws ConfigError listing all problems.
 */
export function loadConfig(env: NodeJS.ProcessEnv, { serves = false } = {}): Config {
  const problems: string[] = []
  const settings = readEnvironment(collectVariables(env, problems), problems)
  problems.push(...findInvalidSettings(settings))
  if (serves) problems.push(...findMissingSettings(settings, findMisspelledSettings(env)))
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
    databaseReadUrls: splitUrls(settings.DATABASE_READ_URL),
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    dataDir: settings.DATA_DIR,
    secretKeys: splitList(settings.SECRET_KEY),
    smtp: {
      url: smtpUrl,
      isOpportunistic: settings.SMTP_SECURITY === 'opportunistic',
      connections: settings.SMTP_CONNECTIONS,
      perMinute: settings.SMTP_RATE,
    },
    mailFrom: settings.MAIL_FROM ?? CAPTURE_SENDER,
    bounces: parseBounces(settings),
    openLinkMails: { perHour: settings.OPEN_LINK_MAILS_PER_HOUR, perDay: settings.OPEN_LINK_MAILS_PER_DAY },
    mailCeilings: { perRecipient: settings.MAILS_PER_RECIPIENT, perOrganization: settings.MAILS_PER_ORGANIZATION },
    deliverTestMail: settings.TEST_MAIL === 'deliver',
    playerUrl: settings.PLAYER_URL,
    webcam: settings.WEBCAM,
    hasMcp: settings.MCP === 'on',
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
    fileScanUrl: settings.FILE_SCAN_URL,
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
    erasureLog: erasureLogPath(settings),
    backupsKeptDays: settings.BACKUPS_KEPT_DAYS,
    mediaQuota: settings.MEDIA_QUOTA,
    joiners: settings.JOINERS ?? Math.max(1, availableParallelism() - 1),
    transcription: readTranscription(settings),
    mediaKeptDays: {
      idPhoto: settings.ID_PHOTO_KEPT_DAYS,
      proctoring: settings.PROCTORING_KEPT_DAYS,
      answers: settings.ANSWERS_KEPT_DAYS,
    },
    eventsKeptDays: settings.EVENTS_KEPT_DAYS,
    webhookConcurrency: settings.WEBHOOK_CONCURRENCY,
    webhookAllowance: readAllowance([settings.WEBHOOK_ALLOW, ...(mailbox ? LOOPBACK_HOSTS : [])].join()).allowance,
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

/** Hosts that webhooks of a trial may be sent to. */
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '::1']

/** The page of captured mails is only for a local URL: by default with the embedded database, otherwise with MAIL=mailbox. */
function readMailbox({ DATABASE_URL, PUBLIC_URL, SMTP_URL, MAIL }: Static<typeof Environment>): MailboxSettings | undefined {
  const isAskedFor = MAIL === 'mailbox'
  const isDefault = MAIL === undefined && DATABASE_URL === undefined
  if (SMTP_URL || !isLocalUrl(PUBLIC_URL) || !(isAskedFor || isDefault)) return undefined
  return { allowsPrivatePeers: isAskedFor }
}

const parseBounces = ({ MAIL_BOUNCE_DOMAIN, BOUNCE_IMAP_URL, MAIL_EVENTS }: Static<typeof Environment>): Config['bounces'] => ({
  domain: MAIL_BOUNCE_DOMAIN,
  mailbox: (BOUNCE_IMAP_URL && parseImapUrl(BOUNCE_IMAP_URL)) || undefined,
  ...parseMailEvents(MAIL_EVENTS)!,
})

const readTranscription = (settings: Static<typeof Environment>): Config['transcription'] =>
  settings.TRANSCRIBE_URL === undefined
    ? undefined
    : {
        url: settings.TRANSCRIBE_URL,
        key: settings.TRANSCRIBE_KEY,
        model: settings.TRANSCRIBE_MODEL,
        format: settings.TRANSCRIBE_FORMAT,
        fields: [...new URLSearchParams(settings.TRANSCRIBE_FIELDS)],
        maxBytes: settings.TRANSCRIBE_MAX_MEGABYTES * 2 ** 20,
        workers: settings.TRANSCRIBERS,
      }

const erasureLogPath = ({ ERASURE_LOG, DATA_DIR }: Static<typeof Environment>): string =>
  ERASURE_LOG ?? path.join(DATA_DIR, 'erasures.jsonl')

const readTraces = ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER_ARG: ratio,
}: Static<typeof Environment>): Config['traces'] => (endpoint === undefined ? undefined : { endpoint, ratio })

function readOperatorProviders(settings: Static<typeof Environment>): OperatorProvider[] {
  const settingsOf = {
    google: [GOOGLE, settings.GOOGLE_CLIENT_ID, settings.GOOGLE_CLIENT_SECRET],
    microsoft: [settings.MICROSOFT_ISSUER, settings.MICROSOFT_CLIENT_ID, settings.MICROSOFT_CLIENT_SECRET],
  } as const
  return OPERATOR_PROVIDERS.flatMap((provider) => {
    const [issuer, clientId, clientSecret] = settingsOf[provider.address]
    return clientId && clientSecret ? [{ ...provider, issuer, clientId, clientSecret, clientAuth: 'client_secret_basic' }] : []
  })
}
const GOOGLE = 'https://accounts.google.com'

/** Settings of the applicant tracking systems that are configured, with URLs without a trailing slash. */
function readAtsSettings(settings: Static<typeof Environment>): AtsSettings {
  const { ATS_GREENHOUSE, ATS_ASHBY, ATS_RECRUITEE, ATS_RECRUITEE_SECRET: secret = '', ATS_CALLBACK_HOSTS } = settings
  return {
    greenhouse: ATS_GREENHOUSE ? {} : undefined,
    ashby: ATS_ASHBY ? { url: ATS_ASHBY.replace(/\/+$/, '') } : undefined,
    recruitee: ATS_RECRUITEE ? { url: ATS_RECRUITEE.replace(/\/+$/, ''), secret } : undefined,
    callbackHosts: new Set(splitList(ATS_CALLBACK_HOSTS.toLowerCase())?.filter((host) => host !== '')),
  }
}

/** True if somebody terminates HTTPS in front of the service, and no proxy is trusted. */
export const lacksTrustedProxy = ({ publicUrl, trustProxy }: Pick<Config, 'publicUrl' | 'trustProxy'>): boolean =>
  publicUrl.startsWith('https:') && trustProxy === false

/** Collects the set variables. A secret's file wins over its variable, because docker-compose.yml sets defaults. */
function collectVariables(env: NodeJS.ProcessEnv, problems: string[]): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const name of Object.keys(Environment.properties)) {
    const inFile = SECRETS.includes(name) && env[`${name}_FILE`]
    const isLoginMailbox = name === 'MAIL' && env.MAIL?.startsWith('/') // login shells set it to a path
    const plain = isLoginMailbox ? undefined : env[name]
    const value = inFile ? readSecretFile(`${name}_FILE`, env, problems) : plain
    if (value) variables[name] = value
  }
  return variables
}

function readSecretFile(name: string, env: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  try {
    return readFileSync(env[name]!, 'utf8').trim()
  } catch (error) {
    problems.push(`${name}: the file can not be read (${(error as NodeJS.ErrnoException).code}).`)
    return undefined
  }
}

/** Parses the settings. Invalid ones are reported and left out, so that the others are still checked. */
function readEnvironment(variables: Record<string, string>, problems: string[]): Static<typeof Environment> {
  try {
    return envSchema<Static<typeof Environment>>({ schema: Environment, data: variables, env: false })
  } catch (error) {
    const errors = (error as { errors?: { instancePath: string }[] }).errors
    if (!errors) throw error
    const names = new Set(errors.map(({ instancePath }) => instancePath.slice(1)))
    for (const name of names)
      problems.push(`${name}: ${describe(Environment.properties[name as keyof typeof Environment.properties])}`)
    const usable = Object.fromEntries(Object.entries(variables).filter(([name]) => !names.has(name)))
    return readEnvironment(usable, problems)
  }
}

/** Describes the valid values. It never repeats the given value, which may be a password. */
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
