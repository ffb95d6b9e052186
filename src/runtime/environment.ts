import { Type } from '@sinclair/typebox'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS } from '../domain/limits.ts'
import { StringEnum } from '../http/schema/field-types.ts'
import { TRANSCRIPTION_FORMATS } from '../media/transcription-answer.ts'

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
  'TRANSCRIBE_KEY',
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
      'Public URL of the service, without a path. It begins the links in mails. Default: http://localhost:PORT.',
    ),
  ),
  PUBLIC_HOSTS: Type.String({
    default: '',
    examples: ['api.example.com, 192.0.2.1'],
    description:
      'Further public hosts, comma-separated. URLs in API responses use the host of the request if it is one of these, otherwise PUBLIC_URL.',
  }),
  ROLE: StringEnum(['all', 'api', 'worker'], {
    default: 'all',
    description: 'Work of this process. api: answers requests. worker: sends mails and webhooks, and cleans up. all: both.',
  }),
  DATABASE_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@db.example.com:5432/assessments',
      'PostgreSQL database (15 or newer). The password can also be set as PGPASSWORD. Unset: an embedded database under DATA_DIR.',
    ),
  ),
  DATABASE_POOLER: Type.Optional(
    StringEnum(['transaction'], {
      description: 'transaction: DATABASE_URL is a pooler such as PgBouncer in transaction mode. Unset: it is PostgreSQL itself.',
    }),
  ),
  DATABASE_DIRECT_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@db.example.com:5432/assessments',
      'The same database and user without the pooler, for migrations, notifications, and the job queue. Required with DATABASE_POOLER.',
    ),
  ),
  DATABASE_STATEMENTS: Type.Optional(
    StringEnum(['named', 'unnamed'], {
      description:
        "named: uses prepared statements, which halves PostgreSQL's work. Default: named, but unnamed with DATABASE_POOLER. PgBouncer supports them from 1.21 on, with max_prepared_statements of 500 or more.",
    }),
  ),
  DATABASE_READ_URL: Type.Optional(
    Url(
      'postgres(ql)?',
      'postgresql://user:password@replica.example.com:5432/assessments',
      'Streaming replicas, comma-separated. The lists of both interfaces are read from the first one that is reachable and up to date. Unset: they are read from the database itself.',
    ),
  ),
  DATABASE_POOL_SIZE: Count(10, 'Database connections per process. The job queue and notifications use six more.', {
    minimum: 2,
    maximum: 500,
  }),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Folder for the embedded database and its secret, and for photos and recordings.',
  }),
  SECRET_KEY: Type.Optional(
    Type.String({
      description: `Signs candidates' links and encrypts stored secrets: at least ${MIN_SECRET_LENGTH} random characters. To rotate it, set several, comma-separated, newest first. Required with DATABASE_URL.`,
    }),
  ),
  SMTP_URL: Type.Optional(
    Url(
      'smtps?',
      'smtp://user:password@mail.example.com:587',
      'Mail server. Required with DATABASE_URL, and with a public PUBLIC_URL, unless MAIL is set. Unset: mails are captured.',
    ),
  ),
  MAIL_FROM: Type.Optional(
    Type.String({
      examples: ['Assessments <assessments@example.com>'],
      description: 'Sender of mails, and recipient of bounces. Required with SMTP_URL.',
    }),
  ),
  MAIL: Type.Optional(
    StringEnum(['capture', 'mailbox'], {
      description:
        'capture: stores mails instead of sending them, even with SMTP_URL; `npm run cli -- mail show` prints them. mailbox: also shows them at /dev/mailbox to this machine, through the link that the start prints; needs a loopback PUBLIC_URL and no SMTP_URL. Default with the embedded database: mailbox.',
    }),
  ),
  MAIL_BOUNCE_DOMAIN: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$',
      examples: ['bounces.example.com'],
      description:
        'Domain of the return addresses, one per mail, that receive bounces. Its mail server sends them to /mail-events/dsn, or the service fetches them from BOUNCE_IMAP_URL. Unset: bounces go to MAIL_FROM.',
    }),
  ),
  BOUNCE_IMAP_URL: Type.Optional(
    Url(
      'imaps?',
      'imaps://user:password@mail.example.com/INBOX',
      'Mailbox for bounces to MAIL_BOUNCE_DOMAIN, with the folder to read each minute (default: INBOX). imap: uses STARTTLS before the login. Unset: none.',
    ),
  ),
  MAIL_EVENTS: Type.String({
    default: '',
    examples: ['ses:arn:aws:sns:eu-central-1:123456789012:mail, postmark:a-long-secret'],
    description:
      "Mail providers that report bounces and complaints to /mail-events, comma-separated: ses:<SNS topic> or postmark:<password in the webhook's URL>. Unset: none.",
  }),
  SMTP_SECURITY: StringEnum(['required', 'opportunistic'], {
    default: 'required',
    description:
      "With a user in SMTP_URL. required: fails without encryption and login. opportunistic: sends without them if the server doesn't offer them, which exposes the password on the network.",
  }),
  SMTP_CONNECTIONS: Count(
    10,
    'Maximum number of concurrent SMTP connections per process. The service uses fewer if the mail server asks for it.',
    {
      maximum: 100,
    },
  ),
  SMTP_RATE: Count(0, 'Maximum number of mails per minute and process; 0: no limit.', {
    minimum: 0,
  }),
  MAILS_PER_RECIPIENT: Count(
    20,
    'Maximum number of invitations from an organization to one address within 24 hours. Further ones wait. 0: no limit.',
    { minimum: 0 },
  ),
  MAILS_PER_ORGANIZATION: Count(
    5_000,
    'Maximum number of mails to candidates per organization within 24 hours. Further ones wait. `npm run cli -- org set-mail-limit` sets it for one organization. 0: no limit.',
    { minimum: 0, maximum: 1_000_000_000 },
  ),
  OPEN_LINK_MAILS_PER_HOUR: Count(
    200,
    'Mails that the open links of one organization send within an hour, besides its other mails; further ones wait their turn.',
    { maximum: 100_000 },
  ),
  OPEN_LINK_MAILS_PER_DAY: Count(1_000, 'The same within 24 hours. Further ones wait, and end after two days.', {
    maximum: 1_000_000,
  }),
  TEST_MAIL: StringEnum(['capture', 'deliver'], {
    default: 'capture',
    description: 'Mails of invites created with a test key. capture: stored only. deliver: sent.',
  }),
  PLAYER_URL: Type.Optional(
    Url(
      'https?',
      'https://player.example.com/start',
      'URL of an external player. Start sends the candidate there with ?session=<reference>. Unset: the service shows the questions.',
    ),
  ),
  MCP: StringEnum(['off', 'on'], {
    default: 'off',
    description: 'Endpoint /mcp, by which assistants read with an API key (Model Context Protocol).',
  }),
  WEBCAM: StringEnum(['stills', 'video'], {
    default: 'stills',
    description: 'Webcam recording for invites that require it. stills: a picture now and then. video: a video.',
  }),
  RATE_LIMIT_STANDARD: Count(100, 'Requests per minute for an organization of the standard tier.'),
  RATE_LIMIT_ENTERPRISE: Count(1000, 'Requests per minute for an organization of the enterprise tier.'),
  RATE_LIMIT_UNKNOWN_KEYS: Count(
    1000,
    'Requests per minute with unknown API keys from one network (an IPv4 address or an IPv6 /64). Further ones get a 429.',
  ),
  RATE_LIMIT_CANDIDATE_LINK: Count(60, 'Page loads per minute for one candidate link. Further ones get a 429.'),
  RATE_LIMIT_CANDIDATE_NETWORK: Count(
    600,
    'Page loads per minute for all candidate links from one network (an IPv4 address or an IPv6 /64). Further ones get a 429. Raise it for a test center with many seats.',
  ),
  REDIS_URL: Type.Optional(
    Url(
      'rediss?',
      'redis://:password@valkey.example.com:6379',
      'Redis or Valkey server for rate limits shared by all processes. Unset: each process counts its own requests.',
    ),
  ),
  MAX_REQUEST_WAIT: Count(
    1000,
    'Milliseconds. Load shedding: while 100 requests have each waited this long, new ones get a 503.',
  ),
  STOP_NOTICE: Count(
    1,
    'Seconds after SIGTERM during which requests are still answered while /readyz fails. Set it longer than your load balancer takes to notice. Stopping takes up to 8 s more.',
    { minimum: 0, maximum: 300 },
  ),
  ALTERNATE_PREFIX: Type.String({
    default: '/api/alternate',
    pattern: '^(/[A-Za-z0-9_-]+)+$',
    description: 'Path prefix of the snake_case interface.',
  }),
  ALTERNATE_EXPIRES_IN_DAYS: Count(
    DEFAULT_EXPIRES_IN_DAYS,
    'Days until an invite that was created through the snake_case interface expires.',
    EXPIRY_DAYS,
  ),
  ALTERNATE_GRADER_REQUIRED: Type.Boolean({
    default: false,
    description: 'true: the snake_case interface rejects assigned_grader: null.',
  }),
  MEDIA_URL: Type.Optional(
    Url(
      's3',
      's3://bucket/prefix?region=eu-central-1',
      'Storage for photos and recordings: an S3 bucket, or with endpoint=… one of a compatible service. Credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Unset: the folder media under DATA_DIR.',
    ),
  ),
  MEDIA_QUOTA: Count(
    50_000_000_000,
    'Maximum number of bytes that an organization may store: photos, recordings, and files of questions.',
  ),
  JOINERS: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 64,
      examples: ['2'],
      description:
        'Number of recordings joined concurrently, each in a process of its own of up to 200 MB. Default: the number of processors less one, at least 1.',
    }),
  ),
  FILE_SCAN_URL: Type.Optional(
    Type.String({
      pattern: '^tcp://[^/]+:[0-9]+$',
      examples: ['tcp://clamav:3310'],
      description:
        "ClamAV's clamd, which scans the files that candidates send as answers. A file is given out only after its scan. Set its StreamMaxLength to at least 100M. Unset: files are not scanned.",
    }),
  ),
  TRANSCRIBE_URL: Type.Optional(
    Url(
      'https?',
      'http://whisper:8000/v1/audio/transcriptions',
      "Speech recognition for recorded answers: the endpoint of a server with OpenAI's audio/transcriptions. Nothing is sent before an admin of the organization and the candidate agree. See docs/guides/transcripts.md. Unset: no transcripts.",
    ),
  ),
  TRANSCRIBE_KEY: Type.Optional(Type.String({ description: 'API key of that server, sent as a bearer token. Unset: none.' })),
  TRANSCRIBE_MODEL: Type.String({ default: 'whisper-1', description: 'Model of that server.' }),
  TRANSCRIBE_FORMAT: StringEnum(TRANSCRIPTION_FORMATS, {
    default: 'verbose_json',
    description:
      'Format of its answers. vtt: without marks of uncertain words. json: also without times, so without captions. `doctor` says which formats it has.',
  }),
  TRANSCRIBE_FIELDS: Type.String({
    default: '',
    examples: ['vad_filter=true&hotwords=escrow'],
    description: 'Further form fields of each request, written as in the query of a URL.',
  }),
  TRANSCRIBE_MAX_MEGABYTES: Count(
    25,
    'Largest recording that is sent. 25 is the limit of OpenAI, and about 100 minutes of sound.',
    {
      maximum: 1_000,
    },
  ),
  TRANSCRIBERS: Count(1, 'Number of recordings sent at a time.', { maximum: 64 }),
  ID_PHOTO_KEPT_DAYS: Count(
    30,
    'Days to keep photos of faces and IDs after the release of the result. Without a release they are kept as long as answers.',
    RETENTION_DAYS,
  ),
  PROCTORING_KEPT_DAYS: Count(
    90,
    'Days to keep pictures and recordings of webcam and screen after the submission.',
    RETENTION_DAYS,
  ),
  ANSWERS_KEPT_DAYS: Count(365, 'Days to keep recorded answers after the submission.', RETENTION_DAYS),
  ERASURE_LOG: Type.Optional(
    Type.String({
      examples: ['/var/lib/assessments/erasures.jsonl'],
      description:
        'File that logs each erasure of a candidate, member, or organization, without names, so that it can be repeated on a restored backup. Store it apart from the database and its backups. All worker processes share it. Default: erasures.jsonl under DATA_DIR.',
    }),
  ),
  BACKUPS_KEPT_DAYS: Count(
    30,
    'Days for which you keep backups. Receipts of erasures name the day when the last backup with the erased data is deleted.',
    RETENTION_DAYS,
  ),
  EVENTS_KEPT_DAYS: Count(90, 'Days to keep events in the feed.', RETENTION_DAYS),
  WEBHOOK_CONCURRENCY: Count(
    4,
    'Initial number of concurrent deliveries to one webhook per process. It rises by one with each success within 2 s, up to 32, and is halved by each failure, down to this number.',
    { maximum: 50 },
  ),
  WEBHOOK_ALLOW: Type.String({
    default: '',
    examples: ['hooks.internal, 10.1.0.0/16'],
    description:
      'Internal hosts, addresses, and networks, comma-separated, that may receive webhooks, also over http. Public addresses are always allowed. A trial with captured mails and a loopback PUBLIC_URL may also send to this machine.',
  }),
  SSO_ALLOW: Type.String({
    default: '',
    examples: ['keycloak.internal, 10.1.0.0/16'],
    description:
      'Internal hosts, addresses, and networks, comma-separated, of identity providers, also over http. Public addresses are always allowed.',
  }),
  GOOGLE_CLIENT_ID: Type.Optional(
    Type.String({
      examples: ['1234567890-abc.apps.googleusercontent.com'],
      description:
        "Client ID of your OAuth client at Google, so that members can sign in with Google accounts. See docs/guides/google-and-microsoft.md. Unset: they can't.",
    }),
  ),
  GOOGLE_CLIENT_SECRET: Type.Optional(
    Type.String({ description: 'Client secret of your OAuth client at Google. Required with GOOGLE_CLIENT_ID.' }),
  ),
  MICROSOFT_CLIENT_ID: Type.Optional(
    Type.String({
      examples: ['11111111-2222-3333-4444-555555555555'],
      description:
        "Application (client) ID of your app registration at Microsoft, so that members can sign in with Microsoft accounts. Unset: they can't.",
    }),
  ),
  MICROSOFT_CLIENT_SECRET: Type.Optional(
    Type.String({ description: "Value of the app registration's client secret. Required with MICROSOFT_CLIENT_ID." }),
  ),
  MICROSOFT_ISSUER: Type.String({
    default: 'https://login.microsoftonline.com/common/v2.0',
    pattern: '^https?://',
    description:
      "Accepted Microsoft accounts. common: of companies, schools, and persons. organizations: of companies and schools. A tenant's ID: of that tenant.",
  }),
  HIBP_URL: Type.Optional(
    Url(
      'https?',
      'https://api.pwnedpasswords.com/range/',
      'Have I Been Pwned, or a mirror of it, to reject leaked passwords. It receives the first five digits of the SHA-1 only. Unset: only the built-in list of common passwords is used.',
    ),
  ),
  ATS_GREENHOUSE: Type.Optional(
    StringEnum(['on'], {
      description: 'on: offers connections to Greenhouse, once Greenhouse has accepted you as a partner. See docs/ats.md.',
    }),
  ),
  ATS_ASHBY: Type.Optional(
    Url(
      'https?',
      'https://api.ashbyhq.com',
      "URL of Ashby's API, once Ashby has accepted you as a partner. Unset: connections to Ashby are not offered.",
    ),
  ),
  ATS_RECRUITEE: Type.Optional(
    Url(
      'https?',
      'https://integrations.recruitee.com/api/p/your-codename',
      "URL of Recruitee's partner API with your codename, once Recruitee has accepted you as a partner. Unset: connections to Recruitee are not offered.",
    ),
  ),
  ATS_RECRUITEE_SECRET: Type.Optional(
    Type.String({ description: 'Your partner secret from Recruitee. Required with ATS_RECRUITEE.' }),
  ),
  ATS_CALLBACK_HOSTS: Type.String({
    default: '',
    examples: ['app.eu.greenhouse.example'],
    description:
      "Further hosts, comma-separated, that may receive status reports. Reports carry a key, so only the systems' own domains are allowed by default.",
  }),
  TRUST_PROXY: Type.String({
    default: 'false',
    description:
      'Proxies whose X-Forwarded-* headers are trusted: true, false, or addresses and networks, comma-separated; `loopback`, `linklocal`, and `uniquelocal` stand for the networks of these kinds.',
  }),
  METRICS_PORT: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      examples: [9464],
      description: 'TCP port of a separate listener for /metrics. Unset: no metrics.',
    }),
  ),
  METRICS_HOST: Type.String({
    default: '127.0.0.1',
    description: 'Address that the metrics listener listens on. docker-compose.yml sets 0.0.0.0 within its networks.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Url(
      'https?',
      'http://127.0.0.1:4318',
      'Collector for traces (OTLP over HTTP with JSON, path /v1/traces). Unset: no tracing.',
    ),
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'Share of traces to send, from 0 to 1.',
  }),
  LOG_LEVEL: StringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least severe log lines to write.',
  }),
  INIT_ORG_NAME: Type.Optional(Type.String({ description: 'Organization to create at the start, unless it exists.' })),
  INIT_API_KEY_NAME: Type.Optional(
    Type.String({
      description:
        'Name of a live API key to create for INIT_ORG_NAME, unless it exists. The key is printed once, to standard output.',
    }),
  ),
  INIT_ADMIN_EMAIL: Type.Optional(
    Type.String({
      description: "Email address of an admin to invite to INIT_ORG_NAME, unless it is a member's.",
    }),
  ),
})
