import { isIP } from 'node:net'
import type { Static } from '@sinclair/typebox'
import { Client } from 'pg'
import { isEmailAddress, isPlainAddress } from '../domain/validation/email-address.ts'
import { readAllowance } from '../domain/webhooks/targets.ts'
import { isLoopbackHost } from '../http/addresses/client.ts'
import type { ImapAddress } from '../mail/events/bounce-mailbox.ts'
import { type Environment, MIN_SECRET_LENGTH } from './environment.ts'
import { isPrefixTaken } from './paths.ts'

const SECRET_HINT = 'Generate one with: openssl rand -hex 32'
const PASSWORD_HINT = 'In a password, write %2F for /, %40 for @, %23 for #, and %25 for %.'

/** Problems that the schema can't express, such as conflicts between variables. */
export function findInvalidSettings(settings: Partial<Static<typeof Environment>>): string[] {
  const { DATABASE_URL, SMTP_URL, REDIS_URL, PUBLIC_URL, PLAYER_URL, MAIL_FROM, ALTERNATE_PREFIX, TRUST_PROXY } = settings
  const secretKeys = splitList(settings.SECRET_KEY)
  const publicUrl = PUBLIC_URL && URL.parse(PUBLIC_URL)
  const rules: [broken: unknown, problem: string][] = [
    ...findInvalidDatabases(settings),
    [REDIS_URL && !canCreate(() => parseRedisUrl(REDIS_URL)), `REDIS_URL: is not a valid URL. ${PASSWORD_HINT}`],
    [SMTP_URL && !URL.parse(SMTP_URL)?.hostname, `SMTP_URL: is not a valid URL, or has no host. ${PASSWORD_HINT}`],
    [DATABASE_URL && !secretKeys, `SECRET_KEY: is required with a DATABASE_URL. ${SECRET_HINT}`],
    [
      secretKeys?.some((key) => key.length < MIN_SECRET_LENGTH),
      `SECRET_KEY: each key needs at least ${MIN_SECRET_LENGTH} characters. ${SECRET_HINT}`,
    ],
    [
      secretKeys?.some((key) => /^change-?me/i.test(key)),
      `SECRET_KEY: is a public placeholder, with which anybody could forge links. ${SECRET_HINT}`,
    ],
    [
      PUBLIC_URL && (!publicUrl || publicUrl.href !== `${publicUrl.origin}/`),
      'PUBLIC_URL: needs a scheme and a host, optionally a port, and no path, e.g. https://assessments.example.com.',
    ],
    [
      settings.PUBLIC_HOSTS && !isHostList(settings.PUBLIC_HOSTS),
      'PUBLIC_HOSTS: needs hosts without scheme and port, e.g. api.example.com, 192.0.2.1.',
    ],
    [
      settings.MEDIA_URL && !URL.parse(settings.MEDIA_URL)?.hostname,
      'MEDIA_URL: needs a bucket, e.g. s3://bucket/prefix?region=eu-central-1.',
    ],
    [PLAYER_URL && !URL.canParse(PLAYER_URL), 'PLAYER_URL: is not a URL.'],
    ...findInvalidTranscription(settings),
    [
      MAIL_FROM && !isPlainAddress(/<([^<>]*)>$/.exec(MAIL_FROM)?.[1] ?? MAIL_FROM),
      'MAIL_FROM: needs an address, e.g. invitations@example.com or Assessments <invitations@example.com>.',
    ],
    ...findInvalidBounces(settings),
    [
      TRUST_PROXY && !isProxyList(TRUST_PROXY),
      'TRUST_PROXY: needs true, false, or addresses and networks, e.g. 10.0.0.0/8, 127.0.0.1.',
    ],
    ...findInvalidAllowances(settings),
    ...findIncompleteProviders(settings),
    ...findInvalidAtsSettings(settings),
    ...findOrphanedInitSettings(settings),
    [
      settings.INIT_ADMIN_EMAIL && !isEmailAddress(settings.INIT_ADMIN_EMAIL),
      'INIT_ADMIN_EMAIL: needs an address, e.g. admin@example.com.',
    ],
    [ALTERNATE_PREFIX && isPrefixTaken(ALTERNATE_PREFIX), 'ALTERNATE_PREFIX: another part of the service uses this path.'],
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}

const findInvalidTranscription = ({
  TRANSCRIBE_URL,
  TRANSCRIBE_KEY,
}: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  [
    TRANSCRIBE_URL && !URL.parse(TRANSCRIBE_URL)?.hostname,
    'TRANSCRIBE_URL: needs an endpoint, e.g. http://whisper:8000/v1/audio/transcriptions.',
  ],
  [
    TRANSCRIBE_KEY && !TRANSCRIBE_URL,
    'TRANSCRIBE_KEY: requires a TRANSCRIBE_URL, e.g. http://whisper:8000/v1/audio/transcriptions.',
  ],
]

const findInvalidBounces = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  [
    settings.BOUNCE_IMAP_URL && !parseImapUrl(settings.BOUNCE_IMAP_URL),
    `BOUNCE_IMAP_URL: needs a server, a user, and a password, e.g. imaps://user:password@mail.example.com/INBOX. ${PASSWORD_HINT}`,
  ],
  [
    settings.BOUNCE_IMAP_URL && !settings.MAIL_BOUNCE_DOMAIN,
    'BOUNCE_IMAP_URL: requires MAIL_BOUNCE_DOMAIN. Its addresses tell which email bounced.',
  ],
  [
    settings.MAIL_EVENTS && !parseMailEvents(settings.MAIL_EVENTS),
    `MAIL_EVENTS: needs a topic or a secret of at least ${MIN_PASSWORD_LENGTH} characters, e.g. ses:arn:aws:sns:eu-central-1:123456789012:mail, postmark:a-long-secret.`,
  ],
]

