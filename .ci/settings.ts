// node .ci/settings.ts: writes docs/operating/settings.md and .env.example from the settings of src/runtime/environment.ts, and from the variables
// that only docker-compose.yml or a client library reads.
import { writeFile } from 'node:fs/promises'
import { type TSchema, Type } from '@sinclair/typebox'
import { Environment, SECRETS } from '../src/runtime/environment.ts'

/** Variables that only docker-compose.yml reads. */
export const ComposeVariables = Type.Object({
  POSTGRES_PASSWORD: Type.String({
    description:
      "The database's password; in single quotes if there is a # or $ in it. Required. To change it after the first start, see docs/operating/compose.md.",
  }),
  SITE: Type.String({
    default: '',
    examples: ['assessments.example.com'],
    description:
      'Name under which Caddy serves the service by HTTPS, with COMPOSE_PROFILES=https; PUBLIC_URL and TRUST_PROXY follow.',
  }),
  COMPOSE_PROFILES: Type.String({
    default: '',
    examples: ['https,shared-limits'],
    description: 'What runs besides, comma-separated: https (Caddy, see SITE), shared-limits (Valkey, see REDIS_URL).',
  }),
})

/** Variables that the PostgreSQL and S3 clients read themselves. */
export const ClientVariables = Type.Object({
  PGPASSWORD: Type.String({ description: "The database's password, where DATABASE_URL has none. Not for docker-compose.yml." }),
  AWS_ACCESS_KEY_ID: Type.String({ description: 'Access key of the bucket of MEDIA_URL.' }),
  AWS_SECRET_ACCESS_KEY: Type.String({ description: 'Its secret.' }),
})

