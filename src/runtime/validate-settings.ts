import { isIP } from 'node:net'
import type { Static } from '@sinclair/typebox'
import { Client } from 'pg'
import { isEmailAddress, isPlainAddress } from '../domain/validation/email-address.ts'
import { readAllowance } from '../domain/webhooks/targets.ts'
import { isLoopbackHost } from '../http/addresses/client.ts'
import type { ImapAddress } from '../mail/events/bounce-mailbox.ts'
import { type Environment, MIN_SECRET_LENGTH } from './environment.ts'
import { isPrefixTaken } from './paths.ts'

const SECRET_HINT = 'Make one with: openssl rand -hex 32'
const PASSWORD_HINT = 'In its password / is written %2F, @ %40, # %23 and % %25.'

/** Problems that the schema can't express: of one variable's value, or of two variables together. */
export function findInvalidSettings(settings: Partial<Static<typeof Environment>>): string[] {
  const { DATABASE_URL, SMTP_URL, REDIS_URL, PUBLIC_URL, PLAYER_URL, MAIL_FROM, ALTERNATE_PREFIX, TRUST_PROXY } = settings
  const secretKeys = splitList(settings.SECRET_KEY)
  const publicUrl = PUBLIC_URL && URL.parse(PUBLIC_URL)
  const rules: [broken: unknown, problem: string][] = [
    ...findInvalidDatabases(settings),
    [REDIS_URL && !canCreate(() => parseRedisUrl(REDIS_URL)), `REDIS_URL: can not be read as an address. ${PASSWORD_HINT}`],
    [SMTP_URL && !URL.parse(SMTP_URL)?.hostname, `SMTP_URL: can not be read as an address, or names no server. ${PASSWORD_HINT}`],
    [DATABASE_URL && !secretKeys, `SECRET_KEY: is required with a DATABASE_URL. ${SECRET_HINT}`],
    [
      secretKeys?.some((key) => key.length < MIN_SECRET_LENGTH),
      `SECRET_KEY: each key needs at least ${MIN_SECRET_LENGTH} characters. ${SECRET_HINT}`,
    ],
    [
      secretKeys?.some((key) => /^change-?me/i.test(key)),
      `SECRET_KEY: is a placeholder that everybody knows, who could forge links with it. ${SECRET_HINT}`,
    ],
    [
      PUBLIC_URL && (!publicUrl || publicUrl.href !== `${publicUrl.origin}/`),
      'PUBLIC_URL: must be a scheme and a host, perhaps a port, and nothing else, e.g. https://assessments.example.com.',
    ],
    [
      settings.PUBLIC_HOSTS && !isHostList(settings.PUBLIC_HOSTS),
      'PUBLIC_HOSTS: needs hosts without scheme and port, e.g. api.example.com, 192.0.2.1.',
    ],
    [
      settings.MEDIA_URL && !URL.parse(settings.MEDIA_URL)?.hostname,
      'MEDIA_URL: names no bucket, e.g. s3://bucket/prefix?region=eu-central-1.',
    ],
    [PLAYER_URL && !URL.canParse(PLAYER_URL), 'PLAYER_URL: is not a URL.'],
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
    [ALTERNATE_PREFIX && isPrefixTaken(ALTERNATE_PREFIX), 'ALTERNATE_PREFIX: is taken by another part of the service.'],
  ]
  return rules.filter(([broken]) => broken).map(([, problem]) => problem)
}

const findInvalidBounces = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  [
    settings.BOUNCE_IMAP_URL && !parseImapUrl(settings.BOUNCE_IMAP_URL),
    `BOUNCE_IMAP_URL: needs a server, a user and a password, e.g. imaps://user:password@mail.example.com/INBOX. ${PASSWORD_HINT}`,
  ],
  [
    settings.BOUNCE_IMAP_URL && !settings.MAIL_BOUNCE_DOMAIN,
    'BOUNCE_IMAP_URL: needs a MAIL_BOUNCE_DOMAIN, by whose addresses a notice says which mail it is of.',
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
    `${name}: needs host names, addresses and networks, e.g. ${example}, 10.1.0.0/16.`,
  ])

/** Requires client id and secret together. */
const findIncompleteProviders = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] =>
  (
    [
      ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
      ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
    ] as const
  ).map(([id, secret]) => [Boolean(settings[id]) !== Boolean(settings[secret]), `${id}: needs a ${secret}, and is needed by it.`])

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
  const [found] = misspelled.find(([, meant]) => meant === 'SMTP_URL') ?? []
  const misspelt = found === undefined ? '' : ` ${found} is set, which is no setting.`
  if (!SMTP_URL && (DATABASE_URL || !isLocal)) {
    const others = isLocal ? 'a DATABASE_URL' : 'a PUBLIC_URL that others can reach'
    return [
      `SMTP_URL: is required with ${others}, or mails reach nobody.${misspelt} Set SMTP_URL and MAIL_FROM, or MAIL=capture to keep mails unsent.`,
    ]
  }
  if (SMTP_URL && !MAIL_FROM)
    return [
      'MAIL_FROM: is required with an SMTP_URL, e.g. Assessments <assessments@example.com>: mail servers refuse an invented sender.',
    ]
  return []
}

/** Checks the URLs of the database, its pooler, and its replicas. */
const findInvalidDatabases = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  ...(['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL'] as const).map((name): [unknown, string] => [
    (name === 'DATABASE_READ_URL' ? splitUrls(settings[name]) : [settings[name]]).some((url) => !isDatabaseUrl(url)),
    `${name}: can not be read as an address, or names a file that is not there. ${PASSWORD_HINT}`,
  ]),
  [
    Boolean(settings.DATABASE_POOLER) !== Boolean(settings.DATABASE_DIRECT_URL),
    'DATABASE_POOLER: needs a DATABASE_DIRECT_URL, the address past the pooler, and is needed by it.',
  ],
  [settings.DATABASE_POOLER && !settings.DATABASE_URL, 'DATABASE_POOLER: is for a DATABASE_URL, which is not set.'],
  [settings.DATABASE_READ_URL && !settings.DATABASE_URL, 'DATABASE_READ_URL: is a replica of DATABASE_URL, which is not set.'],
]

const findInvalidAtsSettings = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] => [
  ...(['ATS_ASHBY', 'ATS_RECRUITEE'] as const).map((name): [unknown, string] => [
    settings[name] && !URL.parse(settings[name])?.hostname,
    `${name}: is not a URL.`,
  ]),
  [
    settings.ATS_RECRUITEE && !settings.ATS_RECRUITEE_SECRET,
    'ATS_RECRUITEE_SECRET: is required with ATS_RECRUITEE, which takes no report without it.',
  ],
]

/** Requires INIT_ORG_NAME for the other INIT_ settings. */
const findOrphanedInitSettings = (settings: Partial<Static<typeof Environment>>): [broken: unknown, problem: string][] =>
  (['INIT_API_KEY_NAME', 'INIT_ADMIN_EMAIL'] as const).map((name) => [
    settings[name] && !settings.INIT_ORG_NAME,
    `${name}: needs an INIT_ORG_NAME to belong to.`,
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
    const [address = '', bits, ...rest] = item.split('/')
    const named = ['loopback', 'linklocal', 'uniquelocal'].includes(item)
    return named || (isIP(address) > 0 && rest.length === 0 && (bits === undefined || isPrefixLength(bits, address)))
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
  for (const item of splitList(text)?.filter((one) => one !== '') ?? []) {
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