const findInvalidAllowances = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] =>
  (
    [
      ['WEBHOOK_ALLOW', 'hooks.internal'],
      ['SSO_ALLOW', 'keycloak.internal'],
    ] as const
  ).map(([name, example]) => [
    readAllowance(settings[name] ?? '').unreadable.length > 0,
    `${name}: needs host names, addresses, and networks, e.g. ${example}, 10.1.0.0/16.`,
  ])

/** Requires client id and secret together. */
const findIncompleteProviders = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] =>
  (
    [
      ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
      ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
    ] as const
  ).map(([id, secret]) => [Boolean(settings[id]) !== Boolean(settings[secret]), `${id}: set it together with ${secret}.`])

/** True if only this machine can open the URL. @param publicUrl undefined: the default, localhost. */
export const isLocalUrl = (publicUrl: string | undefined): boolean =>
  publicUrl === undefined || isLoopbackHost(URL.parse(publicUrl)?.hostname ?? '')

/** Settings required to send mails: a service that captured them by mistake would reach nobody. @param misspelled see misspelled-settings.ts. */
export function findMissingSettings(
  settings: Partial<Static<typeof Environment>>,
  misspelled: [name: string, meant: string][],
): string[] {
  const { DATABASE_URL, PUBLIC_URL, SMTP_URL, MAIL, MAIL_FROM, ROLE } = settings
  if (ROLE === 'api' || MAIL === 'capture') return []
  const isLocal = isLocalUrl(PUBLIC_URL)
  if (MAIL === 'mailbox' && !SMTP_URL && isLocal) return []
  const [misspelledName] = misspelled.find(([, setting]) => setting === 'SMTP_URL') ?? []
  const misspelt = misspelledName === undefined ? '' : ` ${misspelledName} is set, but there is no such setting.`
  if (!SMTP_URL && (DATABASE_URL || !isLocal)) {
    const condition = isLocal ? 'DATABASE_URL' : 'a PUBLIC_URL that other machines can reach'
    return [
      `SMTP_URL: is required with ${condition}, otherwise no email is sent.${misspelt} Set SMTP_URL and MAIL_FROM, or MAIL=capture to send no emails.`,
    ]
  }
  if (SMTP_URL && !MAIL_FROM)
    return [
      'MAIL_FROM: is required with SMTP_URL, e.g. Assessments <assessments@example.com>. Mail servers refuse a made-up sender.',
    ]
  return []
}

/** Checks the URLs of the database, its pooler, and its replicas. */
const findInvalidDatabases = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  ...(['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const).map((name): [unknown, string] => [
    (name === 'DATABASE_READ_URL' ? splitUrls(settings[name]) : [settings[name]]).some((url) => !isDatabaseUrl(url)),
    `${name}: is not a valid URL, or refers to a missing file. ${PASSWORD_HINT}`,
  ]),
  [
    Boolean(settings.DATABASE_POOLER) !== Boolean(settings.DATABASE_DIRECT_URL),
    'DATABASE_POOLER: set it together with DATABASE_DIRECT_URL, the address of the database without the pooler.',
  ],
  [settings.DATABASE_POOLER && !settings.DATABASE_URL, 'DATABASE_POOLER: requires DATABASE_URL.'],
  [
    settings.DATABASE_READ_URL && !settings.DATABASE_URL,
    'DATABASE_READ_URL: requires DATABASE_URL. It is the address of its replica.',
  ],
]