/** Sections of the page and of .env.example. The first has the ten settings that an installation needs most. */
const SECTIONS: Record<string, string[]> = {
  'You need these': [
    'PUBLIC_URL',
    'DATABASE_URL',
    'SECRET_KEY',
    'SMTP_URL',
    'MAIL_FROM',
    'INIT_ORG_NAME',
    'INIT_ADMIN_EMAIL',
    'INIT_API_KEY_NAME',
    'TRUST_PROXY',
    'DATA_DIR',
  ],
  'Docker Compose': Object.keys(ComposeVariables.properties),
  Processes: ['PORT', 'HOST', 'PUBLIC_HOSTS', 'ROLE', 'STOP_NOTICE', 'MAX_REQUEST_WAIT'],
  Database: [
    'PGPASSWORD',
    'DATABASE_POOL_SIZE',
    'DATABASE_READ_URL',
    'DATABASE_POOLER',
    'DATABASE_DIRECT_URL',
    'DATABASE_STATEMENTS',
  ],
  Mail: [
    'MAIL',
    'TEST_MAIL',
    'SMTP_SECURITY',
    'SMTP_CONNECTIONS',
    'SMTP_RATE',
    'MAIL_BOUNCE_DOMAIN',
    'BOUNCE_IMAP_URL',
    'MAIL_EVENTS',
    'MAILS_PER_RECIPIENT',
    'MAILS_PER_ORGANIZATION',
    'OPEN_LINK_MAILS_PER_HOUR',
    'OPEN_LINK_MAILS_PER_DAY',
  ],
  'Photos and recordings': [
    'MEDIA_URL',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'MEDIA_QUOTA',
    'JOINERS',
    'WEBCAM',
    'PLAYER_URL',
    'MCP',
  ],
  Transcripts: [
    'FILE_SCAN_URL',
    'TRANSCRIBE_URL',
    'TRANSCRIBE_KEY',
    'TRANSCRIBE_MODEL',
    'TRANSCRIBE_FORMAT',
    'TRANSCRIBE_FIELDS',
    'TRANSCRIBE_MAX_MEGABYTES',
    'TRANSCRIBERS',
  ],
  Retention: [
    'ID_PHOTO_KEPT_DAYS',
    'PROCTORING_KEPT_DAYS',
    'ANSWERS_KEPT_DAYS',
    'EVENTS_KEPT_DAYS',
    'BACKUPS_KEPT_DAYS',
    'ERASURE_LOG',
  ],
  'Rate limits': [
    'RATE_LIMIT_STANDARD',
    'RATE_LIMIT_ENTERPRISE',
    'RATE_LIMIT_UNKNOWN_KEYS',
    'RATE_LIMIT_CANDIDATE_LINK',
    'RATE_LIMIT_CANDIDATE_NETWORK',
    'REDIS_URL',
  ],
  Webhooks: ['WEBHOOK_CONCURRENCY', 'WEBHOOK_ALLOW'],
  'Sign-in': [
    'SSO_ALLOW',
    'GOOGLE_CLIENT_ID',
    'GOOGLE_CLIENT_SECRET',
    'MICROSOFT_CLIENT_ID',
    'MICROSOFT_CLIENT_SECRET',
    'MICROSOFT_ISSUER',
    'HIBP_URL',
  ],
  Interfaces: [
    'ALTERNATE_PREFIX',
    'ALTERNATE_EXPIRES_IN_DAYS',
    'ALTERNATE_GRADER_REQUIRED',
    'ATS_GREENHOUSE',
    'ATS_ASHBY',
    'ATS_RECRUITEE',
    'ATS_RECRUITEE_SECRET',
    'ATS_CALLBACK_HOSTS',
  ],
  Monitoring: ['METRICS_PORT', 'METRICS_HOST', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG', 'LOG_LEVEL'],
}

const variables: Record<string, TSchema> = {
  ...Environment.properties,
  ...ClientVariables.properties,
  ...ComposeVariables.properties,
}

/** @throws Error if a variable is in no section, or in two. */
function readSections(): [title: string, variables: [name: string, schema: TSchema][]][] {
  const names = Object.values(SECTIONS).flat()
  const wrong = Object.keys(variables).filter((name) => names.filter((other) => other === name).length !== 1)
  if (wrong.length > 0) throw new Error(`Not in exactly one section of .ci/settings.ts: ${wrong.join(', ')}`)
  return Object.entries(SECTIONS).map(([title, list]) => [title, list.map((name) => [name, variables[name]!])])
}

const code = (name: string): string => `\`${name}\``

const values = ({ enum: words, default: preset, examples }: TSchema) =>
  [
    words?.map((word: string) => `\`${word}\``).join(', '),
    preset !== undefined && `default \`${preset}\``,
    examples && `e.g. \`${examples[0]}\``,
  ]
    .filter(Boolean)
    .join('; ')

/** Text of docs/operating/settings.md. */
export function settingsPage(): string {
  const rows = readSections().flatMap(([title, list]) => [
    `| **${title}** | | |`,
    ...list.map(([name, schema]) => `| \`${name}\` | ${values(schema)} | ${schema.description} |`),
  ])
  const secrets = `${SECRETS.slice(0, -1).map(code).join(', ')}, and ${code(SECRETS.at(-1)!)}`
  return `# Settings

Environment variables, or lines of a file \`.env\` in the service's folder. Start from [.env.example](../../.env.example). At the start all mistakes are
reported at once, one log line each, and the process exits with code 78.

Secrets can also be files: ${code(`${SECRETS[0]}_FILE`)} and so on hold a path, and the file has precedence. This goes for ${secrets}.

| variable | values | meaning |
|---|---|---|
${rows.join('\n')}

## Check

\`npm run cli -- doctor\` names wrong and misspelled settings, and what each of them leads to. *Run here.* \`npm run settings\` writes this page.
`
}

/** Text of .env.example. */
export function settingsExample(): string {
  return [
    '# Copy to .env, and uncomment what should differ from its default, which follows the name.\n',
    ...readSections().flatMap(([title, list]) => [`# ===== ${title} =====\n`, ...list.map(describe)]),
  ].join('\n')
}

function describe([name, schema]: [string, TSchema]): string {
  const { description, enum: words, default: preset = '', examples } = schema
  const hint = words ? ` One of ${words.join(', ')}.` : examples ? ` E.g. ${examples[0]}` : ''
  return `# ${description}${hint}\n# ${name}=${preset}\n`
}

if (import.meta.main) {
  await writeFile('docs/operating/settings.md', settingsPage())
  await writeFile('.env.example', settingsExample())
}
