import { Type } from '@sinclair/typebox'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS } from '../domain/limits.ts'
import { StringEnum } from '../http/schema/field-types.ts'

/** Characters of a SECRET_KEY. */
export const MIN_SECRET_LENGTH = 32

/** Settings that can also be read from a file, whose path is in `<name>_FILE`. */
export const SECRETS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'SECRET_KEY',
  'SMTP_URL',
  'MAIL_EVENTS',
  'BOUNCE_IMAP_URL',
  'REDIS_URL',
  'ATS_RECRUITEE_SECRET',
  'GOOGLE_CLIENT_SECRET',
  'MICROSOFT_CLIENT_SECRET',
]

const Url = (schemes: string, example: string, description: string) =>
  Type.String({ pattern: `^(${schemes})://`, examples: [example], description })
const Count = (preset: number, description: string, bounds: { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ default: preset, minimum: 1, ...bounds, description })

const RETENTION_DAYS = { maximum: 3650 }

/** All settings. The defaults suit a first try on one's own machine. */
export const Environment = Type.Object({
  PORT: Count(3000, 'TCP port to listen on; 0 takes any free one.', { minimum: 0, maximum: 65_535 }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for every interface.' }),
  PUBLIC_URL: Type.Optional(
    Url(
      'https?',
      'https://assessments.example.com',
      'Address by which candidates reach the service, without a path; http://localhost:PORT unless given.',
    ),
  ),
  PUBLIC_HOSTS: Type.String({
    default: '',
    examples: ['api.example.com, 192.0.2.1'],
    description:
      'Further hosts by which clients reach the service, comma-separated. Addresses in API answers keep the host of the request if it is one of these; otherwise they begin with PUBLIC_URL.',
  }),
  ROLE: StringEnum(['all', 'api', 'worker'], {
    default: 'all',
    description: 'What this process does: answer requests (api), send mail and clean up in the background (worker), or both.',
  }),
  DATABASE_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@db.example.com:5432/assessments',
      'PostgreSQL (15 or newer) to use; its password can also be given as PGPASSWORD. Unset: an embedded one under DATA_DIR.',
    ),
  ),
  DATABASE_POOLER: Type.Optional(
    StringEnum(['transaction'], {
      description:
        'transaction: DATABASE_URL leads to a pooler like PgBouncer in transaction mode. Unset: it leads to PostgreSQL itself.',
    }),
  ),
  DATABASE_DIRECT_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@db.example.com:5432/assessments',
      'The same database and user past the pooler, for migrations, notifications and the job queue. Required with DATABASE_POOLER.',
    ),
  ),
  DATABASE_STATEMENTS: Type.Optional(
    StringEnum(['named', 'unnamed'], {
      description:
        'Whether statements are kept by name, which spares PostgreSQL half of the work. Unset: named, but unnamed with DATABASE_POOLER: PgBouncer knows names from 1.21 on, with max_prepared_statements of 500 or more.',
    }),
  ),
  DATABASE_READ_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@replica.example.com:5432/assessments',
      'A streaming replica of it, to read the lists of both interfaces from; of several, comma-separated, the first that is one and not late. Unset: they are read from the database itself.',
    ),
  ),
  DATABASE_POOL_SIZE: Count(
    10,
    'Connections of one process to the database, besides six of the job queue and the notifications.',
    {
      minimum: 2,
      maximum: 500,
    },
  ),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Folder of the embedded database and its secret, and of photos and recordings.',
  }),
  SECRET_KEY: Type.Optional(
    Type.String({
      description: `Signs the candidates' links and encrypts the secrets of webhooks: at least ${MIN_SECRET_LENGTH} random characters; several, comma-separated, newest first. Required with DATABASE_URL.`,
    }),
  ),
  SMTP_URL: Type.Optional(
    Url(
      'smtps?',
      'smtp://user:password@mail.example.com:587',
      'Mail server. Required with DATABASE_URL, and with a PUBLIC_URL that others can reach, unless MAIL says otherwise; unset: mails are captured.',
    ),
  ),
  MAIL_FROM: Type.Optional(
    Type.String({
      examples: ['Assessments <assessments@example.com>'],
      description: 'Sender of the mails, and where bounces go. Required with SMTP_URL.',
    }),
  ),
  MAIL: Type.Optional(
    StringEnum(['capture', 'mailbox'], {
      description:
        'capture: no mail is sent, whatever SMTP_URL is; mail show prints them. mailbox: without an SMTP_URL they are kept too, and shown to this machine at /dev/mailbox, by the link that the start prints; for a loopback PUBLIC_URL only. Unset, with the embedded database: as mailbox.',
    }),
  ),
  MAIL_BOUNCE_DOMAIN: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$',
      examples: ['bounces.example.com'],
      description:
        'Domain of the addresses that notices of undelivered invitations go to, one for each mail; its mail server hands them to /mail-events/dsn, or they are fetched by BOUNCE_IMAP_URL. Unset: they go to MAIL_FROM.',
    }),
  ),
  BOUNCE_IMAP_URL: Type.Optional(
    Url(
      'imaps?',
      'imaps://user:password@mail.example.com/INBOX',
      'Mailbox that notices to MAIL_BOUNCE_DOMAIN arrive in, and the folder of it that is read each minute, INBOX where none is named; imap: is encrypted by STARTTLS before the login. Unset: none.',
    ),
  ),
  MAIL_EVENTS: Type.String({
    default: '',
    examples: ['ses:arn:aws:sns:eu-central-1:123456789012:mail, postmark:a-long-secret'],
    description:
      'Providers that tell under /mail-events what became of mails, comma-separated: ses: with the topic of SNS, postmark: with the password in the address of its webhook. Unset: none.',
  }),
  SMTP_SECURITY: StringEnum(['required', 'opportunistic'], {
    default: 'required',
    description:
      'With a user in SMTP_URL: whether encryption and login are required, or done without where the server does not offer them. The password then goes over the network for all to read.',
  }),
  SMTP_CONNECTIONS: Count(
    10,
    'Mails handed to the mail server at a time by one process, at most; fewer where it asks for fewer.',
    {
      maximum: 100,
    },
  ),
  SMTP_RATE: Count(0, 'Mails a minute that one process hands to the mail server, at most; 0: as many as it takes.', {
    minimum: 0,
  }),
  MAILS_PER_RECIPIENT: Count(
    20,
    'Invitations to one address within 24 hours, over all invites of an organization; further ones wait. 0: any number. So many are a mistake mostly, so there is a ceiling unless it is taken away.',
    { minimum: 0 },
  ),
  MAILS_PER_ORGANIZATION: Count(
    5_000,
    'Mails to candidates of one organization within 24 hours; further ones wait their turn. `npm run cli -- org set-mail-limit` sets another number for an organization. 0: any number.',
    { minimum: 0, maximum: 1_000_000_000 },
  ),
  TEST_MAIL: StringEnum(['capture', 'deliver'], {
    default: 'capture',
    description: 'What becomes of the mail of invites made with a test key: captured, or delivered like any other.',
  }),
  PLAYER_URL: Type.Optional(
    Url(
      'https?',
      'https://player.example.com/start',
      'Where Start sends the candidate, with ?session=<reference>. Unset: the questions are on our own page.',
    ),
  ),
  WEBCAM: StringEnum(['stills', 'video'], {
    default: 'stills',
    description: 'How the webcam of a candidate is watched where an invite asks for it: a picture now and then, or a video.',
  }),
  RATE_LIMIT_STANDARD: Count(100, 'Requests a minute of an organization of the standard tier.'),
  RATE_LIMIT_ENTERPRISE: Count(1000, 'Requests a minute of an organization of the enterprise tier.'),
  RATE_LIMIT_UNKNOWN_KEYS: Count(
    1000,
    'Requests a minute with unknown API keys, of one client network (an IPv4 address or an IPv6 /64), before they are answered 429.',
  ),
  RATE_LIMIT_CANDIDATE_LINK: Count(60, 'Page loads a minute by one candidate link, before they are answered 429.'),
  RATE_LIMIT_CANDIDATE_NETWORK: Count(
    600,
    'Page loads a minute by all candidate links of one client network (an IPv4 address or an IPv6 /64), before they are answered 429: more for a test center with many seats.',
  ),
  REDIS_URL: Type.Optional(
    Url(
      'rediss?',
      'redis://:password@valkey.example.com:6379',
      'Redis or Valkey that counts requests over all processes. Unset: each counts its own.',
    ),
  ),
  MAX_REQUEST_WAIT: Count(
    1000,
    'Load shedding: when 100 requests have each waited for their answers for so many milliseconds, new ones are answered 503.',
  ),
  STOP_NOTICE: Count(
    1,
    'Seconds for which requests are still answered after SIGTERM, while /readyz says no: longer than a load balancer takes to notice. The stop takes up to 8 s more.',
    { minimum: 0, maximum: 300 },
  ),
  ALTERNATE_PREFIX: Type.String({
    default: '/api/alternate',
    pattern: '^(/[A-Za-z0-9_-]+)+$',
    description: 'Path prefix of the snake_case interface.',
  }),
  ALTERNATE_EXPIRES_IN_DAYS: Count(
    DEFAULT_EXPIRES_IN_DAYS,
    'Days until an invite made through the snake_case interface expires.',
    EXPIRY_DAYS,
  ),
  ALTERNATE_GRADER_REQUIRED: Type.Boolean({
    default: false,
    description: 'Whether the snake_case interface refuses assigned_grader: null.',
  }),
  MEDIA_URL: Type.Optional(
    Url(
      's3',
      's3://bucket/prefix?region=eu-central-1',
      'Where photos and recordings are kept: a bucket of S3, or with endpoint=… of another service like it; credentials as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Unset: the folder media under DATA_DIR.',
    ),
  ),
  MEDIA_QUOTA: Count(50_000_000_000, 'Bytes of photos, recordings, and what its questions show that an organization may have.'),
  JOINERS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      examples: ['2'],
      description:
        'Recordings that are joined at a time, each in a process of its own of up to 200 MB. Unset: one less than there are processors, and one at least.',
    }),
  ),
  ID_PHOTO_KEPT_DAYS: Count(
    30,
    'Days for which photos of faces and IDs are kept once results are released; where none are, as long as answers.',
    RETENTION_DAYS,
  ),
  PROCTORING_KEPT_DAYS: Count(
    90,
    'Days for which stills and recordings of webcam and screen are kept after a submission.',
    RETENTION_DAYS,
  ),
  ANSWERS_KEPT_DAYS: Count(365, 'Days for which recorded answers are kept after a submission.', RETENTION_DAYS),
  ERASURE_LOG: Type.Optional(
    Type.String({
      examples: ['/var/lib/assessments/erasures.jsonl'],
      description:
        'File that a line is appended to for each candidate, member and organization that was erased, without names: what a restored backup has to be told again. Keep it, and its copies, apart from those of the database; several processes that work share it. Unset: erasures.jsonl under DATA_DIR.',
    }),
  ),
  BACKUPS_KEPT_DAYS: Count(
    30,
    'Days for which you keep backups: receipts of erasures say until when they hold what was erased.',
    RETENTION_DAYS,
  ),
  EVENTS_KEPT_DAYS: Count(90, 'Days for which the feed of events goes back; older events are deleted.', RETENTION_DAYS),
  WEBHOOK_CONCURRENCY: Count(
    4,
    'Deliveries to one webhook at a time, of one process; one more with each that is taken within 2 s, up to 32, half as many with one that is not, down to this again.',
    { maximum: 50 },
  ),
  WEBHOOK_ALLOW: Type.String({
    default: '',
    examples: ['hooks.internal, 10.1.0.0/16'],
    description:
      'Hosts, addresses and networks inside, comma-separated, that webhooks may be sent to besides public addresses; to these hosts and addresses also by http. A trial that captures mails at a loopback PUBLIC_URL may send to this machine without it.',
  }),
  SSO_ALLOW: Type.String({
    default: '',
    examples: ['keycloak.internal, 10.1.0.0/16'],
    description:
      'Hosts, addresses and networks inside, comma-separated, where identity providers may be besides at public addresses; at these hosts and addresses also by http.',
  }),
  GOOGLE_CLIENT_ID: Type.Optional(
    Type.String({
      examples: ['1234567890-abc.apps.googleusercontent.com'],
      description:
        'Client ID of the OAuth client that you have made at Google, by which everybody can link an account of Google and sign in with it, see docs/guides/google-and-microsoft.md. Unset: nobody can.',
    }),
  ),
  GOOGLE_CLIENT_SECRET: Type.Optional(Type.String({ description: 'Its client secret. Required with GOOGLE_CLIENT_ID.' })),
  MICROSOFT_CLIENT_ID: Type.Optional(
    Type.String({
      examples: ['11111111-2222-3333-4444-555555555555'],
      description:
        'Application (client) ID of the app registration that you have made at Microsoft, by which everybody can link an account of Microsoft and sign in with it. Unset: nobody can.',
    }),
  ),
  MICROSOFT_CLIENT_SECRET: Type.Optional(
    Type.String({ description: 'The value of its client secret. Required with MICROSOFT_CLIENT_ID.' }),
  ),
  MICROSOFT_ISSUER: Type.String({
    default: 'https://login.microsoftonline.com/common/v2.0',
    pattern: '^https?://',
    description:
      "Which accounts of Microsoft: with common in it those of companies, schools and persons; with organizations those of companies and schools; with a tenant's id that tenant's.",
  }),
  HIBP_URL: Type.Optional(
    Url(
      'https?',
      'https://api.pwnedpasswords.com/range/',
      'Where new passwords are looked up among those that have leaked elsewhere, by the first five digits of their SHA-1 (Have I Been Pwned, or a mirror). Unset: only the list that comes with the service is looked at.',
    ),
  ),
  ATS_GREENHOUSE: Type.Optional(
    StringEnum(['on'], {
      description:
        'on: connections to Greenhouse, once Greenhouse has accepted you as a partner, see docs/ats.md. Unset: there are none.',
    }),
  ),
  ATS_ASHBY: Type.Optional(
    Url(
      'https?',
      'https://api.ashbyhq.com',
      "Address of Ashby's API, once Ashby has accepted you as a partner. Unset: there are no connections to Ashby.",
    ),
  ),
  ATS_RECRUITEE: Type.Optional(
    Url(
      'https?',
      'https://integrations.recruitee.com/api/p/your-codename',
      "Address of Recruitee's partner API with your codename, once Recruitee has promoted you. Unset: there are no connections to Recruitee.",
    ),
  ),
  ATS_RECRUITEE_SECRET: Type.Optional(
    Type.String({ description: 'The partner secret that Recruitee made for you. Required with ATS_RECRUITEE.' }),
  ),
  ATS_CALLBACK_HOSTS: Type.String({
    default: '',
    examples: ['app.eu.greenhouse.example'],
    description:
      "Hosts besides the systems' own domains, comma-separated, that orders may have reports sent to: what is sent carries a key.",
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    description: 'Whose X-Forwarded-* headers to believe: true, false, or addresses and networks, comma-separated.',
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      examples: [9464],
      description: 'TCP port of /metrics, a listener of its own. Unset: there is none.',
    }),
  ),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that listener listens on; by docker-compose.yml all, within its networks, whatever this is.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Url(
      'https?',
      'http://127.0.0.1:4318',
      'Collector that traces are sent to, by OTLP over HTTP with JSON, below /v1/traces. Unset: nothing is traced.',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'Share of the traces that are sent, from 0 to 1.',
  }),
  LOG_LEVEL: StringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe log lines to write.',
  }),
  INIT_ORG_NAME: Type.Optional(
    Type.String({ description: 'Organization to create at the start, where there is none of that name.' }),
  ),
  INIT_API_KEY_NAME: Type.Optional(
    Type.String({ description: 'Live key to make for it, where it has none of that name; printed once, on standard output.' }),
  ),
  INIT_ADMIN_EMAIL: Type.Optional(
    Type.String({
      description: 'Address to invite to the portal as its admin, by mail, where it has no member of that address.',
    }),
  ),
})