const findInvalidAtsSettings = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  ...(['ATS_ASHBY', 'ATS_RECRUITEE'] as const).map((name): [unknown, string] => [
    settings[name] && !URL.parse(settings[name])?.hostname,
    `${name}: is not a URL.`,
  ]),
  [
    settings.ATS_RECRUITEE && !settings.ATS_RECRUITEE_SECRET,
    'ATS_RECRUITEE_SECRET: is required with ATS_RECRUITEE, which refuses reports without it.',
  ],
]

/** Requires INIT_ORG_NAME for the other INIT_ settings. */
const findOrphanedInitSettings = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] =>
  (['INIT_API_KEY_NAME', 'INIT_ADMIN_EMAIL'] as const).map((name) => [
    settings[name] && !settings.INIT_ORG_NAME,
    `${name}: requires INIT_ORG_NAME.`,
  ])

const isDatabaseUrl = (url: string | undefined): boolean => !url || canCreate(() => new Client({ connectionString: url }))

/** True if the client library can parse the URL. Creating a client opens no connection. */
function canCreate(create: () => unknown): boolean {
  try {
    create()
    return true
  } catch {
    return false
  }
}

/** Parses the URL like ioredis, without loading it. */
function parseRedisUrl(url: string): void {
  const { username, password } = new URL(url)
  for (const part of [username, password]) decodeURIComponent(part)
}

const isHostList = (list: string): boolean =>
  list.split(',').every((text) => URL.parse(`http://${text.trim()}`)?.hostname === text.trim().toLowerCase())

const isProxyList = (list: string): boolean =>
  ['true', 'false'].includes(list) ||
  list.split(',').every((text) => {
    const item = text.trim()
    const [address = '', bits, ...extraParts] = item.split('/')
    const isNetworkName = ['loopback', 'linklocal', 'uniquelocal'].includes(item)
    return (
      isNetworkName || (isIP(address) > 0 && extraParts.length === 0 && (bits === undefined || isPrefixLength(bits, address)))
    )
  })

const isPrefixLength = (bits: string, address: string): boolean =>
  /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128)

/** Splits a comma-separated list of URLs, whose passwords may contain commas. */
export const splitUrls = (text = ''): string[] => text.split(/\s*,\s*(?=\w+:\/\/)/).filter((url) => url !== '')

/** Parses BOUNCE_IMAP_URL; null if invalid. TLS options are query parameters, as in SMTP_URL. */
export function parseImapUrl(text: string): ImapAddress | null {
  const url = URL.parse(text)
  if (!url?.hostname || !url.username || !url.password) return null
  try {
    const [user, password, folder] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent)
    const servername = url.searchParams.get('tls.servername')
    const isUnchecked = url.searchParams.get('tls.rejectUnauthorized') === 'false'
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port ? Number(url.port) : undefined,
      isSecure: url.protocol === 'imaps:',
      ...{ user: user!, password: password!, folder: folder || 'INBOX' },
      tls: { ...(servername && { servername }), ...(isUnchecked && { rejectUnauthorized: false }) },
    }
  } catch {
    return null
  }
}

const TOPIC = /^ses:(arn:aws(?:-\w+)*:sns:[a-z0-9-]+:\d{12}:[\w-]+)$/
/** Characters of Postmark's webhook password. */
const MIN_PASSWORD_LENGTH = 16

/** Parses MAIL_EVENTS; null if an entry is invalid. */
export function parseMailEvents(text: string): { sesTopic: string | undefined; postmarkSecret: string | undefined } | null {
  let [sesTopic, postmarkSecret]: (string | undefined)[] = []
  for (const item of splitList(text)?.filter((entry) => entry !== '') ?? []) {
    const topic = TOPIC.exec(item)?.[1]
    if (topic !== undefined) sesTopic = topic
    else if (item.startsWith('postmark:') && item.length >= 'postmark:'.length + MIN_PASSWORD_LENGTH)
      postmarkSecret = item.slice('postmark:'.length)
    else return null
  }
  return { sesTopic, postmarkSecret }
}

/** Splits a comma-separated list. */
export const splitList = (text: string | undefined): string[] | undefined => text?.split(',').map((item) => item.trim())
